"""The end of a fit: the threshold, what to expect of it on new rows, and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np

from directrix.classifiers import calibration
from directrix.classifiers.fitting.intervals import (
    Intervals,
    Rates,
    Sizes,
    effective_rows,
    intervals_of,
    rates_of,
)
from directrix.frontier.choose import FIRST_ROWS, curves, first_of_classes, standing_for
from directrix.frontier.cross_choice import (
    ScoresInParts,
    choose_without_parts,
    judged,
    most_promising,
    optimism_of_ranking,
)
from directrix.frontier.select import least_loss

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.frontier.choose import Compared
    from directrix.frontier.cross_choice import Rule
    from directrix.metrics import Curve, Metric

_FEW = 10
#: A limit that no row may break: a share of 0 is none.
_NONE = 1e-12
#: Candidates that are chosen among again without some rows: of all, and of each kind.
_CANDIDATES, _OF_KIND = 24, 3
#: How many times as much a claim varies about the truth as the rate of so many rows does: the
#: candidate, the threshold and the models of the folds vary with the rows too. Measured on samples
#: of real populations (benchmarks/honesty).
_SPREAD = 1.4


@dataclass(frozen=True)
class Selection:
    """Candidates that were compared, and how one of them was chosen.

    Parameters
    ----------
    rows : TrainingRows
        That they were compared on.
    scores : array of shape (n, k)
        Held-out scores of these rows.
    losses, values : array of shape (k,)
        What decided, and the metric of all rows together.
    chosen : int
    rule : callable
        Of losses: which candidate is chosen.
    """

    rows: TrainingRows
    scores: FloatArray
    losses: FloatArray
    values: FloatArray
    chosen: int
    rule: Any = least_loss

    @classmethod
    def of(
        cls,
        rows: TrainingRows,
        scores: list[FloatArray],
        found: Compared,
        chosen: int,
        rule: Any = least_loss,
    ) -> Selection:
        """Keep the candidates that some of the rows could have chosen."""
        kinds = rule.kinds.tolist() if hasattr(rule, "kinds") else [0.0] * len(scores)
        kept = most_promising(found.losses, kinds, _CANDIDATES, _OF_KIND)
        kept = np.union1d(kept, [chosen])
        return cls(
            rows,
            np.column_stack([scores[k] for k in kept]),
            found.losses[kept],
            found.values[kept],
            int(np.searchsorted(kept, chosen)),
            rule.among(kept) if hasattr(rule, "among") else rule,
        )

    def of_kind(self, kind: float) -> IntArray:
        """Return the candidates of a kind."""
        return np.flatnonzero(self.rule.kinds == kind)


class Finalized(NamedTuple):
    """What a fit ends with.

    Parameters
    ----------
    threshold : float
    empirical : Rates
        On the rows that chose.
    expected : Rates
        On new rows.
    intervals : Intervals
    choice : Choice, optional
        Among candidates, where there was one.
    """

    threshold: float
    empirical: Rates
    expected: Rates
    intervals: Intervals
    choice: Choice | None = None

    @classmethod
    def of(
        cls, choice: Choice, threshold: float, curve: Curve, place: int, sizes: Sizes
    ) -> Finalized:
        """Take where the chosen candidate cuts a curve of so many rows."""
        metric, expected = choice.metric, choice.expected()
        value = None if metric.cuts else metric.best_value(curve)
        rates = float(curve.tpr[place]), float(curve.fpr[place])
        empirical = rates_of(metric, *rates, curve.prior, value)
        spread = sizes.over(_SPREAD)
        intervals = intervals_of(metric, expected, curve.prior, spread, curve)
        return cls(threshold, empirical, expected, intervals, choice)

    @classmethod
    def at_zero(cls, metric: Metric, rows: TrainingRows, scores: FloatArray) -> Finalized:
        """Take a threshold that the rows did not set: what they show is to be expected."""
        curve = curves(rows.positive, rows.weight)(scores)
        place = int(np.count_nonzero(curve.levels > 0))
        rates = float(curve.tpr[place]), float(curve.fpr[place])
        seen = rates_of(metric, *rates, curve.prior, None)
        spread = sizes_of(rows).over(_SPREAD)
        intervals = intervals_of(metric, seen, curve.prior, spread, curve)
        return cls(0.0, seen, seen, intervals)


@dataclass(frozen=True)
class Choice:
    """What a choice among candidates rests on: enough to make it again without some of the rows.

    Parameters
    ----------
    metric : Metric
    parts : ScoresInParts
    losses, values : array of shape (k,)
        What decided, and the metric of all rows together.
    rule : callable
        Of losses: which candidate is chosen.
    sizes : Sizes
    prior : float
    """

    metric: Metric
    parts: ScoresInParts
    losses: FloatArray
    values: FloatArray
    rule: Rule
    sizes: Sizes
    prior: float

    @classmethod
    def of(cls, metric: Metric, selection: Selection) -> Choice:
        """Share out the rows of a selection."""
        rows = selection.rows
        parts = ScoresInParts.of(selection.scores, rows.positive, rows.weight, rows.group)
        return cls(
            metric,
            parts,
            selection.losses,
            selection.values,
            selection.rule,
            sizes_of(rows),
            prior_of(rows),
        )

    @cached_property
    def at(self) -> Metric:
        """The metric by which the threshold is set, its limit so strict that new rows keep it.

        First by the order of rows: above the highest k of n scores, k + 1 of n + 1 new ones are to
        be expected. Then once by what the choice does on rows that it has not seen.
        """
        metric: Any = self.metric
        limit = metric.limit
        if limit is None:
            return self.metric
        by_order = metric.with_limit(_by_order(limit, limit.value, self.sizes))
        rate = getattr(self._expected(by_order, self.rule), limit.rate)
        if limit.at_most:
            wanted = limit.value * min(1.0, limit.value / max(rate, _NONE))
        else:  # of what is missing, as many times less
            missing = 1.0 - limit.value
            wanted = 1.0 - missing * min(1.0, missing / max(1.0 - rate, _NONE))
        stricter: Metric = metric.with_limit(_by_order(limit, wanted, self.sizes))
        return stricter

    def expected(self, rule: Rule | None = None) -> Rates:
        """Return the rates and the metric to expect on new rows, of this rule or another."""
        return self._expected(self.at, self.rule if rule is None else rule)

    def _expected(self, at: Metric, rule: Rule) -> Rates:
        pooled = -self.values if self.metric.greater_is_better else self.values
        shift = self.losses - pooled
        chosen = choose_without_parts(self.parts, self.metric, at, shift, rule)
        rates = judged(self.parts, chosen)
        value = None
        if not self.metric.cuts:
            candidate = rule(self.losses)
            optimism = optimism_of_ranking(self.parts, self.metric, chosen, candidate)
            value = float(self.values[candidate]) - optimism
        return rates_of(self.metric, rates.tpr, rates.fpr, self.prior, value)


def _by_order(limit: Any, value: float, sizes: Sizes) -> float:
    """Return the share of the rows that chose at which a rate of new rows is to be expected."""
    if limit.rate == "fpr":
        return max(value - (1.0 - value) / sizes.n_neg, _NONE)
    if limit.rate == "tpr":
        return min(value + value / sizes.n_pos, 1.0 - _NONE)
    return value


def finalize(
    metric: Metric, selection: Selection, rows: TrainingRows, scores: FloatArray
) -> Finalized:
    """Set the threshold of the chosen candidate, and say what to expect on new rows.

    Parameters
    ----------
    metric : Metric
    selection : Selection
    rows : TrainingRows
        That set the threshold; usually those of the selection.
    scores : array of shape (n,)
        Of these rows, by the candidate that was chosen.
    """
    choice = Choice.of(metric, selection)
    threshold, curve, place = fit_threshold(choice.at, rows, scores)
    return Finalized.of(choice, threshold, curve, place, sizes_of(rows))


def sizes_of(rows: TrainingRows) -> Sizes:
    """Return the effective number of rows of each class; groups count as one row each."""
    sides = (rows.positive, ~rows.positive)
    return Sizes(
        *(
            effective_rows(rows.weight[own], None if rows.group is None else rows.group[own])
            for own in sides
        )
    )


def prior_of(rows: TrainingRows) -> float:
    """Return the share of positives."""
    return float(rows.weight @ rows.positive) / float(rows.weight.sum())


def fit_threshold(
    metric: Metric, rows: TrainingRows, scores: FloatArray
) -> tuple[float, Curve, int]:
    """Return the best threshold on rows, their curve, and the threshold's index on it."""
    curve = curves(rows.positive, rows.weight)(scores)
    threshold, _, place = metric.best(curve)
    fewest = min(sizes_of(rows))
    if fewest < _FEW:
        warn(
            f"one class has {fewest:.3g} rows only, so the threshold and the rates rest on "
            "very little; gather more of them, or see operating_point_.intervals",
            stacklevel=6,
        )
    if np.isinf(threshold):
        # One class for every row is best: a finite threshold that none of the rows passes.
        reach = float(np.ptp(scores)) or 1.0
        end = scores.max() + reach if threshold > 0 else scores.min() - reach
        label = "negative" if threshold > 0 else "positive"
        warn(
            f"every row is predicted {label}: no line of the family does better by {metric} on "
            "these rows. Try a metric that does not depend on the prior (such as "
            "'balanced_error' or RecallAtFPR), class_weight='balanced', or other features.",
            stacklevel=6,
        )
        threshold = float(end)
    return threshold, curve, place


def calibrated(
    rows: TrainingRows, scores: FloatArray, at_threshold: float | None
) -> calibration.Calibration:
    """Return how probabilities are made of these scores, fitted to the rows or a sample."""
    index = first_of_classes(rows.positive, FIRST_ROWS)
    sample = rows.positive[index], scores[index], standing_for(rows.positive, rows.weight, index)
    return calibration.from_scores(*sample, rows.name, at_threshold)
