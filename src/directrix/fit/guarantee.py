"""Thresholds that keep limits on new rows with a confidence that holds for any scores.

The threshold is set by rows that were used neither to fit nor to choose.

Several limits from above need no correction for their number, and neither do those of any number of
segments. All of them hold exactly if the threshold is at or above the largest of the scores at
which they just hold, and that largest score belongs to one of them: the bound of this one exceeds
it with the confidence that is asked for, and the threshold is no lower than any bound. The same is
true of limits from below. A limit from above and one from below, and a precision, share what may go
wrong (Bonferroni).

Each row counts once, whatever its weight: limits hold for rows that are drawn as these were. Rows
of a group are dependent, so that one row of each group counts, and limits hold for one row of each
new group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from warnings import warn

import numpy as np
from scipy.stats import binom

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import OutOfReachError, UnusedBudgetWarning, find_stacklevel
from directrix.fit.choice import sizes_of
from directrix.fit.money import stated_metric
from directrix.fit.operating_point import (
    EffectiveCounts,
    OperatingPoint,
    intervals_of,
    rates_of,
)
from directrix.fit.training_rows import Rows
from directrix.metrics.base import Curve, Metric
from directrix.metrics.budget import Budget
from directrix.metrics.limit import Limit
from directrix.metrics.segments import InEverySegment
from directrix.rows.keys import mix_bits

#: What a classifier takes as ``limits=``.
Limits = Mapping[str, float] | Budget | InEverySegment

#: Rates that may be limited, by the names that users give them, and whether from above.
RATES = {"fpr": ("fpr", True), "alerts": ("alerts", True)}
RATES |= {"recall": ("tpr", False), "precision": ("precision", False)}
_NAMES = {rate: name for name, (rate, _) in RATES.items()}
#: Multiples of the rows up to which a limit is searched for before it is called out of reach.
_MANY_TIMES = 1e4
_GRID = 100
#: One in so many rows sets the threshold of a guarantee, and does nothing else.
THRESHOLD_SHARE = 3
#: Parts of the rows that set a threshold, each of which is assessed by that of the others.
_PARTS = 10
#: Factor between numbers of rows that are tried.
_GROWTH = 1.25


def limit_text(limit: Limit) -> str:
    """Return a limit as users give it, such as ``fpr <= 0.01``."""
    return f"{_NAMES[limit.rate]} {'<=' if limit.at_most else '>='} {limit.value:g}"


def _counted(limit: Limit, tp: FloatArray, fp: FloatArray) -> tuple[FloatArray, int, float]:
    """Return the rows on the wrong side of every threshold, their total, and the share allowed.

    Defined for rates that rise, or fall, with every row above the threshold: not the precision.
    ``tp`` and ``fp`` are the positives and negatives above every threshold; the last threshold is
    below all rows.
    """
    if limit.rate == "fpr":
        return fp, round(fp[-1]), limit.value
    if limit.rate == "alerts":
        return tp + fp, round(tp[-1] + fp[-1]), limit.value
    return tp[-1] - tp, round(tp[-1]), 1.0 - limit.value


@dataclass(frozen=True)
class Guarantee:
    """Limits that are all kept on new rows, with a given confidence; maybe in every segment."""

    limits: tuple[Limit, ...]
    confidence: float
    budget: Budget | None = None
    in_segments: bool = False

    @classmethod
    def of(cls, metric: Metric, limits: Limits | None, confidence: float) -> Guarantee:
        """Return a guarantee of the given limits, or of the limit of the metric, validated."""
        if not 0 < confidence < 1:
            msg = f"guarantee must be a confidence between 0 and 1, not {confidence!r}"
            raise ValueError(msg)
        if limits is None:
            return cls((limit_of(metric),), confidence)
        if isinstance(limits, Budget):
            return cls((), confidence, limits)
        if isinstance(limits, InEverySegment):
            if "precision" in limits.limits:
                msg = "a precision is not kept in every segment: limit fpr, alerts or recall there"
                raise ValueError(msg)
            plain = cls.of(metric, limits.limits, confidence)
            return replace(plain, in_segments=True)
        named = ", ".join(RATES)
        if not limits or not set(limits) <= set(RATES):
            msg = (
                f"limits must map some of {named} to a share, not {limits!r}; a number of alerts "
                "is limited by Budget(200)"
            )
            raise ValueError(msg)
        for rate, value in limits.items():
            if not 0 < value < 1:
                msg = f"the limit of {rate} must be a share between 0 and 1, not {value!r}"
                if rate == "alerts" and value > 1:
                    msg += f"; a number of alerts a day is Budget({value:g}, per='day')"
                raise ValueError(msg)
        made = (Limit(RATES[name][0], float(limits[name]), RATES[name][1]) for name in limits)
        return cls(tuple(made), confidence)

    @classmethod
    def asked(
        cls, metric: Metric, limits: Limits | None, confidence: float | None, groups: Any = None
    ) -> Guarantee | None:
        """Return the guarantee that a classifier's parameters ask for; None without a confidence.

        Raises ValueError for limits without a confidence, for groups with a budget, and for limits
        of decisions row by row.
        """
        if confidence is None and limits is not None:
            msg = "limits= needs guarantee=, the confidence with which they hold, such as 0.95"
            raise ValueError(msg)
        made = None if confidence is None else cls.of(metric, limits, confidence)
        _refuse_with_limits(limits, metric, groups)
        return made

    @property
    def confidence_per_limit(self) -> float:
        """Confidence in every single limit, so that all hold with that of the guarantee.

        Limits on one side of the threshold share one; see the top of this file.
        """
        precise = any(limit.rate == "precision" for limit in self.limits)
        sides = {limit.at_most for limit in self.limits if limit.rate != "precision"}
        return 1.0 - (1.0 - self.confidence) / (len(sides) + precise)

    def __str__(self) -> str:
        where = " in every segment" if self.in_segments else ""
        limits = ", ".join(map(limit_text, self.limits))
        return f"{limits}{where}, with confidence {self.confidence:g}"

    def set_apart(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the rows to fit to, and those that keep the limits: nothing else may see them."""
        kept, apart = rows.set_apart(THRESHOLD_SHARE, by_segment=self.in_segments)
        return kept, apart.in_folds(1)

    def grid(self, curve: Curve | None) -> list[float]:
        """Return thresholds at which to test a precision, from held-out scores of other rows."""
        wanted = [limit.value for limit in self.limits if limit.rate == "precision"]
        return precision_grid(curve, wanted[0]) if wanted and curve is not None else []

    def threshold(
        self,
        metric: Metric,
        curve: Curve,
        grid: Sequence[float] = (),
        weighted: Curve | None = None,
        least: float = -np.inf,
        most: float = np.inf,
    ) -> float:
        """Return the threshold that is best for the metric among those that keep all limits.

        It lies strictly between two scores, so that rows are on the side that was counted.

        ``curve`` is the curve of the rows that set the threshold; see `counted_rows`. ``grid``
        has the thresholds at which a precision is tested, chosen on other rows, the most promising
        first. ``weighted`` is the curve of the same rows on which the metric is best; by default
        the same. No row at ``least`` or below is above the threshold, and every row at ``most`` or
        higher is.
        """
        allowed = np.arange(len(curve.tpr)) if self.in_segments else self._allowed(curve)
        first, last = np.count_nonzero(curve.levels >= most), np.count_nonzero(curve.levels > least)
        allowed = allowed[(first <= allowed) & (allowed <= last)]
        best_among = partial(metric.best_among, curve if weighted is None else weighted)
        precise = [limit for limit in self.limits if limit.rate == "precision"]
        if not precise:
            return finite_threshold(curve, best_among(allowed))
        certain = self._certain(curve, allowed, precise[0], grid)
        return certain[best_among(np.array(list(certain)))]

    def _allowed(self, curve: Curve) -> AnyArray:
        tp, fp = curve.true_positives, curve.false_positives
        able = np.ones(len(tp), dtype=bool)
        for limit in self.limits:
            if limit.rate == "precision":
                continue
            wrong, n, value = _counted(limit, tp, fp)
            k = most_above(n, value, self.confidence_per_limit)
            if k < 0:
                raise self._too_few(limit, n, rows_needed(value, self.confidence_per_limit))
            kept = able & (wrong <= k)
            if not kept.any():
                raise self._out_of_reach(limit, curve)
            able = kept
        return np.flatnonzero(able)

    def counted_rows(self, rows: Rows) -> FloatArray:
        """Return one for each row that counts, and zero for the others of its group.

        The first row of each group counts; if all limits are shares of one class, the first of each
        class. Rows are in the order of their keys, so the first is drawn at random.
        """
        once = np.ones(len(rows.positive))
        if rows.group is not None:
            by_class = all(limit.rate in {"fpr", "tpr"} for limit in self.limits)
            group = 2 * rows.group + rows.positive if by_class else rows.group
            first = np.unique(group, return_index=True)[1]
            once[np.isin(np.arange(len(once)), first, invert=True)] = 0.0
        return once

    def require_of_classes(self) -> None:
        """Refuse limits that depend on more than the rates of each class, which a sample has."""
        others = {limit.rate for limit in self.limits} - {"fpr", "tpr"}
        if others or self.budget is not None or self.in_segments:
            msg = "a summary keeps limits on fpr and recall: use DirectClassifier.fit for others"
            raise ValueError(msg)

    def bounds(self, curves: Iterable[tuple[Any, Curve]]) -> tuple[float, float]:
        """Return ``least`` and ``most`` of `threshold`: what the limits ask for in every segment.

        ``curves`` are the names of the segments and the curves of their rows, each counted once.
        Raises OutOfReachError for a segment with too few rows, and if no threshold is right for
        all.
        """
        least, most, n_rows = (-np.inf, None), (np.inf, None), 0
        for name, curve in curves:
            n_rows += round(curve.positives + curve.negatives)
            tp, fp = curve.true_positives, curve.false_positives
            for limit in self.limits:
                wrong, n, value = _counted(limit, tp, fp)
                k = most_above(n, value, self.confidence_per_limit)
                if k < 0:
                    needed = rows_needed(value, self.confidence_per_limit)
                    raise self._too_few(limit, n, needed, name)
                kept = np.flatnonzero(wrong <= k)
                if limit.at_most and kept[-1] < len(curve.levels):
                    least = max(least, (float(curve.levels[kept[-1]]), name), key=_bound)
                elif not limit.at_most and kept[0] > 0:
                    most = min(most, (float(curve.levels[kept[0] - 1]), name), key=_bound)
        if most[0] <= least[0]:
            limits = ", ".join(map(limit_text, self.limits))
            msg = (
                f"no threshold keeps {limits} in every segment with confidence "
                f"{self.confidence:g}: {least[1]!r} asks for one above {least[0]:.6g}, and "
                f"{most[1]!r} for one below {most[0]:.6g}. Loosen a limit, or pool= the two"
            )
            raise OutOfReachError(msg, self.limits[0], n_rows, None)
        return least[0], most[0]

    def _certain(
        self, curve: Curve, allowed: AnyArray, limit: Limit, grid: Sequence[float]
    ) -> dict[int, float]:
        """Return the thresholds at which a precision is certain, by their index on the curve.

        Fixed-sequence testing: every threshold is tested at the full confidence until one fails.
        Whichever is the first that breaks the limit, it passes with no more than the remaining
        probability.
        """
        tp, fp = curve.true_positives, curve.false_positives
        certain: dict[int, float] = {}
        for threshold in grid:
            index = int(np.count_nonzero(curve.levels > threshold))
            above, right = round(tp[index] + fp[index]), round(tp[index])
            # P(Bin(above, p) >= right) where the precision is only p.
            chance = binom.sf(right - 1, above, limit.value)
            if not above or chance > 1.0 - self.confidence_per_limit:
                break
            if index in allowed:
                certain.setdefault(index, threshold)
        if not certain:
            raise self._out_of_reach(limit, curve)
        return certain

    def _too_few(self, limit: Limit, n: int, needed: int, segment: Any = None) -> OutOfReachError:
        which = {"fpr": "negatives", "tpr": "positives"}.get(limit.rate, "rows")
        where, advice = ("", "a looser limit or a lower guarantee")
        if segment is not None:
            where = f" of segment {segment!r}"
            advice = f"pool={{{segment!r}: ...}} to make it part of another, or {advice}"
        msg = (
            f"{limit_text(limit)} with confidence {self.confidence_per_limit:.4g} needs {needed} "
            f"{which}{where} among the rows that set the threshold, and there are {n}: give more "
            f"rows, {advice}"
        )
        return OutOfReachError(msg, limit, n, needed)

    def _out_of_reach(self, limit: Limit, curve: Curve) -> OutOfReachError:
        """Return the error for a limit that no threshold keeps, with the rows it would take."""
        n = round(curve.positives + curve.negatives)
        factor = _GROWTH  # these rows do not keep it, whatever a test of all thresholds would say
        while factor <= _MANY_TIMES and not self._would_hold(curve, factor):
            factor *= _GROWTH
        others = ", ".join(limit_text(other) for other in self.limits if other != limit)
        beside = f" together with {others}" if others else ""
        needed = _rounded_up(n * factor) if factor <= _MANY_TIMES else None
        advice = (
            f"about {needed:,} rows to set the threshold would do, and there are {n:,}"
            if needed is not None
            else f"no number of rows would do: the {n:,} rows that set the threshold do not keep it"
        )
        msg = (
            f"no threshold keeps {limit_text(limit)}{beside} with confidence {self.confidence:g}: "
            f"{advice}. Give more rows, looser limits, a lower guarantee, or other features"
        )
        return OutOfReachError(msg, limit, n, needed)

    def _would_hold(self, curve: Curve, factor: float) -> bool:
        """Return whether ``factor`` times as many rows with these rates would keep all limits."""
        tp, fp = factor * curve.true_positives, factor * curve.false_positives
        able = np.ones(len(tp), dtype=bool)
        for limit in self.limits:
            if limit.rate == "precision":
                above = np.rint(tp + fp)
                chance = binom.sf(np.rint(tp) - 1, above, limit.value)
                able &= (above > 0) & (chance <= 1.0 - self.confidence_per_limit)
                continue
            wrong, n, value = _counted(limit, tp, fp)
            able &= wrong <= most_above(n, value, self.confidence_per_limit)
        return bool(able.any())


