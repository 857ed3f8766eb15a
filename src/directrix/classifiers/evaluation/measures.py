"""What rows say of a model: every rate at its threshold, with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.evaluation.diagnose import delong
from directrix.classifiers.fitting.intervals import Sizes, effective_rows, wilson
from directrix.classifiers.fitting.operating_point import OnRows
from directrix.metrics import AUC, Curve, FBeta, Metric
from directrix.moments import Moments

_LEVEL = 0.95
_Z = 1.959963984540054


class ScoredRows(NamedTuple):
    """Labelled rows and what a model says of them.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, in the type of the model's classes.
    scores : array of shape (n,), or (n, k) for more than two classes
    probability : array of the same shape
        Of the last class, or of each.
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
    """A number, its 95 % interval, and how that was made."""

    name: str
    value: float
    low: float
    high: float
    how: str


@dataclass(frozen=True)
class Measured:
    """All that is measured of a model of two classes.

    Parameters
    ----------
    rows, positives, flagged : float
        Weight of all rows, of the positives, and of those predicted positive.
    metric : Measure
        What the model was trained for, exactly. A metric that fixes its own threshold, such as
        recall at 1 % FPR, has it set on these rows.
    at_threshold : tuple of Measure
        At the model's own threshold.
    """

    rows: float
    positives: float
    flagged: float
    metric: Measure
    at_threshold: tuple[Measure, ...]


def measured(found: ScoredRows, metric: Metric, name: str, classes: Any) -> Measured:
    """Measure a model of two classes."""
    positive = found.y == classes[1]
    if positive.all() or not positive.any():
        msg = (
            f"all rows are of class {found.y[0]}, and rates need rows of both classes: give more "
            "rows, or check that the labels come from the right column"
        )
        raise ValueError(msg)
    weight = np.ones(len(positive)) if found.weight is None else found.weight
    curve = Curve.of(positive, found.scores, found.weight)
    place = int(np.sum(curve.levels > 0))
    counts = [effective_rows(weight[own]) for own in (positive, ~positive)]
    on_rows = OnRows(curve, place, Sizes(counts[0], counts[1]))
    rates, ends = on_rows.rates(metric), on_rows.intervals(metric)
    above = found.scores > 0
    wrong = float(weight @ (above != positive)) / float(weight.sum())
    n_rows = effective_rows(weight)
    area = AUC().best_value(curve)
    of_area = delong(positive, found.scores, weight)
    own, how = ends.metric, "posterior draws" if metric.uses_threshold else "DeLong"
    if isinstance(metric, AUC):
        own, how = of_area, "DeLong"
    f1 = FBeta()
    return Measured(
        float(weight.sum()),
        float(weight @ positive),
        float(weight @ above),
        Measure(name, rates.metric, *own, how),
        (
            Measure("error", wrong, *wilson(wrong, n_rows, _LEVEL), "Wilson"),
            Measure("AUC", area, *of_area, "DeLong"),
            Measure("recall", rates.tpr, *ends.tpr, "Wilson"),
            Measure("FPR", rates.fpr, *ends.fpr, "Wilson"),
            Measure("precision", rates.precision, *ends.precision, "Wilson"),
            Measure(
                "F1", f1.value_at(curve, place), *on_rows.intervals(f1).metric, "posterior draws"
            ),
            brier(found.probability - positive, weight),
        ),
    )


def brier(off: FloatArray, weight: FloatArray) -> Measure:
    """Return the mean square of what probabilities miss by, which is a mean over rows."""
    squares = off**2 if off.ndim == 1 else (off**2).sum(axis=1)
    share = weight / weight.sum()
    mean = float(share @ squares)
    reach = _Z * float(np.sqrt(share @ (squares - mean) ** 2 / max(effective_rows(weight), 1.0)))
    return Measure("Brier score", mean, max(mean - reach, 0.0), mean + reach, "normal")


def measured_of_several(found: ScoredRows, classes: Any) -> tuple[Measure, ...]:
    """Measure a model of more than two classes: the error, each class's recall, the Brier score."""
    weight = np.ones(len(found.y)) if found.weight is None else found.weight
    place = found.scores.argmax(axis=1)
    truth = np.searchsorted(classes, found.y)
    wrong = float(weight @ (place != truth)) / float(weight.sum())
    measures = [Measure("error", wrong, *wilson(wrong, effective_rows(weight), _LEVEL), "Wilson")]
    for k, label in enumerate(classes.tolist()):
        own = truth == k
        if own.any():
            caught = float(weight[own] @ (place[own] == k)) / float(weight[own].sum())
            ends = wilson(caught, effective_rows(weight[own]), _LEVEL)
            measures.append(Measure(f"recall of {label}", caught, *ends, "Wilson"))
    truths = truth[:, None] == np.arange(len(classes))
    return (*measures, brier(found.probability - truths, weight))
