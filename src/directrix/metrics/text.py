"""Metrics written down as text: for command lines, and for settings that are kept as JSON."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from directrix.metrics.base import Metric


def written(metric: Metric) -> str:
    """Return the call that makes a metric."""
    names = getattr(metric, "__dataclass_fields__", {})
    values = {name: _plain(getattr(metric, name)) for name in names}
    given = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{type(metric).__name__}({given})"


def read(text: str, kinds: Mapping[str, type[Metric]]) -> Metric | None:
    """Return the metric of a text; None if it is not one. Nothing is executed.

    Either a call, ``cost(fp=1, fn=20)`` or ``Cost(1, 20)``, or, of metrics at a point, the short
    ``recall@fpr=0.01`` for ``recall_at_fpr(fpr=0.01)``.
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
    kind = kinds.get(call.func.id)
    if kind is None:
        return None
    try:
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        values = [ast.literal_eval(value) for value in call.args]
    except ValueError:
        msg = f"the parameters of {text!r} must be numbers, as in 'recall@fpr=0.01'"
        raise ValueError(msg) from None
    try:
        return kind(*values, **given)
    except TypeError:
        known = ", ".join(getattr(kind, "__dataclass_fields__", {}))
        msg = f"{text!r} must give {known or 'no parameters'}, as in 'recall@fpr=0.01'"
        raise ValueError(msg) from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