def _bound(named: tuple[float, Any]) -> float:
    return named[0]


def _rounded_up(n_rows: float) -> int:
    """Return a number of rows with two digits, the last rounded up: an estimate has no more."""
    unit = 10.0 ** max(int(np.floor(np.log10(n_rows))) - 1, 0)
    return int(np.ceil(n_rows / unit) * unit)


def precision_grid(curve: Curve, precision: float) -> list[float]:
    """Return thresholds at which to test a precision: the most promising, then lower ones.

    ``curve`` is the curve of held-out scores on the same scale, of other rows than those that test.
    ``precision`` is the limit to be tested.
    """
    above = curve.true_positives + curve.false_positives
    wanted = np.unique(np.geomspace(1, above[-1], _GRID).astype(np.int64))
    indices = np.unique(np.searchsorted(above, wanted))
    indices = indices[(indices > 0) & (indices < len(above) - 1)]
    error = np.sqrt(precision * (1.0 - precision) / above[indices])
    promise = (curve.precision[indices] - precision) / error
    first = int(promise.argmax()) if len(indices) else 0
    return [curve.threshold(int(index)) for index in indices[first:]]


def finite_threshold(curve: Curve, index: int) -> float:
    """Return a threshold of a curve, moved to a finite number beyond the scores if infinite."""
    threshold = curve.threshold(index)
    if np.isfinite(threshold):
        return threshold
    reach = float(np.ptp(curve.levels)) or 1.0
    return float(curve.levels[0] + reach if threshold > 0 else curve.levels[-1] - reach)


