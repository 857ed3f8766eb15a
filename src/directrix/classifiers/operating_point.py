"""OperatingPoint: what a line promises where it cuts, and what it does there on rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from directrix._normal import cdf, z_value
from directrix.metrics import Curve

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.metrics import Metric
    from directrix.moments.projection import ScoreMoments

_BINS = 1000
_RESAMPLES = 400


class Rates(NamedTuple):
    """Rates at a threshold, and the metric."""

    tpr: float
    fpr: float
    precision: float
    metric: float


class Intervals(NamedTuple):
    """Low and high end of each of the rates and of the metric."""

    tpr: tuple[float, float]
    fpr: tuple[float, float]
    precision: tuple[float, float]
    metric: tuple[float, float]


@dataclass(frozen=True)
class OperatingPoint:
    """Where a classifier cuts, and the rates there.

    Parameters
    ----------
    metric : Metric
        What the classifier was trained for.
    threshold : float
        Least score ``coef_ @ x`` that is predicted positive: minus the intercept.
    predicted : Rates
        From the four numbers of the scores, as if these were normal.
    empirical : Rates, optional
        On rows.
    rows : str, optional
        Which rows these were.
    intervals : Intervals, optional
        95 % intervals of the empirical rates (Wilson) and metric (bootstrap).
    """

    metric: Metric
    threshold: float
    predicted: Rates
    empirical: Rates | None = None
    rows: str | None = None
    _on_rows: OnRows | None = field(default=None, repr=False, compare=False)

    @cached_property
    def intervals(self) -> Intervals | None:
        """95 % intervals of the empirical rates (Wilson) and metric (bootstrap)."""
        return None if self._on_rows is None else self._on_rows.intervals(self.metric)

    def __str__(self) -> str:
        lines = [
            f"{self.metric}, threshold {self.threshold:.6g}",
            f"{'':10}{'predicted':>10}" + (f"{'on ' + str(self.rows):>30}" if self.rows else ""),
        ]
        for name in Rates._fields:
            line = f"{name:10}{getattr(self.predicted, name):10.4f}"
            if self.empirical is not None and self.intervals is not None:
                low, high = getattr(self.intervals, name)
                line += f"{getattr(self.empirical, name):14.4f}  {low:.4f} to {high:.4f}"
            lines.append(line)
        return "\n".join(lines)


@dataclass(frozen=True)
class OnRows:
    """What rows say of one line: its curve, where it cuts, and how many rows that rests on.

    Parameters
    ----------
    curve : Curve
    place : int
        Index of the threshold on the curve.
    n_pos, n_neg : float
        Rows of each class; with weights, as many equal ones as would be as sure.
    """

    curve: Curve
    place: int
    n_pos: float
    n_neg: float

    def rates(self, metric: Metric) -> Rates:
        """Return the rates at the threshold, and the metric."""
        curve, place = self.curve, self.place
        return Rates(
            float(curve.tpr[place]),
            float(curve.fpr[place]),
            float(curve.precision[place]),
            metric.value_at(curve, place),
        )

    def intervals(self, metric: Metric, level: float = 0.95) -> Intervals:
        """Return intervals of the rates and of the metric."""
        tpr, fpr, precision, _ = self.rates(metric)
        predicted = tpr * self.n_pos + fpr * self.n_neg
        return Intervals(
            wilson(tpr, self.n_pos, level),
            wilson(fpr, self.n_neg, level),
            wilson(precision, predicted, level),
            self.resampled(metric, level),
        )

    def resampled(self, metric: Metric, level: float = 0.95) -> tuple[float, float]:
        """Return the bootstrap interval of the metric, rows drawn within each class.

        Scores are drawn by bins of the curve, a thousand at most, the threshold always between
        two of them: sorting all rows hundreds of times would cost more than training.
        """
        curve, kept = self._thinned()
        steps = [
            np.diff(rows, prepend=0.0) for rows in (curve.true_positives, curve.false_positives)
        ]
        rng = np.random.default_rng(0)
        draws = []
        for _ in range(_RESAMPLES):
            positives, negatives = (
                np.cumsum(rng.multinomial(max(round(n), 1), step / step.sum()))
                * step.sum()
                / max(round(n), 1)
                for n, step in zip((self.n_pos, self.n_neg), steps, strict=True)
            )
            drawn = Curve(curve.levels, positives, negatives)
            draws.append(metric.value_at(drawn, kept))
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(draws, [tail, 1.0 - tail])
        return float(low), float(high)

    def _thinned(self) -> tuple[Curve, int]:
        """Return the curve at a thousand of its thresholds, the chosen one among them."""
        curve = self.curve
        weight = curve.true_positives / curve.positives + curve.false_positives / curve.negatives
        index = np.searchsorted(weight, np.linspace(0.0, weight[-1], _BINS))
        ends = (0, self.place, len(weight) - 1)
        index = np.unique(np.append(np.minimum(index, len(weight) - 1), ends))
        # Between two thresholds that are kept, the lowest score stands for all.
        kept = Curve(
            curve.levels[index[1:] - 1], curve.true_positives[index], curve.false_positives[index]
        )
        return kept, int(np.searchsorted(index, self.place))


def predicted_rates(scores: ScoreMoments, metric: Metric, n_rows: float) -> Rates:
    """Return the rates of normal scores at threshold zero, and the metric."""
    tpr = cdf(z_value(scores.mean_pos, scores.var_pos))
    fpr = cdf(z_value(scores.mean_neg, scores.var_neg))
    caught, wrong = scores.prior * tpr, (1.0 - scores.prior) * fpr
    precision = caught / (caught + wrong) if caught + wrong else 1.0
    return Rates(tpr, fpr, precision, float(metric.of_loss(metric.risk(n_rows).value(scores))))


def wilson(share: float, n: float, level: float) -> tuple[float, float]:
    r"""Return Wilson's interval of a share of n rows.

    .. math:: \frac{p + z^2/2n \pm z \sqrt{p (1 - p) / n + z^2 / 4 n^2}}{1 + z^2 / n}

    SciPy's takes whole counts; rows of unequal weight count in part.
    """
    if n <= 0:
        return 0.0, 1.0
    z = float(ndtri(0.5 + level / 2.0))
    middle = share + z * z / (2.0 * n)
    reach = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    below = 1.0 + z * z / n
    return float(max((middle - reach) / below, 0.0)), float(min((middle + reach) / below, 1.0))


def effective_rows(weight: FloatArray) -> float:
    r"""Return how many equal rows would be as sure: :math:`(\sum\omega)^2 / \sum\omega^2`."""
    total = float(weight.sum())
    return total**2 / float(weight @ weight) if total else 0.0
