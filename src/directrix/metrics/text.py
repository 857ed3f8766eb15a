"""Metrics as text, for command lines and for settings that are stored as JSON."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from directrix.metrics.base import Metric


def written(metric: Metric) -> str:
    """Return the constructor call of a metric."""
    names = getattr(metric, "__dataclass_fields__", {})
    values = {name: _plain(getattr(metric, name)) for name in names}
    given = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{type(metric).__name__}({given})"


def read(text: str, classes: Mapping[str, type[Metric]]) -> Metric | None:
    """Parse a metric without executing anything; return None if the text is not one.

    The text is a call, ``cost(fp=1, fn=20)`` or ``Cost(1, 20)``; for metrics at an operating point
    ``recall@fpr=0.01`` is short for ``recall_at_fpr(fpr=0.01)``.

    Parameters
    ----------
    text : str
    classes : mapping of str to class
        Metrics by the names that a call may use.
    """
    name, at, rest = text.partition("@")
    if at:
        point = rest.partition("=")[0].strip()
        text = f"{name.strip()}_at_{point}({rest})"
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    metric_class = classes.get(call.func.id)
    if metric_class is None:
        return None
    try:
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        values = [ast.literal_eval(value) for value in call.args]
    except ValueError:
        msg = f"the parameters of {text!r} must be numbers, as in 'recall@fpr=0.01'"
        raise ValueError(msg) from None
    try:
        return metric_class(*values, **given)
    except TypeError:
        known = ", ".join(getattr(metric_class, "__dataclass_fields__", {}))
        msg = f"{text!r} must give {known or 'no parameters'}, as in 'recall@fpr=0.01'"
        raise ValueError(msg) from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
