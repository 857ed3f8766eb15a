"""RefitChange: what the model that is fitted to all rows gains over those of the folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.classifiers.fitting.intervals import Rates, rates_of
from directrix.frontier.compare import curve_maker

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics.base import Metric


class RefitChange(NamedTuple):
    r"""Difference between the refitted line and the lines of the folds, all on all rows.

    .. math:: R_n(\hat f) - \frac1K \sum_k R_n(\hat f_{-k})

    The lines of the folds are fitted to fewer rows, and are worse for it than the refitted line.
    Burman 1989 adds this difference to the cross-validated estimate.

    Parameters
    ----------
    tpr, fpr, area : float
    growth : float
        By what factor the distance of the classes' scores can grow with the rows of one more fold:
        the root of the ratio of rows, as where noise prevails.
    chance : float
        Area of scores that know nothing.
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
