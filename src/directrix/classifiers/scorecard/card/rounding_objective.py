r"""What rounded cards are compared by, from the weight of each class at every sum of points.

Sums of whole points are tied, and a strict limit counts tied rows together or not at all: the value
on the training rows jumps with the place of one sum, which new rows do not have. So a metric with a
limit is averaged over the limit's own uncertainty, and held by the likelihood:

.. math:: (1 - s)\, R^2 + s \int m(l)\, dU(l)

with McFadden's R² of a logistic curve over the sums, the metric m at the limit l, and U uniform
about the limit with the standard error of a rate on as many new rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.metrics import AUC, CurveStack, RecallAtFPR

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.metrics import Metric

#: Share s of the metric; the rest is the likelihood's.
_SHARE = 0.3
#: Newton steps to the slope and offset of the logistic curve, and how long one of them is at most.
_STEPS, _LONGEST = 8, 1.0
#: Share of the variance within classes at least, from which the slope starts.
_LEAST_WITHIN = 0.05
#: A change must be worth so many rows of the smaller class: less is what chance gives. The mean
#: over limits is steadier than a metric itself, so that less is enough.
_WORTH, _WORTH_IN_MEAN = 3.0, 0.3


class LogisticCurves(NamedTuple):
    """Slopes and offsets of log-odds over sums of mean zero and variance one.

    Parameters
    ----------
    slope, offset : array of shape (k,)
    """

    slope: FloatArray
    offset: FloatArray


@dataclass(frozen=True)
class RoundingObjective:
    """Value of rounded cards: more is better.

    Parameters
    ----------
    metric : Metric
    half : float, optional
        Half the width of the range over which the limit of the metric is averaged; None if the
        metric has no limit on a rate of one class. Its value is then added to the AUC, which holds
        the other rows in order.
    worth : float
        Gain that a change of points must have.
    """

    metric: Metric
    half: float | None
    worth: float

    @classmethod
    def of(cls, metric: Metric, positive: AnyArray, weight: FloatArray) -> RoundingObjective:
        """Return the objective for some training rows.

        Parameters
        ----------
        metric : Metric
        positive : array of bool of shape (n,)
        weight : array of shape (n,)
        """
        few = max(int(min(positive.sum(), (~positive).sum())), 1)
        limit = metric.limit
        if limit is None or limit.rate not in ("fpr", "tpr"):
            return cls(metric, None, _WORTH / few)
        side = weight[~positive if limit.rate == "fpr" else positive]
        effective = max(float(side.sum() ** 2 / np.square(side).sum()), 1.0)
        # Of the training rows, and of as many new ones.
        error = np.sqrt(limit.value * (1.0 - limit.value) * 2.0 / effective)
        half = min(float(np.sqrt(3.0) * error), limit.value, 1.0 - limit.value)
        return cls(metric, half, _WORTH_IN_MEAN / few)

    def values(self, counts: FloatArray, near: LogisticCurves | None = None) -> FloatArray:
        """Return the value of many cards.

        Parameters
        ----------
        counts : array of shape (k, 2, m)
            Weight of the positives and of the negatives at each sum, the highest sum first.
        near : LogisticCurves, optional
            Curve of a card from which all of these differ little, which saves time.
        """
        above = np.concatenate([np.zeros((*counts.shape[:2], 1)), np.cumsum(counts, axis=-1)], -1)
        curves = CurveStack(above[:, 0], above[:, 1])
        if self.half is not None:
            return (1.0 - _SHARE) * explained(counts, near) + _SHARE * self._mean_over_limits(
                curves
            )
        values = self.metric.best_of_each(curves)[0]
        areas = AUC().best_of_each(curves)[0]
        return np.asarray(areas + (values if self.metric.greater_is_better else -values))

    def curve(self, counts: FloatArray) -> LogisticCurves | None:
        """Return the logistic curve of one card, for `values` of others; None if not needed.

        Parameters
        ----------
        counts : array of shape (2, m)
        """
        return None if self.half is None else logistic_curves(counts[None])

    def _mean_over_limits(self, curves: CurveStack) -> FloatArray:
        """Return the mean of the metric, more is better, if its limit is uniform about its value.

        Thresholds are allowed one after another as the limit moves, so the chance that the best of
        some is allowed is the largest of theirs.
        """
        limit, half = self.metric.limit, self.half
        assert limit is not None  # noqa: S101 - see `of`
        assert half is not None  # noqa: S101
        values = self.metric.at_thresholds(curves)[0]
        gain = values if self.metric.greater_is_better else -values
        room = curves.fpr - limit.value if limit.rate == "fpr" else limit.value - curves.tpr
        chance = np.clip((half - room) / (2.0 * half), 0.0, 1.0)
        if isinstance(self.metric, RecallAtFPR):  # recall rises from threshold to threshold
            gain, chance = gain[..., ::-1], chance[..., ::-1]
        else:
            order = np.argsort(-gain, axis=-1, kind="stable")
            gain, chance = (np.take_along_axis(each, order, axis=-1) for each in (gain, chance))
        reached = np.maximum.accumulate(chance, axis=-1)
        reached[..., 1:] -= reached[..., :-1].copy()
        return np.asarray(np.einsum("...j,...j->...", gain, reached))


def logistic_curves(counts: FloatArray) -> LogisticCurves:
    """Return the likeliest logistic curve over the standardised sums of each of many cards.

    Parameters
    ----------
    counts : array of shape (k, 2, m)
        As in `RoundingObjective.values`.
    """
    cards = _StandardSums.of(counts)
    return cards.newton(cards.normal_curves(), _STEPS)


def explained(counts: FloatArray, near: LogisticCurves | None = None) -> FloatArray:
    """Return McFadden's R² of a logistic curve over the sums of many cards.

    Parameters
    ----------
    counts : array of shape (k, 2, m)
        As in `RoundingObjective.values`.
    near : LogisticCurves, optional
        Curve of a card from which all of these differ little: it is one step from theirs.
    """
    cards = _StandardSums.of(counts)
    curves = logistic_curves(counts) if near is None else cards.newton(near, 1)
    line = curves.slope[:, None] * cards.sums + curves.offset[:, None]
    # Ten times as fast as np.logaddexp, and as exact where it is summed.
    softplus = np.maximum(line, 0.0) + np.log(1.0 + np.exp(-np.abs(line)))
    likelihood = _dot(cards.positive, line) - _dot(cards.rows, softplus)
    prior = cards.prior
    entropy = prior * np.log(prior) + (1.0 - prior) * np.log1p(-prior)
    return np.asarray(1.0 - likelihood / (cards.total * entropy))


class _StandardSums(NamedTuple):
    """Sums of points of many cards, of mean zero and variance one, with their weights."""

    sums: FloatArray
    positive: FloatArray
    rows: FloatArray
    total: FloatArray
    prior: FloatArray

    @classmethod
    def of(cls, counts: FloatArray) -> _StandardSums:
        positive, rows = counts[:, 0], counts.sum(axis=1)
        total = rows.sum(axis=1)
        place = -np.arange(rows.shape[1], dtype=np.float64)
        sums = place - (rows @ place / total)[:, None]
        variance = _dot(rows, sums**2) / total
        sums /= np.sqrt(np.where(variance > 0, variance, 1.0))[:, None]
        return cls(sums, positive, rows, total, positive.sum(axis=1) / total)

    def normal_curves(self) -> LogisticCurves:
        """Return slopes and offsets of the log-odds of normal sums of equal variance."""
        above = _dot(self.positive, self.sums) / self.total
        high, low = above / self.prior, -above / (1.0 - self.prior)
        within = np.maximum(1.0 - above * (high - low), _LEAST_WITHIN)
        slope = (high - low) / within
        middle = slope * (high + low) / 2.0
        return LogisticCurves(slope, np.log(self.prior / (1.0 - self.prior)) - middle)

    def newton(self, curves: LogisticCurves, steps: int) -> LogisticCurves:
        """Return slopes and offsets of greater likelihood, by Newton steps of limited length."""
        slope, offset = curves
        for _ in range(steps):
            chance = 1.0 / (1.0 + np.exp(-slope[:, None] * self.sums - offset[:, None]))
            expected = self.rows * chance
            rest, curvature = self.positive - expected, expected * (1.0 - chance)
            first, second = _dot(rest, self.sums), rest.sum(axis=1)
            crossed = curvature * self.sums
            a, b, c = _dot(crossed, self.sums), crossed.sum(axis=1), curvature.sum(axis=1)
            size = np.maximum(a * c - b**2, np.finfo(np.float64).tiny)
            slope = slope + np.clip((c * first - b * second) / size, -_LONGEST, _LONGEST)
            offset = offset + np.clip((a * second - b * first) / size, -_LONGEST, _LONGEST)
        return LogisticCurves(slope, offset)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the product of each row of one array with the same row of another."""
    return np.asarray(np.einsum("ij,ij->i", a, b))
