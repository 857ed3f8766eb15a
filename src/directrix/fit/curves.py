"""Curves: the rates of held-out scores at every threshold, and thresholds of counted scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.choice_validation import PartCurves
from directrix.fit.criterion import Criterion
from directrix.metrics.base import Curve, Metric
from directrix.metrics.score_histogram import centres, edges

#: Scores are rounded to multiples of one over this.
_GRID = 2.0**40


class Curves(Protocol):
    """Held-out scores of one model, in favour of the positive class: rates at every threshold.

    Scores of all folds are on one scale, so that one threshold serves them all. `ScoreCurves` has
    the score of every row, and `CountEvidence` scores counted in bins, as a pass over a source
    returns them. Whatever compares candidates sees no difference.
    """

    @property
    def whole(self) -> Curve:
        """The curve of all rows."""

    @property
    def folds(self) -> tuple[Curve, ...]:
        """The curve of each fold, scaled to the weight of all rows; empty without folds."""

    def criterion(self, metric: Metric) -> Criterion:
        """Return the criterion by which candidates are chosen on these rows."""

    def parts(self, curves: Sequence[Any]) -> PartCurves:
        """Return the curves of each part of the rows, for several candidates of the same rows."""


class ScoreCurves:
    """Curves of the scores of rows; rows of one ``group`` are dependent."""

    def __init__(
        self,
        positive: AnyArray,
        scores: FloatArray,
        weight: FloatArray,
        fold: IntArray | None,
        group: IntArray | None = None,
    ) -> None:
        self.scores = round_scores(scores)
        self._rows = positive, weight, group
        order = np.argsort(self.scores)[::-1]
        self._positive, self._weight = positive[order], weight[order]
        self._sorted = self.scores[order]
        self._fold = None if fold is None else fold[order]

    def criterion(self, metric: Metric) -> Criterion:
        """Return the criterion by which candidates are chosen on these rows."""
        return Criterion.of_rows(metric, self._positive, self._weight)

    @cached_property
    def whole(self) -> Curve:
        """The curve of all rows."""
        return Curve.of_sorted(self._positive, self._sorted, self._weight)

    @cached_property
    def folds(self) -> tuple[Curve, ...]:
        """The curve of each fold, scaled to the weight of all rows; empty without folds."""
        if self._fold is None:
            return ()
        total, curves = float(self._weight.sum()), []
        for number in np.flatnonzero(np.bincount(self._fold)):
            rows = np.flatnonzero(self._fold == number)
            weight = self._weight[rows]
            weight = weight * (total / float(weight.sum()))  # a quota may be a count of all rows
            curves.append(Curve.of_sorted(self._positive[rows], self._sorted[rows], weight))
        return tuple(curves)

    def parts(self, curves: Sequence[ScoreCurves]) -> PartCurves:
        """Return the curves of random tenths of the rows, for several candidates."""
        positive, weight, group = self._rows
        scores = np.column_stack([each.scores for each in curves])
        return PartCurves.of(scores, positive, weight, group)


def round_scores(scores: FloatArray) -> FloatArray:
    """Round scores to multiples of 2⁻⁴⁰, so that equal rows tie.

    A matrix product may differ in the last digit between equal rows at different positions.
    """
    return np.rint(scores * _GRID) / _GRID


def histogram_curve(counts: FloatArray, factors: tuple[float, float]) -> Curve:
    """Return the curve of a histogram; its thresholds are the edges of all bins."""
    negative, positive = weights_above(counts, factors)
    return Curve(centres()[::-1], positive, negative)


def edge(index: int) -> float:
    """Return the threshold above which there are `index` bins."""
    cuts = edges()[::-1]
    cuts[[0, -1]] = centres()[-1] * 2.0, centres()[0] * 2.0
    return float(cuts[index])


def bins_above(threshold: float) -> int:
    """Return the number of bins above a threshold."""
    return int(np.count_nonzero(centres() > threshold))


def weights_above(counts: FloatArray, factors: tuple[float, float]) -> FloatArray:
    """Return the weight of each class above each edge of the bins, highest first."""
    above: FloatArray = np.cumsum(counts[..., ::-1] * np.array(factors)[:, None], axis=-1)
    return np.concatenate([np.zeros((*above.shape[:-1], 1)), above], axis=-1)
