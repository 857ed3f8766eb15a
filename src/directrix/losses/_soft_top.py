"""Soft choice of the largest values up to a quota of weight: a projection without a sort."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

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
