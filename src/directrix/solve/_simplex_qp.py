"""The small quadratic program of a bundle of cutting planes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

_ROUNDING = 1e-13


def solve_qp(
    gram: FloatArray,
    gain: FloatArray,
    equal: FloatArray,
    start: FloatArray,
    most: int = 1000,
) -> tuple[FloatArray, FloatArray]:
    r"""Maximise a concave quadratic under equalities and signs, by an active-set method.

    .. math:: \max_{x \ge 0,\ E x = E x_0}\ c \cdot x - \tfrac12 x^\top Q x

    As Lawson and Hanson's method for least squares (1974, chapter 23) does: of the variables at
    zero the one with most to gain is set free, the problem in the free ones is solved exactly, and
    a step towards its solution stops where one of them reaches zero. Each round costs the cube of
    the free variables, which a warm start keeps few.

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
        Rounds after which to stop; every round is feasible and none is worse.

    Returns
    -------
    x, price : array
        The maximum, and what a unit more of each equality would gain.
    """
    scale = max(float(np.diag(gram).max(initial=0.0)), float(np.abs(gain).max(initial=0.0)))
    scale = scale or 1.0
    gram, gain = gram / scale, gain / scale
    x = start.copy()
    free = x > 0
    price = np.zeros(len(equal))
    enters = int(x.argmax())
    for _ in range(most):
        target, price = _among(free, gram, gain, equal, x)
        x, free, step = _towards(x, target, free)
        if step < 1:
            if step == 0 and not free[enters]:  # what was set free gains nothing but rounding
                break
            continue
        left = gain - gram @ x - price @ equal
        left[free] = -np.inf
        enters = int(left.argmax())
        if left[enters] <= _ROUNDING:
            break
        free[enters] = True
    return x, scale * price


def _among(
    free: AnyArray, gram: FloatArray, gain: FloatArray, equal: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the maximum among the free variables alone, and the price of each equality."""
    k, m = int(free.sum()), len(equal)
    system = np.zeros((k + m, k + m))
    system[:k, :k] = gram[np.ix_(free, free)]
    # A ridge of the size of rounding makes dependent planes no special case; it draws to x, so
    # that it moves no solution.
    system[np.arange(k), np.arange(k)] += _ROUNDING
    system[:k, k:] = equal[:, free].T
    system[k:, :k] = equal[:, free]
    wanted = np.concatenate([gain[free] + _ROUNDING * x[free], equal @ x])
    solved = _solved(system, wanted)
    target = np.zeros_like(x)
    target[free] = solved[:k]
    return target, solved[k:]


def _solved(system: FloatArray, wanted: FloatArray) -> AnyArray:
    """Solve by elimination; by least squares, which takes ten times as long, where that fails."""
    try:
        solved = np.linalg.solve(system, wanted)
    except np.linalg.LinAlgError:
        pass
    else:
        if np.abs(system @ solved - wanted).max() <= 10.0 * _ROUNDING:  # false of NaN
            return solved
    return np.linalg.lstsq(system, wanted, rcond=1e-15)[0]


def _towards(
    x: FloatArray, target: FloatArray, free: AnyArray
) -> tuple[FloatArray, AnyArray, float]:
    """Go to a target, or as far as no variable falls below zero; those that would are fixed.

    Returns also the share of the way that was gone.
    """
    # A free variable may be zero where an equality holds it there.
    target = np.where(np.abs(target) < _ROUNDING, 0.0, target)
    falls = free & (target < 0)
    if not falls.any():
        return target, free, 1.0
    share = np.full(len(x), np.inf)
    share[falls] = x[falls] / (x[falls] - target[falls])
    step = float(share.min())
    free = free & (share > step)
    return np.where(free, x + step * (target - x), 0.0), free, step
