"""Assessment: rates of a line at its threshold, on held-out rows and expected on new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.fitting.choice import Choice, sizes_of
from directrix.frontier.compare import curve_maker
from directrix.models.intervals import (
    Intervals,
    Rates,
    intervals_of,
    on_logit_scale,
    precision_interval,
    ranking_variance,
    rates_of,
)
from directrix.models.report import Estimate

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.fitting.training_rows import TrainingRows
    from directrix.metrics.base import Metric
    from directrix.metrics.curve import Curve

#: Standard deviation of a claim about the truth, relative to that of the rate of as many rows: the
#: candidate, the threshold and the models of the folds vary with the rows too. Measured on samples
#: of real populations (benchmarks/studies/new_rows). At a limit the curve itself shows how the
#: metric varies with the threshold, so that less is left.
_SPREAD, _SPREAD_AT_LIMIT = 1.7, 1.4
#: Rows of a class, by weight, of which one can be held out; rounding may take a little off.
_FEWEST = 2.0 - 1e-9


class RefitChange(NamedTuple):
    r"""Difference between the refitted line and the lines of the folds, all on all rows.

    .. math:: R_n(\hat f) - \frac1K \sum_k R_n(\hat f_{-k})

    The lines of the folds are fitted to fewer rows, and are worse for it than the refitted line.
    Burman 1989 adds this difference to the cross-validated estimate.

    ``growth``: by what factor the distance of the classes' scores can grow with the rows of one
    more fold: the root of the ratio of rows, as where noise prevails. ``chance``: area of scores
    that know nothing.
    """

    tpr: float
    fpr: float
    area: float
    growth: float = np.inf
    chance: float = 0.0

    @classmethod
    def of(
        cls, metric: Metric, rows: TrainingRows, every: FloatArray, threshold: float
    ) -> RefitChange:
        """Compare the scores of the refitted line with those of the folds' lines.

        ``every`` (n, 1 + folds): scores of all rows by the refitted line, first, and by the line of
        each fold.
        """
        above = every > threshold
        rates = []
        for side in (rows.positive, ~rows.positive):
            share = rows.weight[side] / rows.weight[side].sum()
            of_lines = share @ above[side]
            rates.append(float(of_lines[0] - of_lines[1:].mean()))
        area = chance = 0.0
        if not metric.uses_threshold:
            curve_of = curve_maker(rows.positive, rows.weight)
            areas = [metric.best_value(curve_of(column)) for column in every.T]
            area = float(areas[0] - np.mean(areas[1:]))
            chance = metric.best_value(curve_of(np.zeros(len(every))))
        folds = every.shape[1] - 1
        growth = float(np.sqrt(folds / (folds - 1))) if folds > 1 else np.inf
        return cls(rates[0], rates[1], area, growth, chance)

    def applied(self, metric: Metric, rates: Rates, prior: float) -> Rates:
        """Return the rates with the difference added, as far as more rows can make it.

        The refitted line knows all labels of these rows, and those of the folds most of them. If it
        has learned them by heart the difference is large even where nothing can be learned. What
        more rows cannot add they cannot take away either: a bound on one side only would be a bias.
        """
        share = self._share(rates)
        tpr, fpr = (
            float(np.clip(rate + share * change, 0.0, 1.0))
            for rate, change in ((rates.tpr, self.tpr), (rates.fpr, self.fpr))
        )
        value = None
        if not metric.uses_threshold:
            most = (self.growth - 1.0) * max(rates.metric - self.chance, 0.0)
            change = float(np.clip(self.area, -most, most))
            value = float(np.clip(rates.metric + change, 0.0, 1.0))
        return rates_of(metric, tpr, fpr, prior, value)

    def _share(self, rates: Rates) -> float:
        """Return the share of the changes that moves the classes apart, or together, no further."""
        before = rates.tpr - rates.fpr
        change = abs(self.tpr - self.fpr)
        most = (self.growth - 1.0) * max(before, 0.0)
        return 1.0 if change <= most else most / change


class Assessment(NamedTuple):
    """Rates of a line at its threshold.

    ``empirical``: on the rows that chose the candidate and the threshold. ``expected``: on new
    rows. ``intervals``: 95 % intervals of the expected rates. ``rows``: which rows these were.
    ``choice``: the choice among candidates, if there was one. ``guarantee``: limits that are kept
    on new rows, and with what confidence.
    """

    empirical: Rates
    expected: Rates
    intervals: Intervals
    rows: str
    choice: Choice | None = None
    guarantee: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether rows were held out, so that there is something to expect of new ones.

        A class of one row, by weight, is in every fit: its score says nothing of new rows.
        """
        return self.choice is None or min(self.choice.sizes) >= _FEWEST

    @property
    def estimate(self) -> Estimate:
        """The metric to expect on new rows, with its interval."""
        return Estimate(self.expected.metric, *self.intervals.metric)

    @property
    def chance(self) -> float:
        """The metric of scores that know nothing; NaN where no candidates were compared."""
        if self.choice is None:
            return float("nan")
        return self.choice.metric.chance(self.choice.prior, self.choice.parts.weight)

    @classmethod
    def of(
        cls,
        choice: Choice,
        curve: Curve,
        index: int,
        rows: str,
        change: RefitChange | None = None,
    ) -> Assessment:
        """Assess the chosen candidate at one threshold of its held-out curve.

        ``curve``: of the held-out scores. ``index``: index of the threshold on the curve. ``rows``:
        which rows these are. ``change``: how the line refitted to all rows differs from those of
        the folds.
        """
        metric = choice.metric
        rates = float(curve.tpr[index]), float(curve.fpr[index])
        value = None if metric.uses_threshold else metric.best_value(curve)
        empirical = rates_of(metric, *rates, curve.prior, value)
        expected = choice.expected(shown=empirical)
        optimism = empirical.metric - expected.metric
        if change is not None:
            expected = change.applied(metric, expected, curve.prior)
        expected = _no_better(metric, expected, empirical, curve.prior)
        sizes = choice.sizes.over(_SPREAD if metric.limit is None else _SPREAD_AT_LIMIT)
        less_sure = sizes.less_sure(empirical, expected)
        intervals = intervals_of(metric, expected, curve, less_sure)._replace(
            precision=precision_interval(metric, expected, curve, less_sure)
        )
        if not metric.uses_threshold:
            # What the choice promised too much is known as badly as it is large.
            variance = ranking_variance(curve, sizes, metric) + optimism**2
            intervals = intervals._replace(metric=on_logit_scale(expected.metric, variance))
        if metric.limit is not None:
            # The threshold itself rests on a count of few rows, whatever rate is expected.
            observed = intervals_of(metric, empirical, curve, sizes)
            rate = metric.limit.rate
            ends = getattr(observed, rate), getattr(intervals, rate)
            hull = min(low for low, _ in ends), max(high for _, high in ends)
            intervals = intervals._replace(**{rate: hull})
        return cls(empirical, expected, intervals, rows, choice)

    @classmethod
    def of_rows(cls, metric: Metric, rows: TrainingRows, scores: FloatArray) -> Assessment:
        """Assess a threshold at zero that the rows did not set: expect what they show."""
        curve = curve_maker(rows.positive, rows.weight)(scores)
        index = int(np.count_nonzero(curve.levels > 0))
        rates = float(curve.tpr[index]), float(curve.fpr[index])
        observed = rates_of(metric, *rates, curve.prior, None)
        intervals = intervals_of(metric, observed, curve, sizes_of(rows).over(_SPREAD))
        return cls(observed, observed, intervals, rows.name)


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
