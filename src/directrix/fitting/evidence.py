"""Evidence: the held-out scores of a final model, by which its threshold is set and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fitting.choice import Assessment, RateGap, RefitChange, RefitScores
from directrix.fitting.guarantee import (
    GridPoint,
    Guarantee,
    assess_guaranteed,
    finite_threshold,
    threshold_from_rows,
)
from directrix.fitting.training_rows import Rows
from directrix.frontier.compare import (
    FIRST_ROWS,
    curve_maker,
    first_rows_per_class,
    rescaled_weights,
    scores_of,
)
from directrix.frontier.curves import CountCurves, bins_above, edge, histogram_curve, round_scores
from directrix.metrics.base import Curve, Metric
from directrix.models.operating_point import (
    OF_LINES,
    Calibration,
    ClaimVariance,
    EffectiveCounts,
    calibration_from_scores,
)
from directrix.models.segment_rates import SegmentRates
from directrix.moments.score_histogram import (
    BINS,
    SIDES,
    ScoreHistogram,
    centres,
    histogram_of_scores,
)
from directrix.moments.segment_scores import SegmentCounts
from directrix.rows.sums import tree_sum

# ── HeldOut: the held-out scores of a fitted classifier, from which other thresholds are set ──────


#: Parts of rows that have no folds; without each of them a threshold is set again.
_PARTS = 10


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The `ScoreHistogram` of one candidate, part by part, of which only filled bins are stored.

    So few rows take little memory, and many no more than their bins. Scores are held out, and
    favour the positive class.

    ``cell`` has the numbers of cells with rows, ``(part * 2 + is_positive) * BINS + bin``.
    ``weight`` has the weight of the rows in each. ``totals`` and ``squares`` of shape (parts, 2)
    are the weights of the rows of each part and class, and the sums of the squares of their
    weights. ``rows`` says which rows these are. A score s is ``(s - center) / scale`` in units of
    the decision function. ``variance`` is that of claims about new rows. ``seen`` says that the
    model was trained on the rows, as none could be held out.
    """

    cell: IntArray
    weight: FloatArray
    totals: FloatArray
    squares: FloatArray
    rows: str
    center: float = 0.0
    scale: float = 1.0
    variance: ClaimVariance = OF_LINES
    seen: bool = False

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        scores: FloatArray,
        variance: ClaimVariance = OF_LINES,
        name: str | None = None,
    ) -> HeldOut:
        """Count the scores of rows, less the threshold.

        The folds of ``rows`` are the parts; without folds, every tenth row of a class is in a part.
        ``name`` is that of rows that were set apart.
        """
        part = rows.fold
        if part is None:
            part = np.empty(len(scores), dtype=np.int64)
            for side in (rows.positive, ~rows.positive):
                part[side] = np.arange(np.count_nonzero(side)) % _PARTS
        in_parts = (np.flatnonzero(part == number) for number in range(int(part.max()) + 1))
        folds = [
            histogram_of_scores(scores[None, own], rows.positive[own], rows.weight[own])
            for own in in_parts
        ]
        seen = rows.fold is None and name is None
        made = cls.of_histograms(folds, rows=name or rows.name)
        return replace(made, variance=variance, seen=seen)

    @classmethod
    def of_histograms(
        cls,
        folds: Sequence[ScoreHistogram],
        index: int = 0,
        factors: tuple[float, float] = (1.0, 1.0),
        center: float = 0.0,
        rows: str = "held-out rows",
    ) -> HeldOut:
        """Keep the histograms of one candidate.

        ``folds`` are the held-out scores of all candidates, fold by fold. ``index`` is that of the
        candidate. ``factors`` are the class weights of the negatives and of the positives.
        ``center`` is its threshold.
        """
        by_class = np.array(factors)
        counts = np.stack([fold.counts[index] for fold in folds]) * by_class[:, None]
        totals = np.stack([fold.weight for fold in folds]) * by_class
        squares = np.stack([fold.weight_sq for fold in folds]) * by_class**2
        cell = np.flatnonzero(counts)
        return cls(cell, counts.ravel()[cell], totals, squares, rows, center)

    def restated(self, shift: float, factor: float) -> HeldOut:
        """Return the same scores for a decision function of ``(d - shift) / factor``."""
        center, scale = self.center + shift * self.scale, self.scale * factor
        return replace(self, center=center, scale=scale)

    def in_decisions(self, threshold: float) -> float:
        """Return a threshold of the scores in units of the decision function."""
        return (threshold - self.center) / self.scale

    @property
    def decisions(self) -> tuple[FloatArray, FloatArray, float]:
        """Decisions, the weight of negatives and positives at each, and effective rows per weight.

        Decisions are those of the middles of the bins.
        """
        side, index = np.divmod(self.cell, BINS)
        used, place = np.unique(index, return_inverse=True)
        weights = np.zeros((2, len(used)))
        np.add.at(weights, (side % 2, place), self.weight)
        effective = float(self.totals.sum() / self.squares.sum())
        decisions: FloatArray = (centres()[used] - self.center) / self.scale
        return decisions, weights, effective

    @property
    def folds(self) -> tuple[ScoreHistogram, ...]:
        """The score histograms of the parts."""
        n_parts = len(self.totals)
        every: AnyArray = np.zeros(n_parts * 2 * BINS)
        every[self.cell] = self.weight
        counts = every.reshape(n_parts, 1, 2, BINS)
        return tuple(
            ScoreHistogram(SIDES, *part) for part in zip(counts, self.squares, strict=True)
        )


