"""Models, operating points and rates as text and as JSON, for replies and for the report page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.classifiers import OperatingPoint, OperatingPointClassifier
from directrix.classifiers.labels import positive_of
from directrix.cli.reply import format_table
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.models.card import Card
from directrix.models.card_printing import DECIMALS

#: Coefficients that are listed, the largest first; the model file has all.
_LISTED_COEFFICIENTS = 20


def metric_of_model(model: Any) -> Metric:
    """Return the metric that a model was trained for; the error rate if it has none."""
    metric = getattr(model, "metric_", None) or getattr(model, "metric", None)
    return resolve("error" if metric is None else metric)


def feature_names_of(model: Any) -> list[str]:
    """Return the names of the features, or x0, x1, ... if they have none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{index}" for index in range(int(model.n_features_in_))]
    return [str(name) for name in names]


def operating_point_json(point: OperatingPoint) -> dict[str, Any]:
    """Return an operating point for JSON."""
    rates = {
        "predicted": point.predicted,
        "measured": point.empirical,
        "expected": point.expected,
        "intervals": point.intervals,
    }
    return {
        "threshold": point.threshold,
        "rows": point.rows,
        **{name: None if each is None else each._asdict() for name, each in rates.items()},
        "weighted_by": point.weighted_by or None,
        "segments": None if point.segments is None else point.segments.to_dict(),
    }


def operating_point_table(point: OperatingPoint) -> str:
    """Return the rates at an operating point as a table: what to expect on new rows first."""
    header, *table = point.table()
    segments = [] if point.segments is None else ["", point.segments_title, str(point.segments)]
    return "\n".join([format_table(header, table), *point.notes, *segments])


def describe_threshold(model: Any, point: OperatingPoint, card: Card | None = None) -> str:
    """Return the condition under which a row is predicted positive; the intercept implies it."""
    if card is not None:
        return f"points {'>' if card.higher_is_positive else '<'} {card.cutoff:.6g}"
    if isinstance(model, OperatingPointClassifier):
        return f"its score > {point.threshold:.6g}"
    turned = len(model.classes_) == 2 and positive_of(model) != model.classes_.tolist()[-1]
    sign = "<" if turned else ">"
    return f"coefficients · features {sign} {point.threshold:.6g}, which is score {sign} 0"


def caught_text(model: Any) -> str:
    """Return the label that is caught, if the labels are texts."""
    label = positive_of(model) if len(model.classes_) == 2 else None
    return repr(label) if isinstance(label, str) else "positive"


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
    point = getattr(model, "operating_point_", None)
    if point is not None:
        values["operating_point"] = operating_point_json(point)
    return values


def describe_model(model: Any, *, with_columns: bool = True) -> str:
    """Return a model as text: its metric, its operating points and its largest coefficients.

    With a card, the coefficients are its columns; ``with_columns=False`` leaves these out.
    """
    metric = metric_of_model(model).label
    classes = ", ".join(map(str, model.classes_.tolist()))
    lines = [f"{type(model).__name__} for {metric}; classes {classes}"]
    point, card = getattr(model, "operating_point_", None), getattr(model, "card_", None)
    if point is not None:
        condition = f"{caught_text(model)} if {describe_threshold(model, point, card)}"
        lines += ["", f"operating point: {condition}", operating_point_table(point)]
    if hasattr(model, "coef_"):
        lines += ["", _coefficient_table(model)]
    elif card is not None and with_columns:
        lines += ["", _card_table(card)]
    elif hasattr(model, "support_"):
        lines += ["", f"kernel expansion over {len(model.support_):,} rows"]
    return "\n".join(lines)


def _card_table(card: Card) -> str:
    """Return a line for each column of a card that has points: its printed lines and points."""
    table, unused = [], 0
    for index in card.ranked_columns:
        rows = list(card.column_table(index, DECIMALS))
        if any(row.points for row in rows):
            table.append([card.bins[index].name, f"{len(rows)}", *_range(card.columns[index])])
        else:
            unused += 1
    crosses = card.cross_tables(DECIMALS)
    table += [[each.name, f"{each.points.size}", *_range(each.points)] for each in crosses]
    text = format_table(["column", "lines", "lowest points", "highest points"], table)
    return f"{text}\ncolumns without points: {unused}" if unused else text


def _range(points: AnyArray) -> list[str]:
    return [f"{end + 0.0:.3g}" for end in (points.min(), points.max())]


def format_rate(value: float) -> str:
    """Return a rate with four digits; an empty text for NaN, which stands for unknown."""
    return "" if np.isnan(value) else f"{value:.4f}"


def format_interval(bounds: Sequence[float]) -> str:
    """Return an interval as text; empty if it is unknown."""
    return "" if np.isnan(bounds[0]) else f"{bounds[0]:.4f} to {bounds[1]:.4f}"


def _coefficient_table(model: Any) -> str:
    """Return the coefficients, ranked by what a standard deviation of the feature does."""
    names, coef = feature_names_of(model), model.coef_[0]
    effect = coef * model.feature_scales_
    order = np.argsort(-np.abs(effect), kind="stable")[:_LISTED_COEFFICIENTS]
    table = [[names[k], f"{coef[k]:.6g}", f"{effect[k]:.6g}"] for k in order]
    left_out = len(names) - _LISTED_COEFFICIENTS
    if left_out > 0:
        table.append([f"and {left_out} more, smaller", "", ""])
    table.append(["intercept", f"{model.intercept_[0]:.6g}", ""])
    return format_table(["feature", "coefficient", "per standard deviation"], table)
