"""Pictures of rows that have been scored already: the displays, and a reliability curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.evaluation.measures import ScoredRows
from directrix.classifiers.fitting.intervals import effective_rows, wilson
from directrix.cli.output.errors import UsageError
from directrix.displays import FrontierDisplay, MarginDisplay, TradeoffDisplay, style
from directrix.displays.frontier import Roc
from directrix.displays.words import limit_of
from directrix.frontier import Frontier
from directrix.metrics import Curve, Metric

_BINS = 15


def quiet_pyplot() -> Any:
    """Return pyplot that draws into files and opens no window."""
    try:
        import matplotlib as mpl
    except ImportError:
        return style.pyplot()  # which says how to install it
    mpl.use("Agg")
    return style.pyplot()


def is_positive(found: ScoredRows, classes: AnyArray) -> AnyArray:
    """Return which rows are of the last of two classes; there must be rows of both."""
    if len(classes) != 2:
        msg = f"pictures are of two classes, and the model has {len(classes)}"
        raise UsageError(msg)
    positive: AnyArray = found.y == classes[1]
    if positive.all() or not positive.any():
        msg = f"all rows are of class {found.y[0]}, and pictures compare two: give rows of both"
        raise UsageError(msg)
    return positive


def frontier_picture(found: ScoredRows, positive: AnyArray, metric: Metric, name: str) -> Any:
    """Draw the ROC curve of the rows under the frontier of their moments."""
    if found.moments is None:
        msg = "the frontier needs the moments of the rows"
        raise ValueError(msg)
    curve = Curve.of(positive, found.scores, found.weight)
    family = Frontier(found.moments).curve()
    place = int(np.sum(curve.levels > 0))
    display = FrontierDisplay(
        Roc(family.fpr, family.tpr),
        Roc(curve.fpr, curve.tpr),
        (float(curve.fpr[place]), float(curve.tpr[place])),
        metric,
        limit_of(metric, curve.prior, curve.positives + curve.negatives),
        name,
    )
    return display.plot().figure_


def margin_picture(found: ScoredRows, positive: AnyArray) -> Any:
    """Draw the scores of both classes beside normal distributions."""
    return MarginDisplay.from_predictions(
        positive, found.scores, sample_weight=found.weight
    ).figure_


def tradeoff_picture(found: ScoredRows, positive: AnyArray, metric: Metric, against: str) -> Any:
    """Draw what other thresholds would give."""
    if not metric.cuts:
        msg = f"{metric} is of a ranking and has no threshold: give another with --metric"
        raise UsageError(msg)
    return TradeoffDisplay.from_predictions(
        positive, found.scores, metric=metric, against=against, sample_weight=found.weight
    ).figure_


class Bin(NamedTuple):
    """Rows of about the same probability: its mean, the share of positives, and an interval."""

    predicted: float
    seen: float
    low: float
    high: float
    weight: float


@dataclass(frozen=True)
class Reliability:
    """How probabilities agree with what happened, in bins.

    Parameters
    ----------
    bins : tuple of Bin
    error : float
        Mean distance between both, weighted by the rows: the expected calibration error.
    """

    bins: tuple[Bin, ...]
    error: float

    @classmethod
    def of(cls, probability: FloatArray, positive: AnyArray, weight: FloatArray) -> Reliability:
        """Sort the rows by probability and cut them into bins; equal ones stay together.

        Each has the same share of the positives and of the negatives together: where positives
        are rare, bins of equally many rows would all be near zero.
        """
        order = np.argsort(probability, kind="stable")
        p, y, w = probability[order], positive[order], weight[order]
        share = (np.cumsum(w * y) / (w @ y) + np.cumsum(w * ~y) / (w @ ~y)) / 2.0
        cuts = p[np.minimum(np.searchsorted(share, np.arange(1, _BINS) / _BINS), len(p) - 1)]
        starts = np.unique(np.append(0, np.searchsorted(p, np.unique(cuts), side="left")))
        bins = []
        for start, stop in zip(starts, [*starts[1:], len(p)], strict=True):
            own = slice(start, stop)
            total = float(w[own].sum())
            if not total:
                continue
            seen = float(w[own] @ y[own]) / total
            ends = wilson(seen, effective_rows(w[own]), 0.95)
            bins.append(Bin(float(w[own] @ p[own]) / total, seen, *ends, total))
        away = sum(each.weight * abs(each.predicted - each.seen) for each in bins)
        return cls(tuple(bins), away / sum(each.weight for each in bins))

    def picture(self) -> Any:
        """Draw the curve, and the diagonal on which probabilities are right."""
        (ax,) = style.panels(None, (1, 1), 4.0)
        predicted = np.array([each.predicted for each in self.bins])
        seen = np.array([each.seen for each in self.bins])
        ends = np.array([(each.low, each.high) for each in self.bins]).T
        top = min(1.02 * max(predicted.max(), ends[1].max()), 1.0)
        ax.plot([0, top], [0, top], color=style.GREY, lw=0.9, ls="--", label="as predicted")
        reach = np.abs(ends - seen)
        ax.errorbar(
            predicted,
            seen,
            reach,
            color=style.BLUE,
            marker="o",
            markersize=4,
            lw=1.4,
            capsize=2,
            label="these rows, with 95 % intervals",
        )
        ax.set(xlim=(0, top), ylim=(0, top))
        style.finish(ax, "predicted probability", "share of positives")
        return ax.figure
