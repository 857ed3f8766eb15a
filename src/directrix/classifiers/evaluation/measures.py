"""Rates and metrics of a classifier on labelled rows, with 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.evaluation.diagnose import delong
from directrix.classifiers.fitting.intervals import Sizes, effective_rows, interval_method, wilson
from directrix.classifiers.fitting.operating_point import OnRows
from directrix.metrics import AUC, Curve, FBeta, Metric
from directrix.moments import Moments

_LEVEL = 0.95
_Z = 1.959963984540054


class ScoredRows(NamedTuple):
    """Labelled rows with the scores and probabilities of a model.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, in the type of the model's classes.
    scores : array of shape (n,), or (n, k) for more than two classes
    probability : array of the same shape
        Probability of the second of two classes, or of each of several.
    weight : array of shape (n,), optional
    moments : Moments, optional
        Summary of the same rows.
    """

    y: AnyArray
    scores: FloatArray
    probability: FloatArray
    weight: FloatArray | None = None
    moments: Moments | None = None


class Measure(NamedTuple):
    """A value with its 95 % interval.

    Parameters
    ----------
    name : str
    value, low, high : float
    how : str
        Method of the interval.
    """

    name: str
    value: float
    low: float
    high: float
    how: str


@dataclass(frozen=True)
class BinaryMeasures:
    """Rates and metrics of a classifier of two classes on labelled rows.

    Parameters
    ----------
    rows, positives, flagged : float
        Total weight of all rows, of the positives, and of the rows predicted positive.
    metric : Measure
        Exact value of the metric that the model was trained for. A metric that fixes its
        threshold, such as recall at 1 % FPR, has it set on these rows.
    at_threshold : tuple of Measure
        Rates at the threshold of the model.
    """

    rows: float
    positives: float
    flagged: float
    metric: Measure
    at_threshold: tuple[Measure, ...]


def measure_binary(scored: ScoredRows, metric: Metric, name: str, classes: Any) -> BinaryMeasures:
    """Measure a classifier of two classes on labelled rows.

    Parameters
    ----------
    scored : ScoredRows
    metric : Metric
    name : str
        Name of the metric in the result.
    classes : array of shape (2,)
        The second is the positive class.

    Raises
    ------
    ValueError
        If all rows are of one class.
    """
    positive = scored.y == classes[1]
    if positive.all() or not positive.any():
        msg = (
            f"all rows are of class {scored.y[0]}, and rates need rows of both classes: give more "
            "rows, or check that the labels come from the right column"
        )
        raise ValueError(msg)
    weight = np.ones(len(positive)) if scored.weight is None else scored.weight
    curve = Curve.of(positive, scored.scores, scored.weight)
    index = int(np.sum(curve.levels > 0))
    sizes = Sizes(effective_rows(weight[positive]), effective_rows(weight[~positive]))
    on_rows = OnRows(curve, index, sizes)
    rates, intervals = on_rows.rates(metric), on_rows.intervals(metric)
    flagged = scored.scores > 0
    error = float(weight @ (flagged != positive)) / float(weight.sum())
    auc, auc_interval = AUC().best_value(curve), delong(positive, scored.scores, weight)
    metric_interval = auc_interval if metric.averages_pairs else intervals.metric
    f1 = FBeta()
    return BinaryMeasures(
        float(weight.sum()),
        float(weight @ positive),
        float(weight @ flagged),
        Measure(
            name,
            rates.metric,
            *metric_interval,
            interval_method(metric),
        ),
        (
            _error_rate(error, weight),
            Measure("AUC", auc, *auc_interval, "DeLong"),
            Measure("recall", rates.tpr, *intervals.tpr, "Wilson"),
            Measure("FPR", rates.fpr, *intervals.fpr, "Wilson"),
            Measure("precision", rates.precision, *intervals.precision, "Wilson"),
            Measure(
                "F1", f1.value_at(curve, index), *on_rows.intervals(f1).metric, "posterior draws"
            ),
            brier_score(scored.probability - positive, weight),
        ),
    )


def measure_multiclass(scored: ScoredRows, classes: Any) -> tuple[Measure, ...]:
    """Measure a classifier of more than two classes: error, recall of each class, Brier score."""
    weight = np.ones(len(scored.y)) if scored.weight is None else scored.weight
    predicted = scored.scores.argmax(axis=1)
    truth = np.searchsorted(classes, scored.y)
    error = float(weight @ (predicted != truth)) / float(weight.sum())
    measures = [_error_rate(error, weight)]
    for index, label in enumerate(classes.tolist()):
        in_class = truth == index
        if in_class.any():
            class_weight = weight[in_class]
            recall = float(class_weight @ (predicted[in_class] == index)) / float(
                class_weight.sum()
            )
            interval = wilson(recall, effective_rows(class_weight), _LEVEL)
            measures.append(Measure(f"recall of {label}", recall, *interval, "Wilson"))
    indicator = truth[:, None] == np.arange(len(classes))
    return (*measures, brier_score(scored.probability - indicator, weight))


def brier_score(residuals: FloatArray, weight: FloatArray) -> Measure:
    """Return the Brier score, the mean square of probability minus outcome.

    Parameters
    ----------
    residuals : array of shape (n,), or (n, k) for more than two classes
    weight : array of shape (n,)
    """
    squares = residuals**2 if residuals.ndim == 1 else (residuals**2).sum(axis=1)
    share = weight / weight.sum()
    mean = float(share @ squares)
    variance = float(share @ (squares - mean) ** 2)
    half_width = _Z * float(np.sqrt(variance / max(effective_rows(weight), 1.0)))
    return Measure("Brier score", mean, max(mean - half_width, 0.0), mean + half_width, "normal")


def _error_rate(error: float, weight: FloatArray) -> Measure:
    return Measure("error", error, *wilson(error, effective_rows(weight), _LEVEL), "Wilson")
