"""Models and operating points in words and in numbers, for replies and for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from directrix.classifiers.fitting.intervals import Rates
from directrix.classifiers.fitting.operating_point import OperatingPoint
from directrix.cli.output.reply import aligned
from directrix.metrics import Metric, resolve

_NAMES = {"tpr": "recall", "fpr": "FPR", "precision": "precision", "metric": "metric"}
#: Coefficients that are shown; a file has all.
_SHOWN = 20


def metric_of_model(model: Any) -> Metric:
    """Return what a model was trained for; one without a metric of its own counts errors."""
    return resolve(getattr(model, "metric", "error"))


def in_one_line(metric: Metric) -> str:
    """Return a metric in words."""
    return metric.label


def names_of(model: Any) -> list[str]:
    """Return the names of the features, or their numbers."""
    given = getattr(model, "feature_names_in_", None)
    n_features = int(model.n_features_in_)
    return [f"x{k}" for k in range(n_features)] if given is None else [str(own) for own in given]


def points_of(model: Any) -> list[OperatingPoint]:
    """Return the operating points: one, one for each of several classes, or none."""
    return list(getattr(model, "operating_points_", ()))


def point_facts(point: OperatingPoint) -> dict[str, Any]:
    """Return an operating point in numbers."""
    facts: dict[str, Any] = {"threshold": point.threshold, "rows": point.rows}
    facts["predicted"] = point.predicted._asdict()
    facts["measured"] = None if point.empirical is None else point.empirical._asdict()
    facts["expected"] = None if point.expected is None else point.expected._asdict()
    facts["intervals"] = None if point.intervals is None else point.intervals._asdict()
    return facts


def point_table(point: OperatingPoint) -> str:
    """Return an operating point as a table."""
    head = ["", "from the moments"]
    measured, expected, intervals = point.empirical, point.expected, point.intervals
    if measured is not None:
        head += [f"on {point.rows or 'rows'}"]
    if expected is not None:
        head += ["expected on new rows", "95 % interval"]
    lines = []
    for name in Rates._fields:
        called = in_one_line(point.metric) if name == "metric" else _NAMES[name]
        line = [called, number(getattr(point.predicted, name))]
        if measured is not None:
            line.append(number(getattr(measured, name)))
        if expected is not None:
            line.append(number(getattr(expected, name)))
            line.append("" if intervals is None else between(getattr(intervals, name)))
        lines.append(line)
    return aligned(head, lines)


def cut_in_words(point: OperatingPoint) -> str:
    """Say where a model cuts; its intercept holds the threshold."""
    return f"flagged where coefficients · features > {point.threshold:.6g}, so where score > 0"


def model_facts(model: Any) -> dict[str, Any]:
    """Return a model in numbers."""
    facts: dict[str, Any] = {
        "classifier": type(model).__name__,
        "metric": str(metric_of_model(model)),
        "classes": model.classes_,
        "features": names_of(model),
    }
    if hasattr(model, "coef_"):
        facts |= {"coefficients": model.coef_, "intercepts": model.intercept_}
    facts["operating_points"] = [point_facts(point) for point in points_of(model)]
    return facts


def model_words(model: Any) -> str:
    """Return a model in words: what it is for, where it cuts, and its largest coefficients."""
    metric = in_one_line(metric_of_model(model))
    classes = ", ".join(map(str, model.classes_.tolist()))
    lines = [f"{type(model).__name__} for {metric}; classes {classes}"]
    points = points_of(model)
    for label, point in zip(model.classes_[-len(points) :] if points else (), points, strict=True):
        against = f", class {label} against the others" if len(points) > 1 else ""
        lines += ["", f"operating point: {cut_in_words(point)}{against}"]
        lines.append(point_table(point))
    if hasattr(model, "coef_"):
        lines += ["", _coefficients(model)]
    else:
        lines += ["", f"a kernel expansion over {len(model.support_):,} rows"]
    return "\n".join(lines)


def number(value: float) -> str:
    """Return a rate with four digits; what is not known is left open."""
    return "" if np.isnan(value) else f"{value:.4f}"


def between(ends: Sequence[float]) -> str:
    """Return an interval."""
    return "" if np.isnan(ends[0]) else f"{ends[0]:.4f} to {ends[1]:.4f}"


def _coefficients(model: Any) -> str:
    names, coef = names_of(model), model.coef_
    order = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:_SHOWN]
    if len(coef) == 1:
        head = ["feature", "coefficient"]
    else:
        head = ["feature", *(f"class {label}" for label in model.classes_.tolist())]
    lines = [[names[k], *(f"{own:.6g}" for own in coef[:, k])] for k in order]
    if len(names) > _SHOWN:
        lines.append([f"and {len(names) - _SHOWN} more, smaller", *[""] * len(coef)])
    lines.append(["intercept", *(f"{own:.6g}" for own in model.intercept_)])
    return aligned(head, lines)
