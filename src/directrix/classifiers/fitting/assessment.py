"""What to expect of a chosen line on new rows: rates at its threshold, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.classifiers.fitting.choice import Choice, sizes_of
from directrix.classifiers.fitting.intervals import Intervals, Rates, intervals_of, rates_of
from directrix.frontier.compare import curve_maker

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics import Curve, Metric

#: Standard deviation of a claim about the truth, relative to that of the rate of as many rows: the
#: candidate, the threshold and the models of the folds vary with the rows too. Measured on samples
#: of real populations (benchmarks/studies/honesty). At a limit the curve itself shows how the
#: metric varies with the threshold, so that less is left.
_SPREAD, _SPREAD_AT_LIMIT = 1.7, 1.4


class Assessment(NamedTuple):
    """Rates of a line at its threshold.

    Parameters
    ----------
    empirical : Rates
        On the rows that chose the candidate and the threshold.
    expected : Rates
        On new rows.
    intervals : Intervals
        95 % intervals of the expected rates.
    rows : str
        Which rows these were.
    choice : Choice, optional
        The choice among candidates, if there was one.
    guarantee : str, optional
        Limits that are kept on new rows, and with what confidence.
    """

    empirical: Rates
    expected: Rates
    intervals: Intervals
    rows: str
    choice: Choice | None = None
    guarantee: str | None = None

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

        Parameters
        ----------
        choice : Choice
        curve : Curve
            Of the held-out scores.
        index : int
            Index of the threshold on the curve.
        rows : str
            Which rows these are.
        change : RefitChange, optional
            How the line refitted to all rows differs from those of the folds.
        """
        metric = choice.metric
        rates = float(curve.tpr[index]), float(curve.fpr[index])
        value = None if metric.cuts else metric.best_value(curve)
        empirical = rates_of(metric, *rates, curve.prior, value)
        expected = choice.expected()
        if change is not None:
            expected = change.applied(metric, expected, curve.prior)
        sizes = choice.sizes.over(_SPREAD if metric.limit is None else _SPREAD_AT_LIMIT)
        intervals = intervals_of(metric, expected, curve, sizes)
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


class RefitChange(NamedTuple):
    r"""Difference between the refitted line and the lines of the folds, all on all rows.

    .. math:: R_n(\hat f) - \frac1K \sum_k R_n(\hat f_{-k})

    The lines of the folds are fitted to fewer rows, and are worse for it than the refitted line.
    Burman 1989 adds this difference to the cross-validated estimate.

    Parameters
    ----------
    tpr, fpr, area : float
    """

    tpr: float
    fpr: float
    area: float

    @classmethod
    def of(
        cls, metric: Metric, rows: TrainingRows, every: FloatArray, threshold: float
    ) -> RefitChange:
        """Compare the scores of the refitted line with those of the folds' lines.

        Parameters
        ----------
        metric : Metric
        rows : TrainingRows
        every : array of shape (n, 1 + folds)
            Scores of all rows by the refitted line, first, and by the line of each fold.
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
            curve_of = curve_maker(rows.positive, rows.weight)
            areas = [metric.best_value(curve_of(column)) for column in every.T]
            area = float(areas[0] - np.mean(areas[1:]))
        return cls(rates[0], rates[1], area)

    def applied(self, metric: Metric, rates: Rates, prior: float) -> Rates:
        """Return the rates with the difference added."""
        tpr, fpr = (
            float(np.clip(rate + change, 0.0, 1.0))
            for rate, change in ((rates.tpr, self.tpr), (rates.fpr, self.fpr))
        )
        value = None if metric.cuts else float(np.clip(rates.metric + self.area, 0.0, 1.0))
        return rates_of(metric, tpr, fpr, prior, value)
