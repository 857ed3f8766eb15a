"""Losses for the recall at a false-positive rate, relative to the highest negatives."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isinf
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray
from directrix.losses.base import Loss, require_above_zero, require_both, require_width
from directrix.losses.margin import rounded_corner

# ── Soft choice of the largest values up to a quota of weight: a projection without a sort ────────

_MOST_STEPS = 100  # a handful is enough; after 100 halvings the bracket is empty
_ROUNDING = 1e-13  # relative to the quota: sums of weights are no more exact


class SoftTop(NamedTuple):
    """A soft choice of rows: the share of every row, and the threshold θ."""

    share: FloatArray
    threshold: float
    #: The value at which the quota is reached when the largest are taken first.
    edge: float


def soft_top(values: FloatArray, weight: FloatArray, quota: float, kappa: float) -> SoftTop:
    r"""Return :math:`\pi_i = \min(1, (t_i - \theta)_+ / \kappa)` with :math:`\omega\cdot\pi = k`.

    These maximise :math:`\sum_i \omega_i (t_i \pi_i - \tfrac\kappa2 \pi_i^2)` among all shares
    from 0 to 1 that fill the quota. θ is within κ below the edge, so only rows near the edge are
    looked at more than once. Without κ, rows at the edge share what is left of the quota.
    """
    lowest = float(weight.min())
    unit = lowest if lowest > 0 and lowest == weight.max() else weight
    edge = kth_largest(values, unit, quota)
    if edge - kappa == edge:  # κ is zero, or lost in the rounding of the values
        share = (values > edge).astype(np.float64)
        at = values == edge
        left = (quota - _mass(unit, share)) / _mass(unit, at)
        share[at] = min(max(left, 0.0), 1.0)
        return SoftTop(share, edge, edge)
    near = (values > edge - kappa) & (values < edge + kappa)
    full = _mass(unit, values >= edge + kappa)
    unit_near = unit if isinstance(unit, float) else unit[near]
    threshold = _threshold(values[near], unit_near, quota - full, kappa, edge)
    share = values - threshold
    share /= kappa
    np.clip(share, 0.0, 1.0, out=share)
    return SoftTop(share, threshold, edge)


def _mass(weight: FloatArray | float, share: AnyArray) -> float:
    """Return the total weight of shares of rows; equal weights are one number, for speed."""
    if not isinstance(weight, float):
        return float(weight @ share)
    return weight * float(np.count_nonzero(share) if share.dtype == bool else share.sum())


def _threshold(
    values: FloatArray, weight: FloatArray | float, quota: float, kappa: float, edge: float
) -> float:
    """Return θ by Newton's method inside a bracket: the sum is piecewise linear."""
    low, high = edge - kappa, edge
    threshold = 0.5 * (low + high)
    share = np.empty_like(values)
    for _ in range(_MOST_STEPS):
        np.subtract(values, threshold, out=share)
        share /= kappa
        np.clip(share, 0.0, 1.0, out=share)
        excess = _mass(weight, share) - quota
        if abs(excess) <= _ROUNDING * quota:
            break
        if excess > 0:
            low = threshold
        else:
            high = threshold
        moving = _mass(weight, (share > 0) & (share < 1))
        threshold += excess * kappa / moving if moving else np.inf
        if not low < threshold < high:
            threshold = 0.5 * (low + high)
        if not low < threshold < high:
            break
    return threshold


def kth_largest(values: FloatArray, weight: FloatArray | float, quota: float) -> float:
    """Return the value at which the largest ones reach a quota of weight."""
    if isinstance(weight, float):
        rank = len(values) - min(max(ceil(quota / weight), 1), len(values))
        return float(np.partition(values, rank)[rank])
    counted = weight > 0
    values, mass = values[counted], weight[counted]
    while len(values) > 1:  # every round drops at least half of them
        middle = len(values) // 2
        pivot = np.partition(values, middle)[middle]
        above, below = values > pivot, values < pivot
        over = float(mass @ above)
        if over >= quota:
            values, mass = values[above], mass[above]
            continue
        quota -= over + float(mass[~(above | below)].sum())
        if quota <= 0 or not below.any():
            return float(pivot)
        values, mass = values[below], mass[below]
    return float(values[0])


# ── Losses for the recall at a false-positive rate, relative to the highest negatives ─────────────

#: Of the weight of all negatives. A quota that ends between two rows ends at the lower one, as the
#: threshold may go down to it.
_BEYOND = 1e-9


