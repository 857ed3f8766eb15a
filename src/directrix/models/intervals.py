"""Confidence intervals of rates and metrics from effective sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from directrix.metrics import AUC
from directrix.metrics.curve import precision_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.metrics.base import Metric
    from directrix.metrics.curve import Curve

_LEVEL = 0.95
_DRAWS = 2000


class Rates(NamedTuple):
    """Rates at a threshold, and the value of the metric."""

    tpr: float
    fpr: float
    precision: float
    metric: float


class Intervals(NamedTuple):
    """Lower and upper end of the interval of each rate and of the metric."""

    tpr: tuple[float, float]
    fpr: tuple[float, float]
    precision: tuple[float, float]
    metric: tuple[float, float]


class EffectiveCounts(NamedTuple):
    """Effective sample size of each class."""

    n_pos: float
    n_neg: float

    @property
    def variance_by_chance(self) -> float:
        """Variance of the area under the ROC curve of random scores (Mann and Whitney 1947)."""
        return (self.n_pos + self.n_neg + 1.0) / (12.0 * self.n_pos * self.n_neg)

    def over(self, factor: float) -> EffectiveCounts:
        """Return the sizes divided by a factor."""
        return EffectiveCounts(self.n_pos / factor, self.n_neg / factor)

    def less_sure(self, shown: Rates, expected: Rates) -> EffectiveCounts:
        """Return smaller sizes: what rates promised too much is known as badly as it is large.

        The variance of a rate, :math:`p (1 - p) / n`, grows by the square of its correction.
        """
        sizes = []
        for n_rows, before, after in zip(self, shown[:2], expected[:2], strict=True):
            variance = max(after * (1.0 - after), 1.0 / max(n_rows, 1.0)) / n_rows
            sizes.append(n_rows / (1.0 + (before - after) ** 2 / variance))
        return EffectiveCounts(*sizes)


def intervals_of(
    metric: Metric, rates: Rates, curve: Curve, sizes: EffectiveCounts, level: float = _LEVEL
) -> Intervals:
    r"""Return the intervals of rates (Wilson) and of a metric, on the curve of the scores.

    A metric with a threshold is a function of both rates and of the share of positives. Each is
    drawn from its posterior, :math:`\mathrm{Beta}(k + \frac12, n - k + \frac12)`, so that nothing
    is held fixed that would differ in another sample, and an interval has positive width even if
    no row was wrong. A ranking has DeLong's interval.
    """
    predicted = rates.tpr * sizes.n_pos + rates.fpr * sizes.n_neg
    intervals = Intervals(
        wilson(rates.tpr, sizes.n_pos, level),
        wilson(rates.fpr, sizes.n_neg, level),
        wilson(rates.precision, predicted, level),
        (rates.metric, rates.metric),
    )
    if not metric.uses_threshold:
        variance = ranking_variance(curve, sizes, metric)
        return intervals._replace(metric=on_logit_scale(rates.metric, variance, level))
    tpr, fpr, share = _posterior_draws(metric, rates, curve, sizes)
    ends = {"metric": _quantile_interval(metric.at_rates(tpr, fpr, share), rates.metric, level)}
    if metric.limit is not None:
        if metric.limit.rate != "tpr":
            ends["tpr"] = _quantile_interval(tpr, rates.tpr, level)
        if metric.limit.rate != "fpr":
            ends["fpr"] = _quantile_interval(fpr, rates.fpr, level)
        ends["precision"] = precision_interval(metric, rates, curve, sizes, level)
    return intervals._replace(**ends)


def precision_interval(
    metric: Metric, rates: Rates, curve: Curve, sizes: EffectiveCounts, level: float = _LEVEL
) -> tuple[float, float]:
    """Return the interval of the precision if the threshold itself is uncertain.

    Both rates and the share of positives vary; Wilson's interval takes the rows that are predicted
    positive as given.
    """
    draws = precision_of(*_posterior_draws(metric, rates, curve, sizes))
    return _quantile_interval(draws, rates.precision, level)


def _posterior_draws(
    metric: Metric, rates: Rates, curve: Curve, sizes: EffectiveCounts
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return posterior draws of both rates and of the share of positives.

    If a limit on one rate sets the threshold, the other rate moves with it along the curve: the
    steeper the curve there, the less certain the other rate is.
    """
    rng = np.random.default_rng(0)
    n = sizes.n_pos + sizes.n_neg
    tpr, fpr, share = (
        rng.beta(value * size + 0.5, (1.0 - value) * size + 0.5, _DRAWS)
        for value, size in ((rates.tpr, sizes.n_pos), (rates.fpr, sizes.n_neg), (curve.prior, n))
    )
    limited = None if metric.limit is None else metric.limit.rate
    if limited == "fpr":
        along = np.interp([*fpr, rates.fpr], curve.fpr, curve.tpr)
        tpr = np.clip(tpr + along[:-1] - along[-1], 0.0, 1.0)
    elif limited == "tpr":
        along = np.interp([*tpr, rates.tpr], curve.tpr, curve.fpr)
        fpr = np.clip(fpr + along[:-1] - along[-1], 0.0, 1.0)
    return tpr, fpr, share


