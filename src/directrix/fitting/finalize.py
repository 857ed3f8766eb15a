"""The end of every fit: threshold, operating point and calibration of the chosen line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import (
    FewRowsWarning,
    OneClassPredictedWarning,
    find_stacklevel,
    is_silenced,
)
from directrix.fitting.choice import (
    Assessment,
    Choice,
    RefitChange,
    RefitScores,
    Selection,
    prior_of,
    sizes_of,
)
from directrix.fitting.training_rows import Rows, Standardization
from directrix.frontier.compare import (
    FIRST_ROWS,
    FoldDesigns,
    curve_maker,
    design_without,
    first_rows_per_class,
    is_flat,
    rescaled_weights,
    round_scores,
    scores_of,
)
from directrix.metrics.base import Curve, Metric
from directrix.metrics.budget import KeptBudget
from directrix.models.money import BY_ROW, BY_THRESHOLD, Money
from directrix.models.operating_point import (
    OF_LINES,
    Calibration,
    ClaimVariance,
    OperatingPoint,
    calibration_from_moments,
    calibration_from_scores,
    intervals_of,
    predicted_rates,
    rates_of,
)
from directrix.models.segment_rates import SegmentRates
from directrix.moments.projection import ScoreMoments
from directrix.moments.score_histogram import (
    BINS,
    SIDES,
    ScoreHistogram,
    centres,
    histogram_of_scores,
)

#: From the probability at the threshold, where the metric fixes it, to the calibration.
Calibrate = Callable[[float | None], Calibration]

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
        apart: Assessment | None = None,
    ) -> HeldOut:
        """Count the scores of rows, less the threshold.

        The folds of ``rows`` are the parts; without folds, every tenth row of a class is in a part.
        ``apart`` is what they show, if they were set apart.
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
        name = rows.name if apart is None else apart.rows
        seen = rows.fold is None and apart is None
        return replace(cls.of_histograms(folds, rows=name), variance=variance, seen=seen)

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


# ── The end of every fit: threshold, operating point and calibration of the chosen line ───────────


#: Fewer rows of a class draw a warning: a rate of twenty is known to 0.2 at best.
_MIN_CLASS_ROWS = 20
#: Standard deviations from the centre of a class beyond which scores are clipped.
_REACH = 3.5
#: Distance between the first and the last decile of a normal distribution.
_DECILES_OF_NORMAL = 2.563


class FittedLine(NamedTuple):
    """A line in the units of the features, intercept last, that predicts positive above zero.

    ``held_out`` has the held-out scores, if there are rows.
    """

    line: FloatArray
    operating_point: OperatingPoint
    calibration: Calibration
    held_out: HeldOut | None = None

    def sign_flipped(self) -> FittedLine:
        """Return the line with scores of the other sign, and probabilities of the other class.

        The rates of the operating point stay those of the positive class.
        """
        point = replace(self.operating_point, threshold=-self.operating_point.threshold)
        return FittedLine(-self.line, point, self.calibration.sign_flipped(), self.held_out)


class Lines(NamedTuple):
    """The lines of the chosen candidate, intercepts last.

    ``refit`` is fitted to all rows. ``without`` has, for each fold, the line fitted without it; it
    is empty if no rows are held out.
    """

    refit: FloatArray
    without: Sequence[FloatArray] = ()

    def without_rounding(self, X: Any) -> Lines:
        """Return the lines, constant where they tell no rows apart: such slopes are rounding."""
        flat = is_flat(self._scores(X))
        if not flat.any():
            return self
        lines = np.stack([self.refit, *self.without])
        lines[flat, :-1] = 0.0
        return Lines(lines[0], list(lines[1:]))

    def on_one_scale(self, rows: Rows) -> ScaledLines:
        """Put all lines on one scale: centre and scale each by its scores on its training rows.

        Held-out scores come from several lines; a threshold on them is then also a threshold of
        the refitted line.

        ``rows`` are in the units of the lines.
        """
        every = self._scores(rows.X)
        refit, held_out = self.refit.copy(), round_scores(every[:, 0])
        if not self.without:
            return ScaledLines(refit, held_out, every)
        for number in range(every.shape[1]):
            fitted = np.full(len(every), fill_value=True)
            if number and rows.fold is not None:
                fitted = rows.fold != number - 1
            centre, scale = centre_and_scale(
                every[fitted, number], rows.positive[fitted], rows.weight[fitted]
            )
            flat = is_flat(every[fitted, number])
            scaled = 0.0 if flat else round_scores((every[:, number] - centre) / scale)
            every[:, number] = scaled
            if number == 0:
                refit[-1] -= centre
                refit /= scale
                held_out = every[:, 0]
            else:
                held_out = np.where(fitted, held_out, every[:, number])
        return ScaledLines(refit, held_out, every)

    def _scores(self, X: Any) -> FloatArray:
        """Return the scores of rows by all lines, of shape (n, 1 + folds)."""
        if not isinstance(X, FoldDesigns):
            return scores_of(X, np.stack([self.refit, *self.without]))
        lines = [(None, self.refit), *enumerate(self.without)]
        every = [scores_of(design_without(X, fold), line[None]) for fold, line in lines]
        return np.hstack(every)