@dataclass(frozen=True)
class TopNegatives(Loss):
    r"""Convex bound of one minus the recall at a false-positive rate.

    .. math:: L(s) = \frac1{n_+} \sum_{i \in P} \omega_i\, h_\kappa(m - s_i + c), \qquad
              c = \frac1K \max_\pi \Big[ \sum_{j \in N} \omega_j s_j \pi_j
              - \frac\kappa2 \sum_{j \in N} \omega_j \big(\pi_j - \tfrac K{n_-}\big)^2 \Big],
              \quad 0 \le \pi \le 1, \quad \sum_{j \in N} \omega_j \pi_j = K

    with :math:`K = \max(1, \alpha n_-)`, α the false-positive rate, and the rounded hinge
    :math:`h_\kappa` of `Hinge`. Without κ, c is the mean of the top K negatives: never below their
    quantile, and convex where the quantile is not. α = 0 would be the top negative alone; all of
    them, their mean. It is below the unsmoothed loss by at most κ.

    A limit on the false positives inside the labellings of Zhang, Saha and Vishwanathan (2011, eq.
    2) would do the opposite: it charges the top negatives, whose errors are allowed.

    Its `Ramp` tends to one minus the recall at the threshold c, the *mean* of the top negatives.
    That is the metric where K is one row, and no less than it elsewhere; `QuantileSigmoid` tends to
    the metric itself.

    Parameters
    ----------
    fpr : float
        α, between 0 and 1.
    kappa : float
        κ, the width of the corner and of the soft edge; 0 has neither.
    margin : float
        m, by which a positive should be above the top negatives.
    """

    name: ClassVar[str] = "top_negatives"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    tends_above: ClassVar[bool] = True
    fpr: float
    kappa: float = 0.1
    margin: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over the positives, and its partial derivative by every score."""
        require_width(self.kappa)
        _require_rate(self.fpr)
        scores = np.asarray(scores, dtype=np.float64)
        n_pos, n_neg = require_both(positive, weight)
        rows_pos, rows_neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        top = self._top(n_neg)
        at, weight_neg = scores[rows_neg], weight[rows_neg]
        taken = soft_top(at, weight_neg, top, self.kappa)
        slope = weight_neg * taken.share
        slope /= top
        away = taken.share - top / n_neg
        level = float(slope @ (at - taken.edge)) + taken.edge
        level -= 0.5 * self.kappa * float((weight_neg * away) @ away) / top
        loss, bend = rounded_corner(self.margin - scores[rows_pos] + level, self.kappa)
        share = weight[rows_pos] / n_pos
        bend *= share
        gradient = np.empty(len(scores))
        gradient[rows_pos] = -bend
        gradient[rows_neg] = float(bend.sum()) * slope
        return float(share @ loss), gradient

    def _top(self, n_neg: float) -> float:
        """Return K; negatives whose weight is below one all count."""
        return min(max(1.0, self.fpr * n_neg), n_neg)

    def sharpen(self, level: float) -> TopNegatives:
        """Return the loss with a narrower corner."""
        return self._with(kappa=self.kappa / level)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:
        """Return how far below the unsmoothed loss it may be: κ (1 − K / 2n₋)."""
        _, n_neg = require_both(positive, weight)
        return self.kappa * (1.0 - 0.5 * self._top(n_neg) / n_neg)

    @property
    def worst(self) -> float:
        """The margin: the hinge of a positive that is level with the top negatives."""
        return self.margin


@dataclass(frozen=True)
class QuantileSigmoid(Loss):
    r"""Tight loss for the recall at a false-positive rate, both of its steps smoothed.

    .. math:: L(s) = \frac1{n_+} \sum_{i \in P} \frac{\omega_i}{1 + e^{\gamma (s_i - q)}}, \qquad
              \sum_{j \in N} \omega_j \min\big(1, (\tfrac12 + \gamma (s_j - q))_+\big)
              = \alpha\, n_-

    q is the quantile of the negatives above which a share α of them lies, every row spread over a
    width 1/γ; its partial derivatives follow from the equation. As γ grows the loss tends to the
    metric.

    Parameters
    ----------
    fpr : float
        α, between 0 and 1.
    gamma : float
        γ, the sharpness; infinity is the metric itself, which has no slope.
    """

    name: ClassVar[str] = "quantile_sigmoid"
    tight: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    fpr: float
    gamma: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over the positives, and its partial derivative by every score."""
        require_above_zero(gamma=self.gamma)
        _require_rate(self.fpr)
        scores = np.asarray(scores, dtype=np.float64)
        n_pos, n_neg = require_both(positive, weight)
        rows_pos, rows_neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        at, weight_neg = scores[rows_neg], weight[rows_neg]
        quota = min(self.fpr + _BEYOND, 1.0) * n_neg
        taken = soft_top(at, weight_neg, quota, 1.0 / self.gamma)
        share = weight[rows_pos] / n_pos
        if isinf(self.gamma):
            missed = scores[rows_pos] <= taken.edge
            return float(share @ missed), np.zeros(len(scores))
        above = scores[rows_pos] - (taken.threshold + 0.5 / self.gamma)
        missed = expit(-self.gamma * above)
        slope = share * missed * expit(self.gamma * above)
        slope *= self.gamma
        moving = weight_neg * ((taken.share > 0) & (taken.share < 1))
        if not moving.any():  # lost to rounding: q follows the row at the quantile
            moving = weight_neg * (at == taken.edge)
        gradient = np.empty(len(scores))
        gradient[rows_pos] = -slope
        gradient[rows_neg] = moving * (float(slope.sum()) / float(moving.sum()))
        return float(share @ missed), gradient

    def sharpen(self, level: float) -> QuantileSigmoid:
        """Return the loss nearer to the metric."""
        return self._with(gamma=self.gamma * level)


def _require_rate(fpr: float) -> None:
    """Raise ValueError unless the rate is a share between 0 and 1."""
    if not 0 < fpr < 1:
        msg = f"fpr must be a share between 0 and 1, not {fpr!r}"
        raise ValueError(msg)
