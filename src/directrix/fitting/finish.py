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
from directrix.fitting.choice import Assessment, Choice, limit_caution, prior_of, sizes_of
from directrix.fitting.evidence import (
    CountEvidence,
    Evidence,
    HeldOut,
    RowEvidence,
    calibration_of,
)
from directrix.fitting.guarantee import Guarantee
from directrix.fitting.training_rows import Rows
from directrix.frontier.compare import curve_maker
from directrix.frontier.curves import CountCurves
from directrix.metrics.base import Metric
from directrix.metrics.budget import KeptBudget
from directrix.models.money import BY_ROW, BY_THRESHOLD, Money
from directrix.models.operating_point import (
    OF_LINES,
    Calibration,
    ClaimVariance,
    EffectiveCounts,
    OperatingPoint,
    intervals_of,
    rates_of,
)
from directrix.models.report import DirectReport

#: Fewer rows of a class draw a warning: a rate of twenty is known to 0.2 at best.
_MIN_CLASS_ROWS = 20


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
    """A threshold of the scores of a final model, and what its evidence says of it."""

    point: OperatingPoint
    evidence: Evidence
    assessment: Assessment
    cautions: tuple[Warning, ...] = ()
    #: Evidence that sets other thresholds, if that is not the same.
    other: Evidence | None = None

    @classmethod
    def of(
        cls, metric: Metric, evidence: Evidence, threshold: float, assessment: Assessment
    ) -> End:
        """State what rows show at a threshold, and what to expect if rows were held out."""
        point = OperatingPoint(
            metric,
            threshold,
            empirical=assessment.empirical,
            rows=assessment.rows,
            guarantee=assessment.guarantee,
            budget=assessment.budget,
            weighted_by=evidence.weighted_by,
        )
        if assessment.is_known:
            point = replace(point, expected=assessment.expected, intervals=assessment.intervals)
        return cls(point, evidence, assessment)

    def result(self, line: FloatArray, variance: ClaimVariance = OF_LINES) -> FitResult:
        """Return the model of a line with its probabilities and held-out scores.

        The threshold is in the intercept. ``variance`` is that of claims about new rows, where no
        candidates were compared.
        """
        point, evidence, choice = self.point, self.evidence, self.assessment.choice
        name = None if point.rows == evidence.name else point.rows
        probability = point.metric.break_even(evidence.curve.prior)
        calibration = evidence.calibrated(point.threshold, probability, name)
        variance = variance if choice is None else choice.variance
        if self.other is not None:
            evidence, name = self.other, None
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
    """Set the threshold that is best for the metric, and assess it for new rows."""
    index = choice.at.best(evidence.curve).index
    threshold, change, gap = evidence.threshold(index), None, None
    if isinstance(evidence, RowEvidence):
        change, gap = evidence.change(choice.metric, threshold), evidence.gap(threshold)
    assessment = Assessment.of(choice, evidence.curve, index, evidence.name, change, gap)
    end = End.of(choice.metric, evidence, threshold, assessment)
    cautions = limit_caution(choice.metric, choice.sizes), few_rows_caution(min(choice.sizes))
    return replace(end, cautions=tuple(each for each in cautions if each is not None))


def within_limits(
    metric: Metric, guarantee: Guarantee, apart: Evidence, evidence: Evidence | None = None
) -> End:
    """Set the best threshold that keeps the limits, by rows that had no part in the fit.

    The ``evidence`` of other rows suggests at which thresholds a precision is tested.
    """
    grid = guarantee.grid(None if evidence is None else evidence.curve)
    threshold, assessment = apart.within(metric, guarantee, grid)
    end = End.of(metric, apart, threshold, assessment)
    # One histogram has no parts, without which the choice of a threshold is repeated.
    return replace(end, other=evidence) if isinstance(apart, CountEvidence) else end


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
    point, assessment, rows = end.point, end.assessment, evidence.rows
    scores, plain = evidence.scores - point.threshold, evidence.rows.unpriced
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
        evidence.rows.costs,
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
        return calibration_of(rows, scores, None)(scores)
    probability = np.empty(len(scores))
    for fold in range(int(rows.fold.max()) + 1):
        inside = rows.fold == fold
        others = rows._replace(X=None, fold=None).take(~inside)
        probability[inside] = calibration_of(others, scores[~inside], None)(scores[inside])
    return probability


def few_rows_caution(
    fewest: float,
    outcome: str = "the threshold and the rates rest",
    remedy: str = ", or see operating_point_.intervals",
) -> FewRowsWarning | None:
    """Return a warning if the class with the fewest rows has too few of them for an outcome."""
    if fewest >= _MIN_CLASS_ROWS:
        return None
    number = "one row" if fewest == 1 else f"{fewest:.3g} rows"
    return FewRowsWarning(
        f"one class has {number} only, so {outcome} on very little; gather more of them{remedy}"
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
    evidence = CountEvidence(held_out.folds, 0)
    curves = CountCurves(held_out.folds, 0, evidence.factors)
    choice = Choice.only(metric, curves, EffectiveCounts(*curves.sizes), held_out.variance)
    point = at_best_threshold(choice, evidence).point
    warn_of(limit_caution(metric, choice.sizes))
    above = held_out.in_decisions(point.threshold)
    return replace(point, threshold=above, rows=held_out.rows)