def most_above(n: int, limit: float, confidence: float) -> int:
    r"""Return how many of n rows of a class may be above the threshold; −1 if n is too small.

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
    """Return the fewest rows of a class with which any threshold can be guaranteed."""
    return int(np.ceil(np.log(1.0 - confidence) / np.log(1.0 - limit)))


def guaranteed_point(
    metric: Metric,
    guarantee: Guarantee,
    curve: Curve,
    index: int,
    threshold: float,
    sizes: EffectiveCounts,
    others: Iterable[tuple[float, float]] = (),
) -> OperatingPoint:
    """Return what to expect of a guaranteed threshold, by rows that did nothing but set it.

    If the threshold is next to one of their scores and k of n rows are on the wrong side of it,
    k + 1 of n + 1 new rows are expected to be. Other rates are as they are on these rows.

    ``index`` is the position of the threshold on the curve. ``sizes`` are the effective sample
    sizes of these rows. ``others`` are true- and false-positive rates that the same rows show in
    other ways; the intervals contain those of them all.
    """
    tpr, fpr = float(curve.tpr[index]), float(curve.fpr[index])
    value = None if metric.uses_threshold else metric.best_value(curve)
    measured = rates_of(metric, tpr, fpr, curve.prior, value)
    # In segments the threshold is next to a score of one of them, not of all rows.
    limited = set() if guarantee.in_segments else {limit.rate for limit in guarantee.limits}
    if index in (0, len(curve.tpr) - 1):  # it is far from all scores
        limited = set()
    if limited & {"fpr", "alerts"}:
        fpr = (fpr * sizes.n_neg + 1.0) / (sizes.n_neg + 1.0)
    if "tpr" in limited:
        tpr = tpr * sizes.n_pos / (sizes.n_pos + 1.0)
    expected = rates_of(metric, tpr, fpr, curve.prior, value)
    intervals = intervals_of(metric, expected, curve, sizes)
    for rates in others:
        shown = rates_of(metric, *rates, curve.prior, value)
        intervals = intervals.hull(intervals_of(metric, shown, curve, sizes))
    return OperatingPoint(
        metric,
        threshold,
        empirical=measured,
        rows="rows set apart for the guarantee",
        expected=expected,
        intervals=intervals,
        guarantee=str(guarantee),
    )


def point_of_rows(
    metric: Metric, guarantee: Guarantee, apart: Rows, scores: FloatArray, grid: Sequence[float]
) -> OperatingPoint:
    """Return the best threshold at which reserved rows keep the limits, and what to expect there.

    ``apart`` are the reserved rows, used neither to fit nor to choose, and ``scores`` theirs.
    """
    once = guarantee.counted_rows(apart)
    counted = Curve.of(apart.positive, scores, once)
    curve = Curve.of(apart.positive, scores, apart.weight)
    # Rows of segments are set apart in other shares than there are of them.
    alike = apart.costs is None and apart.group is None and not guarantee.in_segments
    weighted = None if alike else curve
    if guarantee.budget is not None:
        curves = counted, weighted
        return _within_budget(metric, guarantee, guarantee.budget, apart, scores, curves)
    bounds, segments = (-np.inf, np.inf), apart.segments
    if guarantee.in_segments and segments is not None:
        inside = [segments.number == number for number in range(len(segments.names))]
        curves_of = (Curve.of(apart.positive[one], scores[one], once[one]) for one in inside)
        bounds = guarantee.bounds(zip(segments.names, curves_of, strict=True))
    threshold = guarantee.threshold(metric, counted, grid, weighted, *bounds)
    index, once_index = (int(np.count_nonzero(c.levels > threshold)) for c in (curve, counted))
    others = [(float(counted.tpr[once_index]), float(counted.fpr[once_index]))]
    if not (guarantee.in_segments or grid):
        others += _rates_without_choice(metric, guarantee, apart, scores, once)
    sizes = sizes_of(apart)
    return guaranteed_point(metric, guarantee, curve, index, threshold, sizes, others)


def _rates_without_choice(
    metric: Metric, guarantee: Guarantee, apart: Rows, scores: FloatArray, once: FloatArray
) -> list[tuple[float, float]]:
    """Return the rates of tenths of the rows at the thresholds that the other rows set, if any can.

    Among the thresholds that keep limits the metric chooses by the rows that assess it. The parts
    follow from the ranks of scores, whatever the order of rows and the scale.
    """
    used, sides = once > 0, (apart.positive, ~apart.positive)
    above = np.zeros(len(scores), dtype=bool)
    parts = np.full(len(scores), -1)
    for side in sides:
        rows = np.flatnonzero(side & used)
        rows = rows[np.argsort(scores[rows], kind="stable")]
        parts[rows[np.argsort(mix_bits(np.arange(len(rows))))]] = np.arange(len(rows)) % _PARTS
    for part in range(_PARTS):
        own, rest = parts == part, used & (parts != part)
        try:
            curve = Curve.of(apart.positive[rest], scores[rest], once[rest])
            flagged = scores[rest][scores[rest] > guarantee.threshold(metric, curve)]
            above[own] = scores[own] >= flagged.min(initial=np.inf)
        except OutOfReachError:
            return []
    tpr, fpr = (float(above[side & used].mean()) for side in sides)
    return [(tpr, fpr)]


def _within_budget(
    metric: Metric,
    guarantee: Guarantee,
    budget: Budget,
    apart: Rows,
    scores: FloatArray,
    curves: tuple[Curve, Curve | None],
) -> OperatingPoint:
    """Return the lowest threshold of a budget, with that of each team, and what to expect there.

    A threshold that is better for the metric may be higher than the budget asks for.
    """
    periods = apart.periods
    if periods is None:
        msg = f"{budget.label} needs the {budget.per} of each row: give {budget.per}="
        raise ValueError(msg)
    kept = budget.kept(scores, periods, guarantee.confidence)
    if all(threshold == -np.inf for _, threshold in kept.thresholds):
        rows = int(np.bincount(periods.day).max())
        warn(UnusedBudgetWarning(budget.label, budget.per, rows), stacklevel=find_stacklevel())
    least = kept.lowest if budget.by is None else -np.inf
    counted, weighted = curves
    base = guarantee.threshold(metric, counted, (), weighted, least)
    kept = kept.at_least(base).counted(scores, periods)
    above = scores - kept.of_rows(periods.team, len(scores))
    curve = Curve.of(apart.positive, above, apart.weight)
    index = int(np.count_nonzero(curve.levels > 0))
    sizes = sizes_of(apart)
    point = guaranteed_point(metric, guarantee, curve, index, kept.lowest, sizes)
    return replace(point, guarantee=str(kept), budget=kept.moved(kept.lowest))


def _refuse_with_limits(limits: Limits | None, metric: Metric, groups: Any) -> None:
    if isinstance(limits, Budget):
        if groups is not None:
            msg = (
                f"{limits.label} sets whole days apart, and rows of one group may be on several: "
                "leave groups= out, or limit a rate"
            )
            raise ValueError(msg)
    elif limits is not None and getattr(stated_metric(metric), "by_row", False):
        msg = (
            f"limits= keeps rates of one threshold, and {metric.label} decides row by row, which "
            "would break them: give known=False, so that the score alone decides, or leave limits= "
            "out"
        )
        raise ValueError(msg)


def limit_of(metric: Metric) -> Limit:
    """Return the limit of a metric on a rate of new rows; raise ValueError if it has none."""
    if metric.limit is not None:
        return metric.limit
    msg = (
        f"guarantee= keeps a limit, as RecallAtFPR, FPRAtRecall, PrecisionAtRecall and "
        f"RecallAtPrecision have one, and {metric} has none: leave it out, or give limits="
    )
    raise ValueError(msg)