# ── Evidence: held-out scores of a final model, as scores of rows or as counts ────────────────────


@dataclass(frozen=True, eq=False)
class RowEvidence:
    """Scores of a final model on rows that it was not fitted to.

    They set its threshold, say what to expect there, and calibrate its probabilities.

    ``every`` has the scores of all rows by the final model, first, and by the copy without each
    fold, of shape (n, 1 + folds). ``refit`` compares the copies of an estimator with the final one.
    """

    rows: Rows
    scores: FloatArray
    every: FloatArray | None = None
    refit: RefitScores | None = None

    @classmethod
    def of_line(cls, rows: Rows, line: FloatArray) -> RowEvidence:
        """Score rows that a line was not fitted to."""
        return cls(rows, round_scores(scores_of(rows.X, line[None])[:, 0]))

    @property
    def name(self) -> str:
        """What reports call the rows."""
        return self.rows.name

    @property
    def weighted_by(self) -> str:
        """What makes rows count differently."""
        return self.rows.weighted_by

    @cached_property
    def curve(self) -> Curve:
        """The rates at every threshold."""
        return curve_maker(self.rows.positive, self.rows.weight)(self.scores)

    def threshold(self, index: int) -> float:
        """Return one of the thresholds of the curve; beyond all scores if it is infinite."""
        return finite_threshold(self.curve, index)

    def within(
        self, metric: Metric, guarantee: Guarantee, grid: Sequence[GridPoint]
    ) -> tuple[float, Assessment]:
        """Return the best threshold that keeps limits on new rows, and what to expect there.

        The rows must have had no other part in the fit.
        """
        return threshold_from_rows(metric, guarantee, self.rows, self.scores, grid)

    def calibrated(
        self, threshold: float, probability: float | None, name: str | None = None
    ) -> Calibration:
        """Return the calibration of scores less a threshold.

        ``probability`` is that at the threshold, where the metric fixes it.
        """
        rows = self.rows.unpriced
        return calibration_of(rows, self.scores - threshold, probability, name)

    def held_out(
        self, threshold: float, variance: ClaimVariance, name: str | None = None
    ) -> HeldOut:
        """Return the scores less a threshold, for other thresholds of the fitted model."""
        return HeldOut.of_rows(self.rows.unpriced, self.scores - threshold, variance, name)

    def by_segment(self, threshold: float) -> SegmentRates | None:
        """Return the rates in each segment of the rows; None where rows have no segments."""
        rows = self.rows
        if rows.segments is None:
            return None
        flagged = self.scores > threshold
        return SegmentRates.of(rows.positive, flagged, rows.unpriced.weight, rows.segments)

    def change(self, metric: Metric, threshold: float) -> RefitChange | None:
        """Return how the final model differs from its copies without each fold."""
        if self.every is None or self.every.shape[1] == 1:
            return None
        return RefitChange.of(metric, self.rows, self.every, threshold)

    def gap(self, threshold: float) -> RateGap | None:
        """Return how rates of a final estimator differ from those of its copies."""
        return None if self.refit is None else self.refit.gap(threshold)