class ScaledLines(NamedTuple):
    """Lines on one scale, and their scores.

    ``refit`` is the refitted line. ``held_out`` are the held-out scores of the rows, or scores of
    the refitted line if no rows are held out. ``every`` has the scores of all rows by the refitted
    line, first, and by the line of each fold, of shape (n, 1 + folds).
    """

    refit: FloatArray
    held_out: FloatArray
    every: FloatArray


class Finalized(NamedTuple):
    """A fitted line, how it was assessed, and the held-out scores less the threshold."""

    fitted: FittedLine
    assessment: Assessment
    scores: FloatArray


def fitted_line(
    metric: Metric,
    line: FloatArray,
    prior: float,
    calibrate: Calibrate,
    assessment: Assessment,
) -> FittedLine:
    """Return a line with its operating point and its calibration.

    The threshold is in the intercept of ``line``. ``prior`` is the share of positives.
    ``calibrate`` fits the calibration, given the probability at the threshold or None.
    """
    point = OperatingPoint(
        metric,
        -float(line[-1]),
        empirical=assessment.empirical,
        rows=assessment.rows,
        guarantee=assessment.guarantee,
        budget=assessment.budget,
    )
    if assessment.is_known:
        point = replace(point, expected=assessment.expected, intervals=assessment.intervals)
    return FittedLine(line, point, calibrate(metric.break_even(prior)))


def finalize(
    metric: Metric,
    selection: Selection,
    lines: Lines,
    *,
    rows: Rows | None = None,
    units: Standardization | None = None,
    choice: Choice | None = None,
    scaled: ScaledLines | None = None,
    refit: RefitScores | None = None,
) -> Finalized:
    """Set the threshold of the chosen candidate, and assess it for new rows.

    ``lines`` are those of the chosen candidate, in the units of the selection's rows. ``rows`` set
    the threshold, where they are more than those of the selection. ``units`` are those of the rows;
    the features' own by default. ``choice`` is that of the model this one is made from, if it has
    been repeated already. ``scaled`` are the lines on one scale, if they are known. ``refit``
    compares the copies of another estimator with the final one.
    """
    rows = selection.rows if rows is None else rows
    scaled = lines.on_one_scale(rows) if scaled is None else scaled
    if choice is None:
        if rows is selection.rows:
            selection = selection.with_scores(scaled.held_out)
        choice = Choice.of(metric, selection, sizes_of(rows))
    threshold, curve, index = fit_threshold(choice.at, rows, scaled.held_out)
    change = None
    if lines.without:
        change = RefitChange.of(metric, rows, scaled.every, threshold)
    line = scaled.refit.copy()
    line[-1] -= threshold
    gap = None if refit is None else refit.gap(threshold)
    assessment = Assessment.of(choice, curve, index, rows.name, change, gap)
    scores = scaled.held_out - threshold
    line = line if units is None else units.line_back(line)
    calibrate = partial(_calibrated, rows.unpriced, scores)
    fitted = fitted_line(metric, line, prior_of(rows), calibrate, assessment)
    held_out = HeldOut.of_rows(rows.unpriced, scores, choice.variance)
    fitted = fitted._replace(held_out=held_out)
    return Finalized(in_rows(fitted, rows, scores, assessment), assessment, scores)


def finalize_on_rows(
    metric: Metric,
    rows: Rows,
    line: FloatArray,
    scores: FloatArray,
    assessment: Assessment | None = None,
) -> FittedLine:
    """Return a line whose threshold is given; rows that did not set it assess and calibrate it.

    ``line`` is in the units of the features. ``scores`` are those of the rows, less the threshold.
    ``assessment`` is, by default, what these rows show.
    """
    apart, plain = assessment, rows.unpriced
    if assessment is None:
        assessment = Assessment.of_rows(metric, rows, scores)
    calibrate = partial(_calibrated, plain, scores, name=assessment.rows)
    fitted = fitted_line(metric, line, prior_of(rows), calibrate, assessment)
    fitted = fitted._replace(held_out=HeldOut.of_rows(plain, scores, apart=apart))
    return in_rows(fitted, rows, scores, assessment)


