"""The end of a fit to rows: threshold or limits, money, rates by segment, in this order.

The first step makes an `End`, the others add to it where they are asked for. What they rest on is
the `Evidence` of the final model, whatever the model is and wherever its rows are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from warnings import warn

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import (
    DirectionWarning,
    FewRowsWarning,
    OneClassPredictedWarning,
    find_stacklevel,
)
from directrix.fit.choice import Choice, limit_caution, prior_of, sizes_of
from directrix.fit.evidence import (
    CountEvidence,
    Evidence,
    HeldOut,
    RowEvidence,
    calibration_of,
)
from directrix.fit.guarantee import Guarantee
from directrix.fit.money import BY_ROW, BY_THRESHOLD, Money
from directrix.fit.operating_point import (
    OF_LINES,
    Calibration,
    ClaimVariance,
    OnRows,
    OperatingPoint,
    Rates,
    intervals_of,
    precision_interval,
    ranking_variance,
    rates_of,
)
from directrix.fit.report import DirectReport
from directrix.fit.shares import on_logit_scale
from directrix.fit.training_rows import Rows
from directrix.metrics import AUC
from directrix.metrics.base import Curve, Metric
from directrix.metrics.budget import KeptBudget

#: Fewer rows of a class draw a warning: a rate of twenty is known to 0.2 at best.
_MIN_CLASS_ROWS = 20
#: Rows of a class, by weight, of which one can be held out; rounding may take a little off.
_FEWEST = 2.0 - 1e-9


@dataclass(frozen=True, eq=False)
class FitResult:
    """What a fit leaves: a model that predicts positive above zero, and what to expect of it.

    ``line`` has the coefficients of a linear model in the units of its features, intercept last;
    where the model is another, its only feature is the score. ``held_out`` has the held-out scores,
    if there are rows, and ``report`` the candidates, if any were compared. ``metric`` is the one
    that was trained for. Whoever keeps the result warns of its ``cautions``.
    """

    line: FloatArray
    operating_point: OperatingPoint
    calibration: Calibration
    held_out: HeldOut | None = None
    report: DirectReport | None = None
    cautions: tuple[Warning, ...] = ()
    metric: Any = None

    def sign_flipped(self) -> FitResult:
        """Return the model with scores of the other sign, and probabilities of the other class.

        The rates of the operating point stay those of the positive class.
        """
        point = replace(self.operating_point, threshold=-self.operating_point.threshold)
        calibration = self.calibration.sign_flipped()
        return replace(self, line=-self.line, operating_point=point, calibration=calibration)


@dataclass(frozen=True, eq=False)
class End:
    """A threshold of the scores of a final model, what its evidence says of it, and its choice."""

    point: OperatingPoint
    evidence: Evidence
    choice: Choice | None = None
    cautions: tuple[Warning, ...] = ()
    #: Evidence that sets other thresholds, if that is not the same.
    other: Evidence | None = None

    def result(self, line: FloatArray, variance: ClaimVariance = OF_LINES) -> FitResult:
        """Return the model of a line with its probabilities and held-out scores.

        The threshold is in the intercept. ``variance`` is that of claims about new rows, where no
        candidates were compared.
        """
        point, evidence, choice = self.point, self.evidence, self.choice
        probability = point.metric.break_even(evidence.whole.prior)
        name = point.rows or evidence.name
        calibration = evidence.calibrated(point.threshold, probability, name)
        variance = variance if choice is None else choice.variance
        if self.other is not None:
            evidence, name = self.other, self.other.name
        held_out = evidence.held_out(point.threshold, variance, name)
        point = replace(point, threshold=-float(line[-1]))
        return FitResult(line, point, calibration, held_out, cautions=self.cautions)


def finish(
    metric: Metric,
    choice: Choice | None,
    evidence: Evidence | None,
    guarantee: Guarantee | None = None,
    apart: Evidence | None = None,
) -> End:
    """Set the threshold of a chosen candidate, and say what to expect of it.

    Parameters
    ----------
    metric : Metric
    choice : Choice
        How the candidate was chosen; None where limits are kept by the only one there is.
    evidence : Evidence
        Held-out scores of the final model; with limits they only suggest thresholds at which a
        precision is tested, and may be None.
    guarantee : Guarantee, optional
        Limits that are kept on new rows.
    apart : Evidence, optional
        Scores of rows that had no part in the fit, where limits are to be kept.
    """
    if guarantee is not None and apart is not None:
        end = within_limits(metric, guarantee, apart, evidence)
        few = None if choice is None else few_rows_caution(min(choice.sizes))
        end = end if few is None else replace(end, cautions=(few,))
    else:
        assert choice is not None  # noqa: S101 - without limits there is a choice
        assert evidence is not None  # noqa: S101 - likewise
        end = at_best_threshold(choice, evidence)
    return by_segment(priced(end))


def at_best_threshold(choice: Choice, evidence: Evidence) -> End:
    """Set the threshold that is best for the metric, and say what to expect of it on new rows."""
    point = expected_on_new_rows(choice, evidence, choice.at.best(evidence.whole).index)
    point = replace(point, rows=evidence.name, weighted_by=evidence.weighted_by)
    cautions = limit_caution(choice.metric, choice.sizes), few_rows_caution(min(choice.sizes))
    return End(point, evidence, choice, tuple(each for each in cautions if each is not None))


def within_limits(
    metric: Metric, guarantee: Guarantee, apart: Evidence, evidence: Evidence | None = None
) -> End:
    """Set the best threshold that keeps the limits on rows that took no part in the fit.

    The ``evidence`` of other rows suggests at which thresholds a precision is tested.
    """
    grid = guarantee.grid(None if evidence is None else evidence.whole)
    point = replace(apart.within(metric, guarantee, grid), weighted_by=apart.weighted_by)
    # One histogram has no parts, without which the choice of a threshold is repeated.
    return End(point, apart, other=evidence if isinstance(apart, CountEvidence) else None)


def assess_unseen_rows(
    metric: Metric, positive: AnyArray, scores: FloatArray, weight: FloatArray, name: str
) -> OperatingPoint:
    """Return the operating point of a threshold at zero, from rows that took no part in the fit."""
    curve = Curve.of(positive, scores, weight)
    index = int(np.count_nonzero(curve.levels > 0))
    shown = OnRows(curve, index, sizes_of(Rows(None, positive, weight)))
    value, ends = shown.at_threshold(metric)
    rates, intervals = shown.rates(AUC()), shown.intervals(AUC())
    rates, intervals = rates._replace(metric=value), intervals._replace(metric=ends)
    return OperatingPoint(
        metric, 0.0, empirical=rates, rows=name, expected=rates, intervals=intervals
    )


def finish_at_zero(
    rows: Rows, line: FloatArray, scores: FloatArray, point: OperatingPoint
) -> FitResult:
    """Return a line whose threshold is given; rows that did not set it assess and calibrate it.

    ``line`` is in the units of the features. ``scores`` are those of the rows, less the threshold,
    and ``point`` says what to expect there.
    """
    point = replace(point, threshold=0.0, weighted_by=rows.weighted_by)
    return by_segment(priced(End(point, RowEvidence(rows, scores)))).result(line)


def expected_on_new_rows(choice: Choice, evidence: Evidence, index: int) -> OperatingPoint:
    """Return the rates of a chosen candidate at a threshold, on held-out rows and on new ones.

    What to expect on new rows is known only if rows of both classes were held out: one row, by
    weight, is in every fit, and its score says nothing of new rows.

    ``index`` is the position of the threshold on the curve of the held-out scores. The intervals of
    rates contain those of the refitted model, where it differs from the models of the folds; that
    of the metric only if it is a rate. One that is best near the threshold changes less than rates.
    """
    metric, curve, threshold = choice.metric, evidence.whole, evidence.threshold(index)
    rates = float(curve.tpr[index]), float(curve.fpr[index])
    value = None if metric.uses_threshold else metric.best_value(curve)
    empirical = rates_of(metric, *rates, curve.prior, value)
    point = OperatingPoint(metric, threshold, empirical=empirical)
    if min(choice.sizes) < _FEWEST:
        return point
    expected = choice.expected(shown=empirical)
    optimism = empirical.metric - expected.metric
    change = gap = None
    if isinstance(evidence, RowEvidence):
        change, gap = evidence.change(metric, threshold), evidence.gap(threshold)
    if change is not None:
        gap = change.rest(expected)
        expected = change.applied(metric, expected, curve.prior)
    expected = _no_better(metric, expected, empirical, curve.prior)
    sizes, along = choice.sizes.over(choice.variance.of(metric)), choice.variance.along_curve
    less_sure = sizes.less_sure(empirical, expected)
    intervals = intervals_of(metric, expected, curve, less_sure, along_curve=along)
    if metric.limit is None:
        precision = precision_interval(metric, expected, curve, less_sure)
        intervals = intervals._replace(precision=precision)
    if not metric.uses_threshold:
        # What the choice promised too much is known as badly as it is large.
        variance = ranking_variance(curve, sizes, metric) + optimism**2
        intervals = intervals._replace(metric=on_logit_scale(expected.metric, variance))
    # What rows show of rates is as true as what is expected after the choice, and the threshold
    # itself rests on a count of few rows.
    possible = [(empirical, sizes)]
    if gap is not None and (gap.tpr or gap.fpr):
        # The final estimator is as likely nearer to what its copies show of it (Burman 1989).
        value = None if metric.uses_threshold else expected.metric
        nearer = [
            rates_of(metric, *gap.added_to(each), curve.prior, value)
            for each in (expected, empirical)
        ]
        possible += [
            (each, less_sure.with_variance(each, gap.variances)) for each in (expected, *nearer)
        ]
    for shown, of_size in possible:
        more = intervals_of(metric, shown, curve, of_size, along_curve=along)
        if metric.limit is None:
            more = more._replace(precision=intervals.precision, metric=intervals.metric)
        intervals = intervals.hull(more)
    return replace(point, expected=expected, intervals=intervals)


def _no_better(metric: Metric, expected: Rates, shown: Rates, prior: float) -> Rates:
    """Return what to expect, which is never better than what held-out rows showed."""
    sign = 1.0 if metric.greater_is_better else -1.0
    if sign * expected.metric <= sign * shown.metric:
        return expected
    if not metric.uses_threshold:
        return expected._replace(metric=shown.metric)
    # A limit is kept on average, so that new rows may exceed what these rows show of its rate.
    rate = None if metric.limit is None else metric.limit.rate
    tpr = expected.tpr if rate == "tpr" else shown.tpr
    fpr = expected.fpr if rate == "fpr" else shown.fpr
    return rates_of(metric, tpr, fpr, prior, shown.metric)


def by_segment(end: End) -> End:
    """Add the rates in each segment of the rows, if they have segments."""
    rates = end.evidence.by_segment(end.point.threshold)
    return end if rates is None else replace(end, point=replace(end.point, segments=rates))


def priced(end: End) -> End:
    """Add money where errors of rows have their own costs.

    It is counted for decisions by the threshold and row by row. The rates are those of the
    decisions that are delivered, and the metric is their mean cost, with an interval that long
    tails survive.
    """
    evidence = end.evidence
    if not isinstance(evidence, RowEvidence) or evidence.rows.costs is None:
        return end
    point, rows, plain = end.point, evidence.rows, evidence.rows.unpriced
    scores, before = evidence.scores - point.threshold, point.empirical
    assert before is not None  # noqa: S101 - there are rows
    metric: Any = point.metric
    after = expected = point.expected or before
    if metric.decides_by == BY_ROW:  # there is no threshold that these rows have chosen
        after = before
    optimism = after.metric - before.metric
    decisions, kept = _decisions(metric, rows, scores, point.budget)
    if kept is not None:
        point = replace(point, budget=kept, guarantee=str(kept))
    money = Money.of(
        evidence.rows.costs,
        rows.positive,
        plain.weight,
        decisions,
        point.rows or plain.name,
        group=rows.group,
        optimism=expected.metric - before.metric,
        spread=OF_LINES.best,
    )
    cost, flagged = money[metric.decides_by].cost, decisions[metric.decides_by]
    tpr, fpr = (
        float(plain.weight[side] @ flagged[side]) / float(plain.weight[side].sum())
        for side in (rows.positive, ~rows.positive)
    )
    prior = prior_of(plain)
    shown = rates_of(metric, tpr, fpr, prior, cost.value - optimism)
    known = point.expected is not None
    point = replace(point, empirical=shown, money=money)
    if known:
        tpr, fpr = (
            float(np.clip(rate + more - less, 0.0, 1.0))
            for rate, less, more in zip(shown[:2], before[:2], after[:2], strict=True)
        )
        expected = rates_of(metric, tpr, fpr, prior, cost.value)
        curve = Curve.of(rows.positive, scores, plain.weight)
        variance = OF_LINES if end.choice is None else end.choice.variance
        less_sure = sizes_of(plain).over(variance.best).less_sure(shown, expected)
        intervals = intervals_of(metric, expected, curve, less_sure)
        intervals = intervals._replace(metric=(cost.low, cost.high))
        point = replace(point, expected=expected, intervals=intervals)
    return replace(end, point=point)


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
        return calibration_of(rows, scores, None, rows.name)(scores)
    probability = np.empty(len(scores))
    for fold in range(int(rows.fold.max()) + 1):
        inside = rows.fold == fold
        others = rows._replace(X=None, fold=None).take(~inside)
        calibration = calibration_of(others, scores[~inside], None, others.name)
        probability[inside] = calibration(scores[inside])
    return probability


def few_rows_caution(fewest: float) -> FewRowsWarning | None:
    """Return a warning if the class with the fewest rows has too few of them."""
    if fewest >= _MIN_CLASS_ROWS:
        return None
    number = "one row" if fewest == 1 else f"{fewest:.3g} rows"
    return FewRowsWarning(
        f"one class has {number} only, so the threshold and the rates rest on very little; gather "
        "more of them, or see operating_point_.intervals"
    )


def one_class_caution(
    point: OperatingPoint, without_search: str = "", remedy: str = ""
) -> OneClassPredictedWarning | None:
    """Return a warning if a delivered threshold predicts one class for every row.

    ``without_search`` is the remedy, where the intercept is that of the least training loss and no
    threshold was searched for. ``remedy`` is that of a known cause.
    """
    if not point.predicts_one_class:
        return None
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
    return OneClassPredictedWarning(
        f"every row is predicted {label}: {reason}. {remedy or without_search or advice}"
    )


def direction_caution(report: DirectReport | None) -> DirectionWarning | None:
    """Return a warning of columns whose direction the rows contradict, if there are any."""
    directions = () if report is None else report.directions
    flat = tuple(dict.fromkeys(effect.column for effect in directions if effect.flat))
    return DirectionWarning(flat) if flat else None


def warn_of(*cautions: Warning | None) -> None:
    """Warn of all that there are."""
    for caution in cautions:
        if caution is not None:
            warn(caution, stacklevel=find_stacklevel())


def point_at(metric: Metric, held_out: HeldOut) -> OperatingPoint:
    """Return the best threshold for a metric, and the rates to expect there on new rows.

    Its threshold is how far it is above the present one, in units of the decision function. Raises
    ValueError if the metric has no threshold.
    """
    if not metric.uses_threshold:
        msg = f"{metric.label} ranks rows and has no threshold: name a metric that has one"
        raise ValueError(msg)
    evidence = CountEvidence(held_out.histograms)
    choice = Choice.only(metric, evidence, held_out.variance)
    point = at_best_threshold(choice, evidence).point
    warn_of(limit_caution(metric, choice.sizes))
    above = held_out.in_decisions(point.threshold)
    return replace(point, threshold=above, rows=held_out.rows)
