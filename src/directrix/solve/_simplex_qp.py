"""Active-set solver for the small quadratic program of the bundle method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

_TOLERANCE = 1e-13


def solve_qp(
    gram: FloatArray,
    gain: FloatArray,
    equal: FloatArray,
    start: FloatArray,
    max_rounds: int = 1000,
) -> tuple[FloatArray, FloatArray]:
    r"""Maximise a concave quadratic under equalities and signs, by an active-set method.

    .. math:: \max_{x \ge 0,\ E x = E x_0}\ c \cdot x - \tfrac12 x^\top Q x

    Follows the method of Lawson and Hanson for least squares (1974, chapter 23). The variable at
    zero with the largest gain is set free, the problem in the free variables is solved exactly, and
    the step towards its solution stops where a variable reaches zero. A round costs the cube of the
    number of free variables, which a warm start keeps small.

    Parameters
    ----------
    gram : array of shape (k, k)
        Q, positive semidefinite.
    gain : array of shape (k,)
        c.
    equal : array of shape (m, k)
        E.
    start : array of shape (k,)
        A feasible point.
    most : int
        Number of rounds after which to stop; every round is feasible and none lowers the value.

    Returns
    -------
    x, price : array
        The maximiser, and the multiplier of each equality.
    """
    scale = max(float(np.diag(gram).max(initial=0.0)), float(np.abs(gain).max(initial=0.0)))
    scale = scale or 1.0
    gram, gain = gram / scale, gain / scale
    x = start.copy()
    free = x > 0
    price = np.zeros(len(equal))
    entering = int(x.argmax())
    for _ in range(max_rounds):
        target, price = _maximum_over_free(free, gram, gain, equal, x)
        x, free, step = _step_towards(x, target, free)
        if step < 1:
            if step == 0 and not free[entering]:  # the variable set free gains only rounding error
                break
            continue
        reduced_gain = gain - gram @ x - price @ equal
        reduced_gain[free] = -np.inf
        entering = int(reduced_gain.argmax())
        if reduced_gain[entering] <= _TOLERANCE:
            break
        free[entering] = True
    return x, scale * price


def _maximum_over_free(
    free: AnyArray, gram: FloatArray, gain: FloatArray, equal: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the maximiser over the free variables, and the multiplier of each equality."""
    k, m = int(free.sum()), len(equal)
    system = np.zeros((k + m, k + m))
    system[:k, :k] = gram[np.ix_(free, free)]
    # A ridge of the size of rounding makes the system regular when planes are dependent. It pulls
    # towards x, so it does not move a solution.
    system[np.arange(k), np.arange(k)] += _TOLERANCE
    system[:k, k:] = equal[:, free].T
    system[k:, :k] = equal[:, free]
    right_side = np.concatenate([gain[free] + _TOLERANCE * x[free], equal @ x])
    solved = _solve(system, right_side)
    target = np.zeros_like(x)
    target[free] = solved[:k]
    return target, solved[k:]


def _solve(system: FloatArray, right_side: FloatArray) -> AnyArray:
    """Solve a linear system by elimination, or by least squares (10 times slower) if that fails."""
    try:
        solved = np.linalg.solve(system, right_side)
    except np.linalg.LinAlgError:
        pass
    else:
        if np.abs(system @ solved - right_side).max() <= 10.0 * _TOLERANCE:  # false for NaN
            return solved
    return np.linalg.lstsq(system, right_side, rcond=1e-15)[0]


def _step_towards(
    x: FloatArray, target: FloatArray, free: AnyArray
) -> tuple[FloatArray, AnyArray, float]:
    """Step towards a target until a variable reaches zero; such variables are fixed at zero.

    Returns the new point, the variables that are still free, and the share of the step taken.
    """
    # A free variable may be zero because of an equality.
    target = np.where(np.abs(target) < _TOLERANCE, 0.0, target)
    crosses_zero = free & (target < 0)
    if not crosses_zero.any():
        return target, free, 1.0
    share = np.full(len(x), np.inf)
    share[crosses_zero] = x[crosses_zero] / (x[crosses_zero] - target[crosses_zero])
    step = float(share.min())
    free = free & (share > step)
    return np.where(free, x + step * (target - x), 0.0), free, step
