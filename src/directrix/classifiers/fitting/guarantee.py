"""Thresholds that keep limits on new rows with a confidence that holds for any scores.

Rows that neither fitted nor chose anything set the threshold. Several limits are kept together:
each with a confidence so high that all are kept with the one that is asked for (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import binom

from directrix.classifiers.fitting.assessment import Assessment
from directrix.classifiers.fitting.choice import sizes_of
from directrix.classifiers.fitting.intervals import intervals_of, rates_of
from directrix.exceptions import OutOfReachError
from directrix.frontier.compare import curve_maker
from directrix.metrics import Curve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics import Metric

#: Rates that may be limited: whether from above, and what they are called.
RATES = {
    "fpr": (True, "false-positive rate"),
    "alerts": (True, "share of rows predicted positive"),
    "recall": (False, "recall"),
    "precision": (False, "precision"),
}
#: How many times as many rows are looked at before a limit is called out of reach.
_MANY_TIMES = 1e4
_GRID = 100


class RateLimit(NamedTuple):
    """A limit on a rate of new rows.

    Parameters
    ----------
    rate : "fpr", "alerts", "recall" or "precision"
    value : float
    """

    rate: str
    value: float

    def counted(self, tp: FloatArray, fp: FloatArray) -> tuple[FloatArray, int, float]:
        """Return rows on the wrong side of each threshold, of how many, and what share may be.

        For the limits whose rates rise, or fall, with every row above the threshold.

        Parameters
        ----------
        tp, fp : array of shape (m,)
            Positives and negatives above each threshold; the last is below all rows.
        """
        if self.rate == "fpr":
            return fp, round(fp[-1]), self.value
        if self.rate == "alerts":
            return tp + fp, round(tp[-1] + fp[-1]), self.value
        return tp[-1] - tp, round(tp[-1]), 1.0 - self.value

    def __str__(self) -> str:
        at_most, _ = RATES[self.rate]
        return f"{self.rate} {'<=' if at_most else '>='} {self.value:g}"


@dataclass(frozen=True)
class Guarantee:
    """Limits that are all kept on new rows with a confidence.

    Parameters
    ----------
    limits : tuple of RateLimit
    confidence : float
    """

    limits: tuple[RateLimit, ...]
    confidence: float

    @classmethod
    def of(cls, metric: Metric, limits: Mapping[str, float] | None, confidence: float) -> Guarantee:
        """Take the limits given, or that of the metric; refuse what cannot be kept."""
        if not 0 < confidence < 1:
            msg = f"guarantee must be a confidence between 0 and 1, not {confidence!r}"
            raise ValueError(msg)
        if limits is None:
            return cls((limit_of(metric),), confidence)
        named = ", ".join(RATES)
        if not limits or not set(limits) <= set(RATES):
            msg = f"limits must map some of {named} to a share, not {limits!r}"
            raise ValueError(msg)
        for rate, value in limits.items():
            if not 0 < value < 1:
                msg = f"the limit of {rate} must be a share between 0 and 1, not {value!r}"
                raise ValueError(msg)
        return cls(tuple(RateLimit(rate, float(limits[rate])) for rate in limits), confidence)

    @property
    def each(self) -> float:
        """Confidence with which each limit is kept, so that all are with that of the guarantee."""
        return 1.0 - (1.0 - self.confidence) / len(self.limits)

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.limits))}, with confidence {self.confidence:g}"

    def grid(self, curve: Curve | None) -> list[GridPoint]:
        """Return where a precision is tested, from the held-out scores of other rows."""
        wanted = [limit.value for limit in self.limits if limit.rate == "precision"]
        return precision_grid(curve, wanted[0]) if wanted and curve is not None else []

    def threshold(self, metric: Metric, curve: Curve, grid: Sequence[GridPoint] = ()) -> float:
        """Return a threshold that keeps all limits: the best of these for the metric.

        It lies strictly between two scores, so that rows are on the side that was counted.

        Parameters
        ----------
        metric : Metric
        curve : Curve
            Of the rows that set the threshold, each counted once.
        grid : sequence of GridPoint
            From other rows, the most promising first: thresholds at which a precision is tested.
        """
        places = self._places(curve)
        precise = [limit for limit in self.limits if limit.rate == "precision"]
        if not precise:
            place = _best_place(metric, curve, places)
            return finite_threshold(curve, place)
        able = self._precise(curve, places, precise[0], grid)
        chosen = _best_place(metric, curve, np.array([place for place, _ in able]))
        return next(threshold for place, threshold in able if place == chosen)

    def _places(self, curve: Curve) -> AnyArray:
        """Return the thresholds that keep the limits whose rates rise with every row above."""
        tp, fp = curve.true_positives, curve.false_positives
        able = np.ones(len(tp), dtype=bool)
        for limit in self.limits:
            if limit.rate == "precision":
                continue
            wrong, n, value = limit.counted(tp, fp)
            k = most_above(n, value, self.each)
            if k < 0:
                raise self._too_few(limit, n, rows_needed(value, self.each))
            kept = able & (wrong <= k)
            if not kept.any():
                raise self._out_of_reach(limit, curve)
            able = kept
        return np.flatnonzero(able)

    def _precise(
        self, curve: Curve, places: AnyArray, limit: RateLimit, grid: Sequence[GridPoint]
    ) -> list[tuple[int, float]]:
        """Return the thresholds at which a precision is certain, tested in a fixed sequence.

        Each is tested with the whole confidence until one fails: whichever the first false one
        is, it passes with no more than the remaining probability.
        """
        tp, fp = curve.true_positives, curve.false_positives
        certain = []
        for point in grid:
            place = int(np.count_nonzero(curve.levels > point.threshold))
            above, right = round(tp[place] + fp[place]), round(tp[place])
            # P(Bin(above, p) >= right) where the precision is only p.
            if not above or binom.sf(right - 1, above, limit.value) > 1.0 - self.each:
                break
            certain.append((place, point.threshold))
        kept = [each for each in certain if each[0] in set(places.tolist())]
        if not kept:
            raise self._out_of_reach(limit, curve)
        return kept

    def _too_few(self, limit: RateLimit, n: int, needed: int) -> OutOfReachError:
        which = {"fpr": "negatives", "recall": "positives"}.get(limit.rate, "rows")
        msg = (
            f"{limit} with confidence {self.each:.4g} needs {needed} {which} among the rows that "
            f"set the threshold, and there are {n}: give more rows, a looser limit or a lower "
            "guarantee"
        )
        return OutOfReachError(msg, limit, n, needed)

    def _out_of_reach(self, limit: RateLimit, curve: Curve) -> OutOfReachError:
        """Say which limit cannot be kept, and how many rows of the same kind would do."""
        n = round(curve.positives + curve.negatives)
        factor = 1.0
        while factor <= _MANY_TIMES and not self._would_do(curve, factor):
            factor *= 1.25
        others = ", ".join(str(each) for each in self.limits if each != limit)
        beside = f" together with {others}" if others else ""
        needed = round(n * factor) if factor <= _MANY_TIMES else None
        advice = (
            f"about {needed:,} rows to set the threshold would do, and there are {n:,}"
            if needed is not None
            else f"no number of rows would do: the {n:,} rows that set the threshold do not keep it"
        )
        msg = (
            f"no threshold keeps {limit}{beside} with confidence {self.confidence:g}: {advice}. "
            "Give more rows, looser limits, a lower guarantee, or other features"
        )
        return OutOfReachError(msg, limit, n, needed)

    def _would_do(self, curve: Curve, factor: float) -> bool:
        """Tell whether so many times as many rows with these rates would keep all limits."""
        tp, fp = factor * curve.true_positives, factor * curve.false_positives
        able = np.ones(len(tp), dtype=bool)
        for limit in self.limits:
            if limit.rate == "precision":
                above = np.rint(tp + fp)
                chance = binom.sf(np.rint(tp) - 1, above, limit.value)
                able &= (above > 0) & (chance <= 1.0 - self.each)
                continue
            wrong, n, value = limit.counted(tp, fp)
            able &= wrong <= most_above(n, value, self.each)
        return bool(able.any())


class GridPoint(NamedTuple):
    """A threshold at which a precision may be tested, and how sure other rows are of it."""

    threshold: float
    promise: float


def precision_grid(curve: Curve, precision: float) -> list[GridPoint]:
    """Return thresholds from rows that do not test them: the most promising, then lower ones.

    Parameters
    ----------
    curve : Curve
        Of held-out scores on the same scale.
    precision : float
        To be tested.
    """
    above = curve.true_positives + curve.false_positives
    wanted = np.unique(np.geomspace(1, above[-1], _GRID).astype(np.int64))
    places = np.unique(np.searchsorted(above, wanted))
    places = places[(places > 0) & (places < len(above) - 1)]
    seen = curve.precision[places]
    error = np.sqrt(precision * (1.0 - precision) / above[places])
    promise = (seen - precision) / error
    first = int(promise.argmax()) if len(places) else 0
    return [
        GridPoint(curve.threshold(int(place)), float(sure))
        for place, sure in zip(places[first:], promise[first:], strict=True)
    ]


def _best_place(metric: Metric, curve: Curve, places: AnyArray) -> int:
    """Return the threshold that is best for a metric, of those that keep the limits."""
    limit = metric.limit
    if limit is not None and limit.rate == "fpr":
        return int(places.max())  # the more are caught
    if limit is not None and limit.rate == "tpr":
        return int(places.min())  # the fewer false alarms
    if not metric.cuts:
        values = curve.tpr[places] - curve.fpr[places]
        return int(places[np.argmax(values)])
    values = metric.at_rates(curve.tpr[places], curve.fpr[places], curve.prior)
    best = np.argmax(values) if metric.greater_is_better else np.argmin(values)
    return int(places[best])


def finite_threshold(curve: Curve, place: int) -> float:
    """Return a threshold strictly between two scores, or beyond the last one."""
    threshold = curve.threshold(place)
    if np.isfinite(threshold):
        return threshold
    reach = float(np.ptp(curve.levels)) or 1.0
    return float(curve.levels[0] + reach if threshold > 0 else curve.levels[-1] - reach)


def most_above(n: int, limit: float, confidence: float) -> int:
    r"""Return how many of n rows of a class may be above the threshold; -1 if n is too small.

    .. math:: \max \{k : P(\mathrm{Bin}(n, \alpha) \le k) \le 1 - c\}

    Let the threshold be the (k + 1)-th highest score of n independent rows. The share of new rows
    above it exceeds α only if at most k of the n are above the α-quantile, whose probability is
    that of the binomial: exact for continuous scores, and smaller with ties.
    """
    k = int(binom.ppf(1.0 - confidence, n, limit))
    while k >= 0 and binom.cdf(k, n, limit) > 1.0 - confidence:
        k -= 1
    return k


def rows_needed(limit: float, confidence: float) -> int:
    """Return the fewest rows of the class with which any threshold can be guaranteed."""
    return int(np.ceil(np.log(1.0 - confidence) / np.log(1.0 - limit)))


def assess_guaranteed(
    metric: Metric, guarantee: Guarantee, curve: Curve, place: int, sizes: Any
) -> Assessment:
    """Assess a guaranteed threshold on the rows set apart, which did nothing but set it.

    The threshold is next to one of their scores: where k of n rows are on the wrong side of it,
    k + 1 of n + 1 new ones are to be expected. Other rates are as they are on these rows.

    Parameters
    ----------
    metric : Metric
    guarantee : Guarantee
    curve : Curve
    place : int
        Index of the threshold on the curve.
    sizes : Sizes
        Of these rows.
    """
    tpr, fpr = float(curve.tpr[place]), float(curve.fpr[place])
    value = None if metric.cuts else metric.best_value(curve)
    seen = rates_of(metric, tpr, fpr, curve.prior, value)
    limited = {limit.rate for limit in guarantee.limits}
    if limited & {"fpr", "alerts"}:
        fpr = (fpr * sizes.n_neg + 1.0) / (sizes.n_neg + 1.0)
    if "recall" in limited:
        tpr = tpr * sizes.n_pos / (sizes.n_pos + 1.0)
    expected = rates_of(metric, tpr, fpr, curve.prior, value)
    intervals = intervals_of(metric, expected, curve, sizes)
    name = "rows set apart for the guarantee"
    return Assessment(seen, expected, intervals, name, guarantee=str(guarantee))


def threshold_from_rows(
    metric: Metric, guarantee: Guarantee, apart: TrainingRows, scores: FloatArray, grid: Any
) -> tuple[float, Assessment]:
    """Return the threshold that rows set apart keep the limits at, and what they say of it."""
    counted = curve_maker(apart.positive, np.ones(len(scores)))(scores)  # each row once
    threshold = guarantee.threshold(metric, counted, grid)
    curve = curve_maker(apart.positive, apart.weight)(scores)
    place = int(np.count_nonzero(curve.levels > threshold))
    return threshold, assess_guaranteed(metric, guarantee, curve, place, sizes_of(apart))


def limit_of(metric: Metric) -> RateLimit:
    """Return the limit of a metric on one rate of new rows; refuse metrics without one."""
    limit = metric.limit
    if limit is not None:
        return RateLimit({"tpr": "recall"}.get(limit.rate, limit.rate), limit.value)
    msg = (
        f"guarantee= keeps a limit, as RecallAtFPR, FPRAtRecall, PrecisionAtRecall and "
        f"RecallAtPrecision have one, and {metric} has none: leave it out, or give limits="
    )
    raise ValueError(msg)
