"""Metrics written down as text, for settings that are kept as JSON."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from directrix import metrics
from directrix.metrics import Metric, resolve


def metric_text(metric: Any) -> str:
    """Return the text of a metric, which `metric_of_text` reads; a name stands for itself.

    Examples
    --------
    >>> from directrix.metrics import RecallAtFPR
    >>> metric_text(RecallAtFPR(0.01))
    'RecallAtFPR(fpr=0.01)'
    """
    if isinstance(metric, str):
        metric_of_text(metric)  # says what is wrong with it
        return metric
    if not isinstance(metric, Metric):
        msg = f"a metric is a name or one of directrix.metrics, not {type(metric).__name__}"
        raise TypeError(msg)
    names = getattr(metric, "__dataclass_fields__", {})
    values = {name: _plain(getattr(metric, name)) for name in names}
    given = ", ".join(f"{name}={value!r}" for name, value in values.items())
    text = f"{type(metric).__name__}({given})"
    if not _is_text_of(text, metric):
        msg = (
            f"{metric!r} cannot be written down as text, so it could not be saved: give a metric "
            "of directrix.metrics whose parameters are numbers"
        )
        raise ValueError(msg)
    return text


def metric_of_text(text: str) -> Metric:
    """Return the metric that a text of `metric_text` stands for, or a name; nothing is executed."""
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        call = None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return resolve(text)
    kind = getattr(metrics, call.func.id, None)
    if not (isinstance(kind, type) and issubclass(kind, Metric)):
        return resolve(text)
    parameters = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    return kind(*map(ast.literal_eval, call.args), **parameters)


def _is_text_of(text: str, metric: Metric) -> bool:
    try:
        return metric_of_text(text) == metric
    except (TypeError, ValueError):
        return False


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