def _quantile_interval(draws: FloatArray, value: float, level: float) -> tuple[float, float]:
    """Return the central interval of draws, extended to contain the value."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return float(min(low, value)), float(max(high, value))


def ranking_variance(curve: Curve, sizes: EffectiveCounts, metric: Any) -> float:
    r"""Return the variance of a ranking metric.

    .. math:: \mathrm{Var}(V_+) / n_+ + \mathrm{Var}(V_-) / n_-

    with what rows contribute, V (`RankingMetric.row_values`). Where classes are separated all V
    are equal: the variance is at least that of an area half a row below one (Hanley and McNeil
    1982).
    """
    variance = _covariance(metric.row_values(curve), metric.row_values(curve), curve, sizes)
    fewest = max(min(sizes), 1.0)
    area = 1.0 - 0.5 / (fewest + 1.0)
    return max(variance, area * (1.0 - area) / fewest / 3.0)


def slope_on_area(metric: Any, curve: Curve, sizes: EffectiveCounts) -> float:
    """Return by how much a ranking metric rises with the AUC, if rows make both larger by chance.

    This is the slope of the regression of the one on the other over samples of rows, from what
    rows contribute to each (`RankingMetric.row_values`).
    """
    values, areas = metric.row_values(curve), AUC().row_values(curve)
    variance = _covariance(areas, areas, curve, sizes)
    return _covariance(values, areas, curve, sizes) / variance if variance else 0.0


def _covariance(
    first: Sequence[FloatArray], second: Sequence[FloatArray], curve: Curve, sizes: EffectiveCounts
) -> float:
    """Return the covariance of two ranking metrics, from what rows of each class contribute."""
    covariance = 0.0
    rows = curve.true_positives, curve.false_positives
    for one, other, above, size in zip(first, second, rows, sizes, strict=True):
        share = np.diff(above) / above[-1]
        centred = (one - share @ one) * (other - share @ other)
        covariance += float(share @ centred) / max(size, 1.0)
    return covariance


def interval_method(metric: Metric) -> str:
    """Return the method of the interval of a metric in words."""
    return getattr(metric, "variance_method", "posterior draws")


def on_logit_scale(value: float, variance: float, level: float = _LEVEL) -> tuple[float, float]:
    """Return a normal interval of a share on the scale of its log-odds, which stays in (0, 1)."""
    inside = float(np.clip(value, 1e-9, 1.0 - 1e-9))
    deviation = float(np.sqrt(variance))
    # Near 0 and 1 use the slope of the log-odds one standard deviation further in.
    at = float(np.clip(inside, min(deviation, 0.5), 1.0 - min(deviation, 0.5)))
    reach = float(ndtri(0.5 + level / 2.0)) * deviation / (at * (1.0 - at))
    ends = expit(logit(at) + reach * np.array([-1.0, 1.0]))
    return float(min(ends[0], value)), float(max(ends[1], value))


def wilson(share: float, n: float, level: float = _LEVEL) -> tuple[float, float]:
    r"""Return Wilson's interval of a share of n rows.

    .. math:: \frac{p + z^2/2n \pm z \sqrt{p (1 - p) / n + z^2 / 4 n^2}}{1 + z^2 / n}

    SciPy's function takes integer counts; effective sample sizes are not integers.
    """
    if n <= 0:
        return 0.0, 1.0
    z = float(ndtri(0.5 + level / 2.0))
    middle = share + z * z / (2.0 * n)
    reach = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    below = 1.0 + z * z / n
    low, high = max((middle - reach) / below, 0.0), min((middle + reach) / below, 1.0)
    return float(min(low, share)), float(max(high, share))  # rounding at 0 and 1


def effective_rows(
    weight: FloatArray, group: IntArray | None = None, copies: IntArray | None = None
) -> float:
    r"""Return the effective sample size, :math:`(\sum\omega)^2 / \sum\omega^2`.

    Rows of one group count as one row with all their weight, because they may all be alike. A row
    that stands for k copies counts as k rows, each with a k-th of its weight.
    """
    if group is not None:
        member = np.unique(group, return_inverse=True)[1]
        weight = np.bincount(member, weight).astype(np.float64)
    total = float(weight.sum())
    squares = weight**2 if copies is None or group is not None else weight**2 / copies
    return total**2 / float(squares.sum()) if total else 0.0


def rates_of(metric: Metric, tpr: float, fpr: float, prior: float, value: float | None) -> Rates:
    """Return rates with the precision and the metric; `value` is given for a ranking."""
    if value is None:
        value = float(metric.at_rates(tpr, fpr, prior))
    return Rates(tpr, fpr, float(precision_of(tpr, fpr, prior)), value)
