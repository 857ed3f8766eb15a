"""HistogramChoice: a candidate and its threshold, chosen on score histograms as on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from directrix._typing import FloatArray
from directrix.fitting.choice import Assessment, Choice, SelectionRule, Trials
from directrix.fitting.finalize import FittedLine, HeldOut, fitted_line
from directrix.fitting.guarantee import Guarantee, assess_guaranteed
from directrix.frontier.choice_validation import PartCurves
from directrix.frontier.compare import (
    Comparison,
    LeastLoss,
    OneStandardError,
    best_values,
    compare_values,
)
from directrix.frontier.criterion import Criterion, ExactMetric
from directrix.metrics.base import Curve, Metric
from directrix.models.operating_point import (
    OF_LINES,
    Calibration,
    ClaimVariance,
    EffectiveCounts,
    OperatingPoint,
    calibration_from_scores,
)
from directrix.models.segment_rates import SegmentRates
from directrix.moments.score_histogram import ScoreHistogram, centres, edges
from directrix.moments.segment_scores import SegmentCounts
from directrix.rows.sums import tree_sum


@dataclass(frozen=True)
class HistogramChoice:
    """The candidate that is best on score histograms of all rows, with its threshold.

    ``index`` is that of the candidate. ``comparison`` is of all candidates. ``counts`` of shape
    (2, bins) are the held-out scores of the candidate, class weights included, negatives first.
    ``held_out`` has the same by fold. ``factors`` are the class weights of the negatives and of the
    positives.
    """

    index: int
    threshold: float
    assessment: Assessment
    comparison: Comparison
    counts: FloatArray
    held_out: HeldOut
    factors: tuple[float, float]

    def finalize(
        self,
        metric: Metric,
        line: FloatArray,
        guaranteed: tuple[float, Assessment] | None = None,
        segments: Sequence[SegmentCounts] | None = None,
    ) -> FittedLine:
        """Return the line with its threshold, operating point and calibration.

        ``line`` is that of the candidate, made from all rows. ``guaranteed`` is another threshold,
        which rows set apart have set. ``segments`` are the scores of the rows by segment, if these
        are known: of rows set apart, if there are such.
        """
        threshold, assessment = guaranteed or (self.threshold, self.assessment)
        line = line.copy()
        line[-1] -= threshold
        calibrate = partial(_calibrated, self.counts, threshold)
        prior = float(self.counts[1].sum() / self.counts.sum())
        fitted = fitted_line(metric, line, prior, calibrate, assessment)
        if segments is not None:
            rates = SegmentRates.of_histograms(segments, _bins_above(threshold), self.factors)
            point = replace(fitted.operating_point, segments=rates)
            fitted = fitted._replace(operating_point=point)
        return fitted._replace(held_out=replace(self.held_out, center=threshold))


def select_from_histograms(
    metric: Metric,
    folds: tuple[ScoreHistogram, ...],
    factors: tuple[float, float],
    trials: Trials | None = None,
    complexities: Sequence[float] | None = None,
    rule: SelectionRule | None = None,
    variance: ClaimVariance = OF_LINES,
) -> HistogramChoice:
    """Choose a candidate and its threshold on histograms, as on rows.

    ``folds`` are the held-out scores of all candidates, fold by fold. ``factors`` are the class
    weights of the negatives and of the positives. ``trials`` are what was chosen on some of the
    rows before the candidates were made. With ``complexities`` the simplest of the candidates that
    are as good as the best by the criterion is chosen; without, the best by the metric is. Another
    ``rule`` may choose a size of a candidate; sizes come after the candidates that have
    complexities. ``variance`` is that of claims about new rows.
    """
    comparison = compare_histograms(metric, folds, factors, complexities)
    if rule is None:
        rule = LeastLoss()
        if complexities is not None:
            rule = OneStandardError.of(comparison, complexities)
    else:
        comparison = _with_sizes(comparison, rule)
    index, histogram = rule(comparison.deciding), tree_sum(folds)
    parts = PartCurves(np.stack([_above(fold.counts, factors) for fold in folds])[None])
    sizes, curve = _sizes(histogram), histogram_curve(histogram.counts[index], factors)
    choice = Choice(
        metric,
        comparison.criterion,
        parts,
        comparison.deciding,
        comparison.pooled,
        comparison.values,
        rule,
        sizes,
        curve.prior,
        trials,
        variance,
    )
    best = choice.at.best(curve)
    assessment = Assessment.of(choice, curve, best.index, "held-out rows")
    threshold = _edge(best.index)
    weighted = np.array(factors)[:, None] * histogram.counts[index]
    held_out = HeldOut.of_histograms(folds, index, factors, threshold)
    return HistogramChoice(index, threshold, assessment, comparison, weighted, held_out, factors)


def compare_histograms(
    metric: Metric,
    folds: tuple[ScoreHistogram, ...],
    factors: tuple[float, float],
    complexities: Sequence[float] | None = None,
) -> Comparison:
    """Compare candidates on all rows and on each fold; see `select_from_histograms`."""
    histogram = tree_sum(folds)
    curves = [histogram_curve(counts, factors) for counts in histogram.counts]
    if complexities is None:
        by = ExactMetric(metric)
        return compare_values(by, [best_values(by, curve, ()) for curve in curves])
    weights = curves[0].positives, curves[0].negatives
    criterion = Criterion.of(metric, *weights, _sizes(histogram))
    total, values = sum(weights), []
    whole_folds = folds if all(fold.weight.all() for fold in folds) else ()
    for k, curve in enumerate(curves):
        of_folds = [histogram_curve(fold.counts[k], factors) for fold in whole_folds]
        scales = [total / (each.positives + each.negatives) for each in of_folds]
        scaled = [each.scaled(by, by) for each, by in zip(of_folds, scales, strict=True)]
        values.append(best_values(criterion, curve, scaled))
    return compare_values(criterion, values, complexities)


def _sizes(histogram: ScoreHistogram) -> EffectiveCounts:
    """Return the effective rows of each class."""
    n_neg, n_pos = histogram.weight**2 / histogram.weight_sq
    return EffectiveCounts(float(n_pos), float(n_neg))


def _with_sizes(comparison: Comparison, rule: Any) -> Comparison:
    """Return what decides, for sizes too.

    By what a size is behind the full card in the metric, it is behind in what chose that card.
    """
    losses, deciding = comparison.losses, comparison.deciding.copy()
    sizes = slice(rule.n_candidates, None)
    deciding[sizes] = deciding[rule.chosen] + losses[sizes] - losses[rule.chosen]
    return comparison._replace(deciding=deciding)


def best_values_of(
    metric: Metric, folds: tuple[ScoreHistogram, ...], factors: tuple[float, float]
) -> FloatArray:
    """Return the metric of each candidate at its best threshold; see `select_from_histograms`."""
    counts = tree_sum(folds).counts
    return np.array([metric.best_value(histogram_curve(of_line, factors)) for of_line in counts])


def _calibrated(counts: FloatArray, threshold: float, at_threshold: float | None) -> Calibration:
    """Fit the calibration to a histogram of scores of both classes, negatives first."""
    scores = np.tile(centres() - threshold, 2)
    positive = np.repeat([False, True], len(centres()))
    weight = counts.ravel()
    kept = weight > 0
    return calibration_from_scores(
        positive[kept],
        scores[kept],
        weight[kept],
        "score histograms of held-out rows",
        at_threshold,
    )


def guaranteed_threshold(
    metric: Metric,
    guarantee: Guarantee,
    apart: ScoreHistogram,
    chosen: HistogramChoice,
    segments: Sequence[SegmentCounts] | None = None,
) -> tuple[float, Assessment]:
    """Return the threshold at which the histogram of rows set apart keeps the limits.

    Thresholds are edges of bins, which no row has set: the bounds hold for them as for scores.
    ``segments`` are the scores of the same rows by segment, if these are known.
    """
    curve = histogram_curve(apart.counts[chosen.index], (1.0, 1.0))
    grid = guarantee.grid(histogram_curve(chosen.counts, (1.0, 1.0)))
    bounds = -np.inf, np.inf
    if guarantee.in_segments and segments is not None:
        bounds = guarantee.bounds_of_curves(
            (each.name, histogram_curve(each.counts, (1.0, 1.0))) for each in segments
        )
    index = _bins_above(guarantee.threshold(metric, curve, grid, None, *bounds))
    sizes = EffectiveCounts(float(curve.positives), float(curve.negatives))
    return _edge(index), assess_guaranteed(metric, guarantee, curve, index, sizes)


def _edge(index: int) -> float:
    """Return the threshold above which there are `index` bins."""
    cuts = edges()[::-1]
    cuts[[0, -1]] = centres()[-1] * 2.0, centres()[0] * 2.0
    return float(cuts[index])


def _bins_above(threshold: float) -> int:
    """Return the number of bins above a threshold."""
    return int(np.count_nonzero(centres() > threshold))


def _above(counts: FloatArray, factors: tuple[float, float]) -> FloatArray:
    """Return the weight of each class above each edge of the bins, highest first."""
    above: FloatArray = np.cumsum(counts[..., ::-1] * np.array(factors)[:, None], axis=-1)
    return np.concatenate([np.zeros((*above.shape[:-1], 1)), above], axis=-1)


def histogram_curve(counts: FloatArray, factors: tuple[float, float]) -> Curve:
    """Return the curve of a histogram; its thresholds are the edges of all bins."""
    negative, positive = _above(counts, factors)
    return Curve(centres()[::-1], positive, negative)


def point_at(metric: Metric, held_out: HeldOut) -> OperatingPoint:
    """Return the best threshold for a metric, and the rates to expect there on new rows.

    Its threshold is how far it is above the present one, in units of the decision function. Raises
    ValueError if the metric has no threshold.
    """
    if not metric.uses_threshold:
        msg = f"{metric.label} ranks rows and has no threshold: name a metric that has one"
        raise ValueError(msg)
    # The line is the score itself: one coefficient, and no intercept.
    chosen = select_from_histograms(metric, held_out.folds, (1.0, 1.0), variance=held_out.variance)
    point = chosen.finalize(metric, np.array([1.0, 0.0])).operating_point
    above = held_out.in_decisions(chosen.threshold)
    return replace(point, threshold=above, rows=held_out.rows)
