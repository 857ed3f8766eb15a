"""Models as text and as values for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from directrix._printing import text_table
from directrix.estimators.evaluation import metric_of
from directrix.rows.classes import positive_of

#: Coefficients that are listed, the largest first; the model file has all.
_LISTED_COEFFICIENTS = 20


def feature_names_of(model: Any) -> list[str]:
    """Return the names of the features, or x0, x1, ... if they have none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{index}" for index in range(int(model.n_features_in_))]
    return [str(name) for name in names]


def model_values(model: Any) -> dict[str, Any]:
    """Return a model for JSON; entries have the names of the attributes in Python."""
    values = {
        "classifier": type(model).__name__,
        "metric": str(metric_of(model, "error")),
        "classes": model.classes_,
        "positive": positive_of(model),
        "features": feature_names_of(model),
    }
    for name in ("coef", "intercept", "operating_point", "report"):
        value = getattr(model, f"{name}_", None)
        if value is not None:
            values[name] = value
    return values


def describe_model(model: Any) -> str:
    """Return what a model is for, and its operating point, as text."""
    positive, classes = positive_of(model), ", ".join(map(str, model.classes_.tolist()))
    title = f"{type(model).__name__} of the classes {classes}; positive is {positive}"
    if hasattr(model, "card_"):
        side = "above" if model.card_.higher_is_positive else "below"
        title += f", {side} {model.card_.cutoff:g} points"
    point = getattr(model, "operating_point_", None)
    return title if point is None else f"{title}\n\n{point}"


def describe_terms(model: Any) -> str:
    """Return the card of a model, or its coefficients; an empty text if it has neither."""
    if hasattr(model, "card_"):
        return str(model.card_)
    return _coefficient_table(model) if hasattr(model, "coef_") else ""


def _coefficient_table(model: Any) -> str:
    """Return the coefficients, ranked by what a standard deviation of the feature does."""
    names, coef = feature_names_of(model), model.coef_[0]
    effect = coef * model.feature_scales_
    order = np.argsort(-np.abs(effect), kind="stable")[:_LISTED_COEFFICIENTS]
    table = [["feature", "coefficient", "per standard deviation"]]
    table += [[names[k], f"{coef[k]:.6g}", f"{effect[k]:.6g}"] for k in order]
    left_out = len(names) - _LISTED_COEFFICIENTS
    if left_out > 0:
        table.append([f"and {left_out} more, smaller", "", ""])
    table.append(["intercept", f"{model.intercept_[0]:.6g}", ""])
    return "\n".join(text_table(table))
