"""The end of a fit: the threshold, what to expect of it on new rows, and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from warnings import warn

import numpy as np

from directrix.classifiers.fitting import calibration
from directrix.classifiers.fitting.choice import (
    Choice,
    FewRowsWarning,
    Selection,
    sizes_of,
)
from directrix.classifiers.fitting.intervals import (
    Intervals,
    Rates,
    intervals_of,
    rates_of,
)
from directrix.frontier.compare import FIRST_ROWS, curves, first_of_classes, standing_for

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.lines import Lines
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics import Curve, Metric

_FEW = 10
#: How many times as much a claim varies about the truth as the rate of so many rows does: the
#: candidate, the threshold and the models of the folds vary with the rows too. Measured on samples
#: of real populations (benchmarks/studies/new_rows). At a limit the curve itself says how much the
#: metric varies with the threshold, so that less is left.
_SPREAD, _SPREAD_AT_LIMIT = 1.7, 1.4


class Finalized(NamedTuple):
    """What a fit ends with.

    Parameters
    ----------
    threshold : float
        Of the scores that set it.
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
        cls,
        choice: Choice,
        threshold: float,
        curve: Curve,
        place: int,
        change: Change | None = None,
    ) -> Finalized:
        """Take where the chosen candidate cuts a curve, and what its refit changes."""
        metric = choice.metric
        rates = float(curve.tpr[place]), float(curve.fpr[place])
        value = None if metric.cuts else metric.best_value(curve)
        empirical = rates_of(metric, *rates, curve.prior, value)
        expected = choice.expected()
        if change is not None:
            expected = change.applied(metric, expected, curve.prior)
        sizes = choice.sizes.over(_SPREAD if metric.limit is None else _SPREAD_AT_LIMIT)
        intervals = intervals_of(metric, expected, curve, sizes)
        if metric.limit is not None:
            # What sets the threshold is itself a count of few rows, whatever is expected of it.
            seen = intervals_of(metric, empirical, curve, sizes)
            rate = metric.limit.rate
            ends = getattr(seen, rate), getattr(intervals, rate)
            hull = min(low for low, _ in ends), max(high for _, high in ends)
            intervals = intervals._replace(**{rate: hull})
        return cls(threshold, empirical, expected, intervals, choice)

    @classmethod
    def at_zero(cls, metric: Metric, rows: TrainingRows, scores: FloatArray) -> Finalized:
        """Take a threshold that the rows did not set: what they show is to be expected."""
        curve = curves(rows.positive, rows.weight)(scores)
        place = int(np.count_nonzero(curve.levels > 0))
        rates = float(curve.tpr[place]), float(curve.fpr[place])
        seen = rates_of(metric, *rates, curve.prior, None)
        intervals = intervals_of(metric, seen, curve, sizes_of(rows).over(_SPREAD))
        return cls(0.0, seen, seen, intervals)


class Change(NamedTuple):
    r"""How the refitted line differs from those without a fold, all on all rows.

    .. math:: R_n(\hat f) - \frac1K \sum_k R_n(\hat f_{-k})

    Lines without a fold are fitted to fewer rows, and are worse for it than the refitted line.
    Burman 1989 adds this to what cross-validation finds.

    Parameters
    ----------
    tpr, fpr, area : float
    """

    tpr: float
    fpr: float
    area: float

    @classmethod
    def of(cls, metric: Metric, rows: TrainingRows, every: FloatArray, threshold: float) -> Change:
        """Compare the scores of the first line with those of the others.

        Parameters
        ----------
        metric : Metric
        rows : TrainingRows
        every : array of shape (n, 1 + folds)
        threshold : float
        """
        above = every > threshold
        rates = []
        for side in (rows.positive, ~rows.positive):
            share = rows.weight[side] / rows.weight[side].sum()
            of_lines = share @ above[side]
            rates.append(float(of_lines[0] - of_lines[1:].mean()))
        area = 0.0
        if not metric.cuts:
            curve_of = curves(rows.positive, rows.weight)
            areas = [metric.best_value(curve_of(column)) for column in every.T]
            area = float(areas[0] - np.mean(areas[1:]))
        return cls(rates[0], rates[1], area)

    def applied(self, metric: Metric, rates: Rates, prior: float) -> Rates:
        """Return rates with this added."""
        tpr, fpr = (
            float(np.clip(rate + change, 0.0, 1.0))
            for rate, change in ((rates.tpr, self.tpr), (rates.fpr, self.fpr))
        )
        value = None if metric.cuts else float(np.clip(rates.metric + self.area, 0.0, 1.0))
        return rates_of(metric, tpr, fpr, prior, value)


class Final(NamedTuple):
    """A line that cuts at zero, held-out scores on its scale, and what is known of it."""

    line: FloatArray
    scores: FloatArray
    facts: Finalized


def finalize(
    metric: Metric, selection: Selection, lines: Lines, rows: TrainingRows | None = None
) -> Final:
    """Set the threshold of the chosen candidate, and say what to expect on new rows.

    Parameters
    ----------
    metric : Metric
    selection : Selection
    lines : Lines
        Of the candidate that was chosen, in the units of the selection's rows.
    rows : TrainingRows, optional
        That set the threshold, where they are more than those of the selection.
    """
    rows = selection.rows if rows is None else rows
    aligned = lines.aligned(rows)
    if rows is selection.rows:
        selection = selection.with_scores(aligned.held_out)
    choice = Choice.of(metric, selection, sizes_of(rows))
    threshold, curve, place = fit_threshold(choice.at, rows, aligned.held_out, metric)
    change = None
    if lines.without:
        change = Change.of(metric, rows, aligned.every, threshold)
    line = aligned.refit.copy()
    line[-1] -= threshold
    facts = Finalized.of(choice, threshold, curve, place, change)
    return Final(line, aligned.held_out - threshold, facts)


def fit_threshold(
    metric: Metric, rows: TrainingRows, scores: FloatArray, asked: Metric | None = None
) -> tuple[float, Curve, int]:
    """Return the best threshold on rows, their curve, and the threshold's index on it.

    Parameters
    ----------
    metric : Metric
    rows : TrainingRows
    scores : array of shape (n,)
    asked : Metric, optional
        The metric that the user gave, of which this one has a stricter limit.
    """
    curve = curves(rows.positive, rows.weight)(scores)
    threshold, _, place = metric.best(curve)
    fewest = min(sizes_of(rows))
    if fewest < _FEW:
        warn(
            f"one class has {fewest:.3g} rows only, so the threshold and the rates rest on "
            "very little; gather more of them, or see operating_point_.intervals",
            FewRowsWarning,
            stacklevel=6,
        )
    if np.isinf(threshold):
        # One class for every row is best: a finite threshold that none of the rows passes.
        reach = float(np.ptp(scores)) or 1.0
        end = scores.max() + reach if threshold > 0 else scores.min() - reach
        label = "negative" if threshold > 0 else "positive"
        named = metric if asked is None else asked
        advice = (
            "Try a metric that does not depend on the prior (such as 'balanced_error' or "
            "RecallAtFPR), class_weight='balanced', or other features."
            if named.limit is None
            else "Give more rows, a looser limit, or other features."
        )
        warn(
            f"every row is predicted {label}: no line of the family does better by {named} on "
            f"these rows. {advice}",
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
