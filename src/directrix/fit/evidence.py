"""Evidence: the held-out scores of a final model, by which its threshold is set and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.choice import RateGap, RefitChange, RefitScores, sizes_of
from directrix.fit.choice_validation import PartCurves
from directrix.fit.compare import (
    FIRST_ROWS,
    first_rows_per_class,
    rescaled_weights,
    scores_of,
)
from directrix.fit.criterion import Criterion
from directrix.fit.curves import (
    ScoreCurves,
    bins_above,
    edge,
    histogram_curve,
    round_scores,
    weights_above,
)
from directrix.fit.guarantee import (
    Guarantee,
    finite_threshold,
    guaranteed_point,
    point_of_rows,
)
from directrix.fit.operating_point import (
    OF_LINES,
    Calibration,
    ClaimVariance,
    EffectiveCounts,
    OperatingPoint,
    calibration_from_scores,
)
from directrix.fit.segment_rates import SegmentRates
from directrix.fit.training_rows import Rows
from directrix.metrics.base import Curve, Metric
from directrix.metrics.score_histogram import (
    BINS,
    SIDES,
    ScoreHistogram,
    centres,
    histogram_of_scores,
)
from directrix.metrics.segment_scores import SegmentCounts
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
    def of_rows(cls, rows: Rows, scores: FloatArray, variance: ClaimVariance, name: str) -> HeldOut:
        """Make this from scores of rows, with zero at the threshold.

        The folds of ``rows`` are the parts; without folds, every tenth row of a class is in a part.
        ``name`` is that of the rows, or another one if they were set apart.
        """
        part = rows.fold
        if part is None:
            part = np.empty(len(scores), dtype=np.int64)
            for side in (rows.positive, ~rows.positive):
                part[side] = np.arange(np.count_nonzero(side)) % _PARTS
        in_parts = (np.flatnonzero(part == number) for number in range(int(part.max()) + 1))
        counted = CountEvidence(
            [
                histogram_of_scores(scores[None, own], rows.positive[own], rows.weight[own])
                for own in in_parts
            ]
        )
        made = cls.of_counts(counted, 0.0, name, variance)
        return replace(made, seen=rows.fold is None and name == rows.name)

    @classmethod
    def of_counts(
        cls, evidence: CountEvidence, center: float, rows: str, variance: ClaimVariance
    ) -> HeldOut:
        """Make this from the score counts of a candidate whose threshold is ``center``."""
        by_class, parts = np.array(evidence.factors), evidence.histograms
        counts = evidence.counts * by_class[:, None]
        totals = np.stack([part.weight for part in parts]) * by_class
        squares = np.stack([part.weight_sq for part in parts]) * by_class**2
        cell = np.flatnonzero(counts)
        weight = counts.ravel()[cell]
        return cls(cell, weight, totals, squares, rows, center, variance=variance)

    def restated(self, shift: float, factor: float) -> HeldOut:
        """Return the same scores for a decision function of ``(d - shift) / factor``."""
        center, scale = self.center + shift * self.scale, self.scale * factor
        return replace(self, center=center, scale=scale)

    def in_decisions(self, threshold: float) -> float:
        """Return a threshold of the scores in units of the decision function."""
        return (threshold - self.center) / self.scale

    @property
    def decisions(self) -> tuple[FloatArray, FloatArray, float]:
        """Distinct decision values, their weights by class, and effective rows per unit of weight.

        Decision values are those at the middles of the bins; weights have the shape (2, values).
        """
        side, index = np.divmod(self.cell, BINS)
        used, place = np.unique(index, return_inverse=True)
        weights = np.zeros((2, len(used)))
        np.add.at(weights, (side % 2, place), self.weight)
        effective = float(self.totals.sum() / self.squares.sum())
        decisions: FloatArray = (centres()[used] - self.center) / self.scale
        return decisions, weights, effective

    @property
    def histograms(self) -> tuple[ScoreHistogram, ...]:
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
    ``log_odds`` says that scores are calibrated already, so that no metric fixes a probability.
    """

    rows: Rows
    scores: FloatArray
    every: FloatArray | None = None
    refit: RefitScores | None = None
    log_odds: bool = False

    @classmethod
    def of_line(cls, rows: Rows, line: FloatArray) -> RowEvidence:
        """Make evidence from rows that a linear model was not fitted to."""
        return cls(rows, round_scores(scores_of(rows.X, line[None])[:, 0]))

    @property
    def name(self) -> str:
        """Name of the rows in reports."""
        return self.rows.name

    @property
    def weighted_by(self) -> str:
        """What the rows are weighted by, such as "sample_weight"; empty if by nothing."""
        return self.rows.weighted_by

    @cached_property
    def whole(self) -> Curve:
        """The rates at every threshold."""
        return Curve.of(self.rows.positive, self.scores, self.rows.weight)

    @cached_property
    def curves(self) -> ScoreCurves:
        """The curves of these scores, by which candidates are compared."""
        rows = self.rows
        return ScoreCurves(rows.positive, self.scores, rows.weight, rows.fold, rows.group)

    @property
    def sizes(self) -> EffectiveCounts:
        """Effective sample size of each class."""
        return sizes_of(self.rows)

    def threshold(self, index: int) -> float:
        """Return one of the thresholds of the curve; beyond all scores if it is infinite."""
        return finite_threshold(self.whole, index)

    def within(self, metric: Metric, guarantee: Guarantee, grid: Sequence[float]) -> OperatingPoint:
        """Return the best threshold that keeps limits on new rows, and what to expect there.

        The rows must have had no other part in the fit.
        """
        return point_of_rows(metric, guarantee, self.rows, self.scores, grid)

    def calibrated(self, threshold: float, probability: float | None, name: str) -> Calibration:
        """Fit probabilities to the scores of these rows, with zero at the threshold.

        ``probability`` is that at the threshold, where the metric fixes it.
        """
        rows = self.rows.unpriced
        if self.log_odds:
            return _of_log_odds(threshold, name)
        return calibration_of(rows, self.scores - threshold, probability, name)

    def held_out(self, threshold: float, variance: ClaimVariance, name: str) -> HeldOut:
        """Return these scores, with zero at the threshold, as a fitted model keeps them."""
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
    """Scores of a model counted in bins, whose edges are the thresholds; see `RowEvidence`.

    They are curves like `ScoreCurves` as well, among which a candidate is chosen.

    ``histograms`` has the scores of all models, fold by fold, and ``index`` tells which model this
    is. ``factors`` are the class weights of the negatives and of the positives. ``segments`` are
    the scores of the same rows by segment. ``weighted_by`` says what makes rows count differently.
    ``log_odds`` says that scores are calibrated already.
    """

    histograms: Sequence[ScoreHistogram]
    index: int = 0
    factors: tuple[float, float] = (1.0, 1.0)
    segments: Sequence[SegmentCounts] | None = None
    weighted_by: str = ""
    log_odds: bool = False

    @property
    def name(self) -> str:
        """Name of the rows in reports."""
        return "held-out rows"

    @cached_property
    def counts(self) -> FloatArray:
        """The weight of rows of each fold, class and bin."""
        return np.stack([fold.counts[self.index] for fold in self.histograms])

    @cached_property
    def whole(self) -> Curve:
        """The rates at every threshold."""
        return histogram_curve(tree_sum(list(self.counts)), self.factors)

    @cached_property
    def folds(self) -> tuple[Curve, ...]:
        """The curve of each fold, scaled to the weight of all rows; none if one lacks a class."""
        if not all(fold.weight.all() for fold in self.histograms):
            return ()
        total = self.whole.positives + self.whole.negatives
        curves = [histogram_curve(each, self.factors) for each in self.counts]
        scales = [total / (each.positives + each.negatives) for each in curves]
        return tuple(each.scaled(by, by) for each, by in zip(curves, scales, strict=True))

    @property
    def curves(self) -> CountEvidence:
        """The evidence itself, as its curves are those by which candidates are compared."""
        return self

    @cached_property
    def sizes(self) -> EffectiveCounts:
        """Effective sample size of each class."""
        every = tree_sum(self.histograms)
        n_neg, n_pos = every.weight**2 / every.weight_sq
        return EffectiveCounts(float(n_pos), float(n_neg))

    def criterion(self, metric: Metric) -> Criterion:
        """Return the criterion by which candidates are chosen on these rows."""
        return Criterion.of(metric, self.whole.positives, self.whole.negatives, self.sizes)

    def parts(self, candidates: Sequence[CountEvidence]) -> PartCurves:
        """Return the curves of each fold, for several candidates."""
        counts = np.stack([each.counts for each in candidates], axis=1)
        return PartCurves(weights_above(counts, self.factors)[None])

    def threshold(self, index: int) -> float:
        """Return one of the edges of the bins."""
        return edge(index)

    def within(self, metric: Metric, guarantee: Guarantee, grid: Sequence[float]) -> OperatingPoint:
        """Return the best threshold that keeps limits on new rows, and what to expect there.

        Thresholds are edges of bins, which no row has set: the bounds hold for them as for scores.
        Each row counts once, whatever the weight of its class.
        """
        curve, bounds = replace(self, factors=(1.0, 1.0)).whole, (-np.inf, np.inf)
        if guarantee.in_segments and self.segments is not None:
            bounds = guarantee.bounds(
                (each.name, histogram_curve(each.counts, (1.0, 1.0))) for each in self.segments
            )
        index = bins_above(guarantee.threshold(metric, curve, grid, None, *bounds))
        sizes = EffectiveCounts(float(curve.positives), float(curve.negatives))
        return guaranteed_point(metric, guarantee, curve, index, edge(index), sizes)

    def calibrated(self, threshold: float, probability: float | None, name: str) -> Calibration:
        """Fit probabilities to the scores of these rows, with zero at the threshold."""
        if self.log_odds:
            return _of_log_odds(threshold, name)
        weight = (np.array(self.factors)[:, None] * tree_sum(list(self.counts))).ravel()
        scores = np.tile(centres() - threshold, 2)
        positive = np.repeat([False, True], BINS)
        kept = weight > 0
        rows = f"score histograms of {name}"
        of_rows = positive[kept], scores[kept], weight[kept]
        return calibration_from_scores(*of_rows, rows, probability)

    def held_out(self, threshold: float, variance: ClaimVariance, name: str) -> HeldOut:
        """Return these scores, with zero at the threshold, as a fitted model keeps them."""
        return HeldOut.of_counts(self, threshold, name, variance)

    def by_segment(self, threshold: float) -> SegmentRates | None:
        """Return the rates in each segment of the rows; None where rows have no segments."""
        if self.segments is None:
            return None
        return SegmentRates.of_histograms(self.segments, bins_above(threshold), self.factors)


Evidence = RowEvidence | CountEvidence


def calibration_of(
    rows: Rows, scores: FloatArray, probability: float | None, name: str
) -> Calibration:
    """Fit the calibration to the rows, or to a sample if they are many."""
    index = first_rows_per_class(rows.positive, FIRST_ROWS)
    sample = (
        rows.positive[index],
        scores[index],
        rescaled_weights(rows.positive, rows.weight, index),
    )
    return calibration_from_scores(*sample, name, probability)


def _of_log_odds(threshold: float, rows: str) -> Calibration:
    return Calibration(threshold, 1.0, 1.0, f"penalised likelihood, and its slope on {rows}")
