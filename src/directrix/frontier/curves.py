"""Curves: the rates of held-out scores at every threshold, from scores or from counts of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.frontier.choice_validation import PartCurves
from directrix.frontier.criterion import Criterion
from directrix.metrics.base import Curve, Metric
from directrix.moments.score_histogram import ScoreHistogram, centres, edges
from directrix.rows.sums import tree_sum

#: Scores are rounded to multiples of one over this.
_GRID = 2.0**40


class Curves(ABC):
    """Held-out scores of one model, in favour of the positive class: rates at every threshold.

    Scores of all folds are on one scale, so that one threshold serves them all. `of_scores` has the
    score of every row, from one sort for all metrics; `of_counts` has scores counted in bins, as a
    pass over a source returns them. Whatever compares candidates, sets a threshold and says what to
    expect sees no difference.
    """

    @staticmethod
    def of_scores(
        positive: AnyArray,
        scores: FloatArray,
        weight: FloatArray,
        fold: IntArray | None,
        group: IntArray | None = None,
    ) -> ScoreCurves:
        """Return the curves of the scores of rows; rows of one ``group`` are dependent."""
        return ScoreCurves(positive, scores, weight, fold, group)

    @staticmethod
    def of_counts(
        folds: Sequence[ScoreHistogram], factors: tuple[float, float] = (1.0, 1.0)
    ) -> list[CountCurves]:
        """Return the curves of each of the models whose scores are counted, fold by fold.

        ``factors`` are the class weights of the negatives and of the positives.
        """
        return [CountCurves(folds, k, factors) for k in range(len(folds[0].counts))]

    @property
    @abstractmethod
    def whole(self) -> Curve:
        """The curve of all rows."""

    @property
    @abstractmethod
    def folds(self) -> tuple[Curve, ...]:
        """The curve of each fold, scaled to the weight of all rows; empty without folds."""

    @abstractmethod
    def criterion(self, metric: Metric) -> Criterion:
        """Return what candidates are chosen by on these rows."""

    @abstractmethod
    def parts(self, curves: Sequence[Any]) -> PartCurves:
        """Return the curves of each part of the rows, for several candidates of the same rows."""


class ScoreCurves(Curves):
    """Curves of the scores of rows."""

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
        self._factors = class_factors_of(positive, weight)

    def criterion(self, metric: Metric) -> Criterion:
        """Return what candidates are chosen by on these rows."""
        return Criterion.of_rows(metric, self._positive, self._weight)

    @cached_property
    def whole(self) -> Curve:
        """The curve of all rows."""
        return self._curve(slice(None), 1.0)

    @cached_property
    def folds(self) -> tuple[Curve, ...]:
        """The curve of each fold, scaled to the weight of all rows; empty without folds."""
        if self._fold is None:
            return ()
        total, curves = float(self._weight.sum()), []
        for number in np.flatnonzero(np.bincount(self._fold)):
            rows = np.flatnonzero(self._fold == number)
            factor = total / float(self._weight[rows].sum())  # a quota may be a count of all rows
            curves.append(self._curve(rows, factor))
        return tuple(curves)

    def parts(self, curves: Sequence[Any]) -> PartCurves:
        """Return the curves of random tenths of the rows, for several candidates."""
        positive, weight, group = self._rows
        scores = np.column_stack([each.scores for each in curves])
        return PartCurves.of(scores, positive, weight, group)

    def _curve(self, rows: Any, factor: float) -> Curve:
        positive, scores = self._positive[rows], self._sorted[rows]
        if self._factors is None:
            return Curve.of_sorted(positive, scores, factor * self._weight[rows])
        by_class = (factor * weight for weight in self._factors)
        return Curve.of_sorted(positive, scores).scaled(*by_class)


class CountCurves(Curves):
    """Curves of scores that are counted in bins, whose edges are the thresholds."""

    def __init__(
        self, folds: Sequence[ScoreHistogram], index: int, factors: tuple[float, float]
    ) -> None:
        self.factors = factors
        self.counts = np.stack([fold.counts[index] for fold in folds])
        self._folds = folds

    def criterion(self, metric: Metric) -> Criterion:
        """Return what candidates are chosen by on these rows."""
        curve = self.whole
        return Criterion.of(metric, curve.positives, curve.negatives, self.sizes)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The effective rows of the positives and of the negatives."""
        every = tree_sum(self._folds)
        n_neg, n_pos = every.weight**2 / every.weight_sq
        return float(n_pos), float(n_neg)

    @cached_property
    def whole(self) -> Curve:
        """The curve of all rows."""
        return histogram_curve(tree_sum(list(self.counts)), self.factors)

    @cached_property
    def folds(self) -> tuple[Curve, ...]:
        """The curve of each fold, scaled to the weight of all rows; none if one lacks a class."""
        if not all(fold.weight.all() for fold in self._folds):
            return ()
        total = self.whole.positives + self.whole.negatives
        curves = [histogram_curve(each, self.factors) for each in self.counts]
        scales = [total / (each.positives + each.negatives) for each in curves]
        return tuple(each.scaled(by, by) for each, by in zip(curves, scales, strict=True))

    def parts(self, curves: Sequence[Any]) -> PartCurves:
        """Return the curves of each fold, for several candidates."""
        counts = np.stack([each.counts for each in curves], axis=1)
        return PartCurves(_above(counts, self.factors)[None])


def round_scores(scores: FloatArray) -> FloatArray:
    """Round scores to multiples of 2⁻⁴⁰, so that equal rows tie.

    A matrix product may differ in the last digit between equal rows at different positions.
    """
    return np.rint(scores * _GRID) / _GRID


def class_factors_of(positive: AnyArray, weight: FloatArray) -> tuple[float, float] | None:
    """Return the weight of every positive and of every negative, if all of a class are equal."""
    factors = float(weight[positive.argmax()]), float(weight[positive.argmin()])
    return factors if np.array_equal(weight, np.where(positive, *factors)) else None


def histogram_curve(counts: FloatArray, factors: tuple[float, float]) -> Curve:
    """Return the curve of a histogram; its thresholds are the edges of all bins."""
    negative, positive = _above(counts, factors)
    return Curve(centres()[::-1], positive, negative)


def edge(index: int) -> float:
    """Return the threshold above which there are `index` bins."""
    cuts = edges()[::-1]
    cuts[[0, -1]] = centres()[-1] * 2.0, centres()[0] * 2.0
    return float(cuts[index])


def bins_above(threshold: float) -> int:
    """Return the number of bins above a threshold."""
    return int(np.count_nonzero(centres() > threshold))


def _above(counts: FloatArray, factors: tuple[float, float]) -> FloatArray:
    """Return the weight of each class above each edge of the bins, highest first."""
    above: FloatArray = np.cumsum(counts[..., ::-1] * np.array(factors)[:, None], axis=-1)
    return np.concatenate([np.zeros((*above.shape[:-1], 1)), above], axis=-1)
