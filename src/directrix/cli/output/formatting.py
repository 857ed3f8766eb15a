"""Models, operating points and rates as text and as JSON, for replies and for the report page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from directrix.classifiers import Card, OperatingPoint, Rates
from directrix.cli.output.reply import format_table
from directrix.metrics import Metric, resolve

_RATE_NAMES = {"tpr": "recall", "fpr": "FPR", "precision": "precision"}
#: Coefficients that are listed, the largest first; the model file has all.
_LISTED_COEFFICIENTS = 20


def metric_of_model(model: Any) -> Metric:
    """Return the metric that a model was trained for; the error rate if it has none."""
    return resolve(getattr(model, "metric", "error"))


def in_one_line(metric: Metric) -> str:
    """Return the name of a metric as people write it, on one line."""
    return metric.label


def feature_names_of(model: Any) -> list[str]:
    """Return the names of the features, or x0, x1, ... if they have none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{index}" for index in range(int(model.n_features_in_))]
    return [str(name) for name in names]


def operating_points_of(model: Any) -> Sequence[OperatingPoint]:
    """Return the operating points: one, one for each of several classes, or none."""
    points: Sequence[OperatingPoint] = getattr(model, "operating_points_", ())
    return points


def operating_point_json(point: OperatingPoint) -> dict[str, Any]:
    """Return an operating point for JSON."""
    empirical, expected, intervals = point.empirical, point.expected, point.intervals
    return {
        "threshold": point.threshold,
        "rows": point.rows,
        "predicted": point.predicted._asdict(),
        "measured": None if empirical is None else empirical._asdict(),
        "expected": None if expected is None else expected._asdict(),
        "intervals": None if intervals is None else intervals._asdict(),
    }


def operating_point_table(point: OperatingPoint) -> str:
    """Return the rates at an operating point as a table."""
    header = ["", "from the moments"]
    empirical, expected, intervals = point.empirical, point.expected, point.intervals
    if empirical is not None:
        header += [f"on {point.rows or 'rows'}"]
    if expected is not None:
        header += ["expected on new rows", "95 % interval"]
    table = []
    for field in Rates._fields:
        name = in_one_line(point.metric) if field == "metric" else _RATE_NAMES[field]
        line = [name, format_rate(getattr(point.predicted, field))]
        if empirical is not None:
            line.append(format_rate(getattr(empirical, field)))
        if expected is not None:
            line.append(format_rate(getattr(expected, field)))
            line.append("" if intervals is None else format_interval(getattr(intervals, field)))
        table.append(line)
    return format_table(header, table)


def describe_threshold(point: OperatingPoint, card: Card | None = None) -> str:
    """Return the condition under which a row is predicted positive; the intercept implies it."""
    if card is not None:
        return f"points {'>' if card.higher_is_positive else '<'} {card.cutoff:.6g}"
    return f"coefficients · features > {point.threshold:.6g}, which is score > 0"


def model_json(model: Any) -> dict[str, Any]:
    """Return a model for JSON."""
    values: dict[str, Any] = {
        "classifier": type(model).__name__,
        "metric": str(metric_of_model(model)),
        "classes": model.classes_,
        "features": feature_names_of(model),
    }
    if hasattr(model, "coef_"):
        values |= {"coefficients": model.coef_, "intercepts": model.intercept_}
    values["operating_points"] = [
        operating_point_json(point) for point in operating_points_of(model)
    ]
    return values


def describe_model(model: Any) -> str:
    """Return a model as text: its metric, its operating points and its largest coefficients."""
    metric = in_one_line(metric_of_model(model))
    classes = ", ".join(map(str, model.classes_.tolist()))
    lines = [f"{type(model).__name__} for {metric}; classes {classes}"]
    points = operating_points_of(model)
    cards: Sequence[Card] = getattr(model, "cards_", ())
    labels = one_vs_rest_labels(model, len(points))
    for k, (label, point) in enumerate(zip(labels, points, strict=True)):
        against = "" if label is None else f" for class {label} against the others"
        card = cards[k] if cards else None
        lines += ["", f"operating point{against}: positive if {describe_threshold(point, card)}"]
        lines.append(operating_point_table(point))
    if hasattr(model, "coef_"):
        lines += ["", _coefficient_table(model)]
    elif cards:
        lines += [f"\n{_card_table(card)}" for card in cards]
    else:
        lines += ["", f"kernel expansion over {len(model.support_):,} rows"]
    return "\n".join(lines)


def _card_table(card: Card) -> str:
    """Return a line for each column of a card: its bins and its points."""
    table = [
        [bins.name, f"{bins.n_cells}", f"{points.min():.3g}", f"{points.max():.3g}"]
        for bins, points in zip(card.bins, card.columns, strict=True)
    ]
    for cross in card.crosses:
        first, second = (card.bins[k].name for k in cross.columns)
        lowest, highest = cross.points.min(), cross.points.max()
        table.append(
            [f"{first} and {second}", f"{cross.points.size}", f"{lowest:.3g}", f"{highest:.3g}"]
        )
    return format_table(["column", "bins", "lowest points", "highest points"], table)


def one_vs_rest_labels(model: Any, n_entries: int) -> list[Any]:
    """Return the class of each entry of a tuple such as ``reports_``; None with two classes."""
    return model.classes_.tolist() if n_entries > 1 else [None] * n_entries


def format_rate(value: float) -> str:
    """Return a rate with four digits; an empty text for NaN, which stands for unknown."""
    return "" if np.isnan(value) else f"{value:.4f}"


def format_interval(bounds: Sequence[float]) -> str:
    """Return an interval as text; empty if it is unknown."""
    return "" if np.isnan(bounds[0]) else f"{bounds[0]:.4f} to {bounds[1]:.4f}"


def _coefficient_table(model: Any) -> str:
    names, coef = feature_names_of(model), model.coef_
    order = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:_LISTED_COEFFICIENTS]
    if len(coef) == 1:
        header = ["feature", "coefficient"]
    else:
        header = ["feature", *(f"class {label}" for label in model.classes_.tolist())]
    table = [[names[index], *(f"{value:.6g}" for value in coef[:, index])] for index in order]
    left_out = len(names) - _LISTED_COEFFICIENTS
    if left_out > 0:
        table.append([f"and {left_out} more, smaller", *[""] * len(coef)])
    table.append(["intercept", *(f"{value:.6g}" for value in model.intercept_)])
    return format_table(header, table)