def in_rows(
    fitted: FittedLine, rows: Rows, scores: FloatArray, assessment: Assessment
) -> FittedLine:
    """Return a line with rates by segment, and money where errors of rows have their own costs.

    Money is counted for decisions by the threshold and row by row. The rates are those of the
    decisions that are delivered, and the metric is their mean cost, with an interval that long
    tails survive.

    ``scores`` are the held-out scores of the rows, less the threshold. ``assessment`` is that of
    the rates as shares of the costs.
    """
    if rows.segments is not None:
        plain_weight = rows.unpriced.weight
        rates = SegmentRates.of(rows.positive, scores > 0, plain_weight, rows.segments)
        point = replace(fitted.operating_point, segments=rates)
        fitted = fitted._replace(operating_point=point)
    if rows.costs is None:
        return fitted
    point, plain = fitted.operating_point, rows.unpriced
    metric: Any = point.metric
    known = assessment.is_known and point.expected is not None
    # Decisions row by row have no threshold that these rows have chosen.
    before, after = assessment.empirical, assessment.expected
    if not known or metric.decides_by == BY_ROW:
        after = before
    optimism = after.metric - before.metric
    promised = assessment.expected.metric - before.metric if known else 0.0
    decisions, kept = _decisions(metric, rows, scores, assessment.budget)
    if kept is not None:
        point = replace(point, budget=kept, guarantee=str(kept))
    money = Money.of(
        rows.costs,
        rows.positive,
        plain.weight,
        decisions,
        assessment.rows,
        group=rows.group,
        optimism={BY_THRESHOLD: promised},
        spread=OF_LINES.best,
    )
    cost, flagged = money[metric.decides_by].cost, decisions[metric.decides_by]
    tpr, fpr = (
        float(plain.weight[side] @ flagged[side]) / float(plain.weight[side].sum())
        for side in (rows.positive, ~rows.positive)
    )
    prior = prior_of(plain)
    shown = rates_of(metric, tpr, fpr, prior, cost.value - optimism)
    point = replace(point, empirical=shown, money=money)
    if known:
        tpr, fpr = (
            float(np.clip(rate + more - less, 0.0, 1.0))
            for rate, less, more in zip(shown[:2], before[:2], after[:2], strict=True)
        )
        expected = rates_of(metric, tpr, fpr, prior, cost.value)
        curve = curve_maker(rows.positive, plain.weight)(scores)
        variance = OF_LINES if assessment.choice is None else assessment.choice.variance
        less_sure = sizes_of(plain).over(variance.best).less_sure(shown, expected)
        intervals = intervals_of(metric, expected, curve, less_sure)
        intervals = intervals._replace(metric=(cost.low, cost.high))
        point = replace(point, expected=expected, intervals=intervals)
    return fitted._replace(operating_point=point)


def _decisions(
    metric: Any, rows: Rows, scores: FloatArray, budget: KeptBudget | None
) -> tuple[dict[str, AnyArray], KeptBudget | None]:
    """Return which rows are flagged in either way to decide, and the thresholds of a budget.

    Within a budget, rows are ranked by their expected saving where each is decided about by its
    costs; None if they are not.
    """
    costs: Any = rows.costs
    saving = costs.expected_saving(_held_out_probability(rows.unpriced, scores))
    if budget is None or rows.periods is None or metric.decides_by == BY_THRESHOLD:
        return {BY_THRESHOLD: scores > 0, BY_ROW: saving > 0}, None
    kept = budget.budget.kept(saving, rows.periods, budget.share).at_least(0.0)
    kept = kept.counted(saving, rows.periods)
    least = kept.of_rows(rows.periods.team, len(saving))
    return {BY_THRESHOLD: scores > 0, BY_ROW: saving > least}, kept


def _held_out_probability(rows: Rows, scores: FloatArray) -> FloatArray:
    """Return probabilities of rows by calibrations that were fitted without their folds."""
    if rows.fold is None:
        return _calibrated(rows, scores, None)(scores)
    probability = np.empty(len(scores))
    for fold in range(int(rows.fold.max()) + 1):
        inside = rows.fold == fold
        others = rows._replace(X=None, fold=None).take(~inside)
        probability[inside] = _calibrated(others, scores[~inside], None)(scores[inside])
    return probability