@dataclass(frozen=True, eq=False)
class CountEvidence:
    """Scores of a final model counted in bins, whose edges are the thresholds; see `RowEvidence`.

    ``folds`` has the histograms of all models, fold by fold, and ``index`` tells which model this
    is. ``factors`` are the class weights of the negatives and of the positives. ``segments`` are
    the scores of the same rows by segment. ``weighted_by`` says what makes rows count differently.
    """

    folds: Sequence[ScoreHistogram]
    index: int
    factors: tuple[float, float] = (1.0, 1.0)
    segments: Sequence[SegmentCounts] | None = None
    weighted_by: str = ""

    @property
    def name(self) -> str:
        """What reports call the rows."""
        return "held-out rows"

    @cached_property
    def curve(self) -> Curve:
        """The rates at every threshold."""
        return CountCurves(self.folds, self.index, self.factors).whole

    def threshold(self, index: int) -> float:
        """Return one of the edges of the bins."""
        return edge(index)

    def within(
        self, metric: Metric, guarantee: Guarantee, grid: Sequence[GridPoint]
    ) -> tuple[float, Assessment]:
        """Return the best threshold that keeps limits on new rows, and what to expect there.

        Thresholds are edges of bins, which no row has set: the bounds hold for them as for scores.
        Each row counts once, whatever the weight of its class.
        """
        once = replace(self, factors=(1.0, 1.0))
        bounds = -np.inf, np.inf
        if guarantee.in_segments and self.segments is not None:
            bounds = guarantee.bounds_of_curves(
                (each.name, histogram_curve(each.counts, (1.0, 1.0))) for each in self.segments
            )
        index = bins_above(guarantee.threshold(metric, once.curve, grid, None, *bounds))
        sizes = EffectiveCounts(float(once.curve.positives), float(once.curve.negatives))
        return edge(index), assess_guaranteed(metric, guarantee, once.curve, index, sizes)

    def calibrated(
        self, threshold: float, probability: float | None, name: str | None = None
    ) -> Calibration:
        """Return the calibration of scores less a threshold."""
        counts = tree_sum([fold.counts[self.index] for fold in self.folds])
        weight = (np.array(self.factors)[:, None] * counts).ravel()
        scores = np.tile(centres() - threshold, 2)
        positive = np.repeat([False, True], BINS)
        kept = weight > 0
        rows = f"score histograms of {name or self.name}"
        of_rows = positive[kept], scores[kept], weight[kept]
        return calibration_from_scores(*of_rows, rows, probability)

    def held_out(
        self, threshold: float, variance: ClaimVariance, name: str | None = None
    ) -> HeldOut:
        """Return the scores less a threshold, for other thresholds of the fitted model."""
        folds, rows = self.folds, name or self.name
        made = HeldOut.of_histograms(folds, self.index, self.factors, threshold, rows)
        return replace(made, variance=variance)

    def by_segment(self, threshold: float) -> SegmentRates | None:
        """Return the rates in each segment of the rows; None where rows have no segments."""
        if self.segments is None:
            return None
        return SegmentRates.of_histograms(self.segments, bins_above(threshold), self.factors)


Evidence = RowEvidence | CountEvidence


def calibration_of(
    rows: Rows, scores: FloatArray, probability: float | None, name: str | None = None
) -> Calibration:
    """Fit the calibration to the rows, or to a sample if they are many."""
    index = first_rows_per_class(rows.positive, FIRST_ROWS)
    sample = (
        rows.positive[index],
        scores[index],
        rescaled_weights(rows.positive, rows.weight, index),
    )
    return calibration_from_scores(*sample, name or rows.name, probability)
