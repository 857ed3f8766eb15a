"""BreakEven: the precision-recall break-even point as a soft choice of the highest scores."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss, require_both, require_width

# ── Soft choice of the largest values up to a quota of weight: a projection without a sort ────────

_MOST_STEPS = 100  # a handful is enough; after 100 halvings the bracket is empty
_ROUNDING = 1e-13  # relative to the quota: sums of weights are no more exact


class SoftTop(NamedTuple):
    """A soft choice of rows: the share of every row, and the threshold θ."""

    share: FloatArray
    threshold: float


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
        return SoftTop(share, edge)
    near = (values > edge - kappa) & (values < edge + kappa)
    full = _mass(unit, values >= edge + kappa)
    unit_near = unit if isinstance(unit, float) else unit[near]
    threshold = _threshold(values[near], unit_near, quota - full, kappa, edge)
    share = values - threshold
    share /= kappa
    np.clip(share, 0.0, 1.0, out=share)
    return SoftTop(share, threshold)


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


# ── Convex bound of one minus the break-even point ────────────────────────────────────────────────


@dataclass(frozen=True)
class BreakEven(Loss):
    r"""Convex bound of one minus the precision-recall break-even point.

    .. math:: L(s) = \frac1{n_+} \max_{\beta} \Big[ \sum_{i \in P} \omega_i (m - s_i) \beta_i
              + \sum_{j \in N} \omega_j s_j \beta_j - \frac\kappa2 \sum_i \omega_i \beta_i^2 \Big],
              \qquad 0 \le \beta \le 1, \quad
              \sum_{i \in P} \omega_i \beta_i = \sum_{j \in N} \omega_j \beta_j

    (Zhang, Saha and Vishwanathan 2011, eq. 2, 8 and 13, in units of the score, so that the margin
    is the same at any prior.) β is the chance of a wrong label; only as many positives as
    negatives may be wrong, so the box of eq. 8 is cut by a plane. That makes the prox-function
    smaller than theirs: the loss is below the unsmoothed one by at most
    :math:`\kappa \min(1, n_-/n_+)`. The best β is a soft choice of the top n₊ rows, less the right
    labels. It is computed by selection and a few steps of Newton's method. It is unique, though θ
    of their Property 1 is not.

    Its `Ramp` tends to one minus the metric.

    Parameters
    ----------
    kappa : float
        κ, the width of the soft edge; 0 takes the top rows themselves.
    margin : float
        m.
    """

    name: ClassVar[str] = "break_even"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    kappa: float = 0.01
    margin: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss, and its partial derivative by every score: ω times ∓β, over n₊."""
        require_width(self.kappa)
        scores = np.asarray(scores, dtype=np.float64)
        n_pos, _ = require_both(positive, weight)
        # The slopes sum to zero, so all values may be shifted, here by κ.
        taken = soft_top(scores - (self.margin - self.kappa) * positive, weight, n_pos, self.kappa)
        away = taken.share
        away -= positive
        slope = weight * away
        value = float((scores - taken.threshold) @ slope) - self.margin * float(slope @ positive)
        value -= 0.5 * self.kappa * float(slope @ away)
        slope /= n_pos
        return value / n_pos, slope

    def sharpen(self, level: float) -> BreakEven:
        """Return the loss with a sharper edge."""
        return self._with(kappa=self.kappa / level)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:
        """Return how far below the unsmoothed loss it may be: κ min(1, n₋/n₊)."""
        n_pos, n_neg = require_both(positive, weight)
        return self.kappa * min(1.0, n_neg / n_pos)

    @property
    def worst(self) -> float:
        """The margin, by which one minus the metric is multiplied."""
        return self.margin