def finalize_on_moments(
    metric: Metric, line: FloatArray, scores: ScoreMoments, n_rows: float
) -> FittedLine:
    """Return a line of which nothing is known but the moments of its scores.

    ``n_rows`` is the weight of the rows, for metrics that count them.
    """
    predicted = predicted_rates(scores, metric, n_rows)
    point = OperatingPoint(metric, -float(line[-1]), predicted)
    calibration = calibration_from_moments(scores, metric.break_even(scores.prior))
    return FittedLine(line, point, calibration)


def fit_threshold(metric: Metric, rows: Rows, scores: FloatArray) -> tuple[float, Curve, int]:
    """Return the best threshold on rows, their curve, and the threshold's index on it."""
    curve = curve_maker(rows.positive, rows.weight)(scores)
    threshold, _, index = metric.best(curve)
    warn_about_few_rows(min(sizes_of(rows)))
    if np.isinf(threshold):
        # One class for every row is best: take a finite threshold that none of the rows passes.
        reach = float(np.ptp(scores)) or 1.0
        threshold = float(scores.max() + reach if threshold > 0 else scores.min() - reach)
    return threshold, curve, index


def warn_about_few_rows(
    fewest: float,
    outcome: str = "the threshold and the rates rest",
    remedy: str = ", or see operating_point_.intervals",
) -> None:
    """Warn if the class with the fewest rows has too few of them for an outcome."""
    if fewest < _MIN_CLASS_ROWS and not is_silenced(FewRowsWarning):
        number = "one row" if fewest == 1 else f"{fewest:.3g} rows"
        warn(
            f"one class has {number} only, so {outcome} on very little; gather more of "
            f"them{remedy}",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )


def warn_about_one_class(point: OperatingPoint, without_search: str = "", remedy: str = "") -> None:
    """Warn if a delivered threshold predicts one class for every row.

    ``without_search`` is the remedy, where the intercept is that of the least training loss and no
    threshold was searched for. ``remedy`` is that of a known cause.
    """
    if not point.predicts_one_class:
        return
    rates = point.empirical
    label = "positive" if rates is not None and rates.tpr else "negative"
    if without_search:
        reason = "the intercept is that of the least training loss, no threshold was searched for"
    else:
        reason = f"no threshold does better by {point.metric.label} on {point.rows}"
    advice = (
        "Try a metric that does not depend on the prior (such as 'balanced_error' or "
        "RecallAtFPR), class_weight='balanced', or other features."
        if point.metric.limit is None
        else "Give more rows, a looser limit, or other features."
    )
    warn(
        f"every row is predicted {label}: {reason}. {remedy or without_search or advice}",
        OneClassPredictedWarning,
        stacklevel=find_stacklevel(),
    )


def _calibrated(
    rows: Rows, scores: FloatArray, at_threshold: float | None, name: str | None = None
) -> Calibration:
    """Fit the calibration to the rows, or to a sample if they are many."""
    index = first_rows_per_class(rows.positive, FIRST_ROWS)
    sample = (
        rows.positive[index],
        scores[index],
        rescaled_weights(rows.positive, rows.weight, index),
    )
    return calibration_from_scores(*sample, name or rows.name, at_threshold)


def centre_and_scale(
    scores: FloatArray, positive: AnyArray, weight: FloatArray
) -> tuple[float, float]:
    """Return the midpoint of the class means, and the root mean within-class variance.

    Scores are clipped where a normal class would have none: an outlier among the training rows of
    one line, and not of another, must not set the scale.
    """
    means, variances, flat = [], [], is_flat(scores)
    for side in (positive, ~positive):
        values, share = scores[side], weight[side] / weight[side].sum()
        low, high = np.quantile(values, [0.1, 0.9])
        reach = _REACH * (high - low) / _DECILES_OF_NORMAL
        if reach > 0:
            centre = (low + high) / 2.0
            values = np.clip(values, centre - reach, centre + reach)
        mean = float(share @ values)
        means.append(mean)
        variances.append(float(share @ (values - mean) ** 2))
    scale = float(np.sqrt(np.mean(variances))) or abs(means[0] - means[1]) or 1.0
    return (means[0] + means[1]) / 2.0, 1.0 if flat else scale
