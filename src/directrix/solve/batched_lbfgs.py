"""L-BFGS on many problems at once: one evaluation of all of them per iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from directrix._typing import AnyArray, FloatArray, IntArray

    #: From the coefficients of some problems, one per column, and their indices to values and
    #: gradients.
    Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]
    #: From vectors of some problems, one per column, and their indices to approximate inverse
    #: Hessians times these vectors.
    Precondition = Callable[[FloatArray, IntArray], FloatArray]

_MEMORY = 6
#: A step is accepted if it lowers the objective by this share of the predicted decrease.
_ARMIJO = 1e-4
#: Bounds of the factor by which a rejected step is shortened, and the shortest step.
_SHORTEN, _SHORTEST = (0.1, 0.5), 1e-4
#: A pair of steps and gradient changes counts if its curvature exceeds this share of its size.
_CURVATURE = 1e-10


class BatchSolution(NamedTuple):
    """Solutions of many problems, one per column.

    Parameters
    ----------
    coef : array of shape (p, k)
    value : array of shape (k,)
    n_iter : array of int of shape (k,)
    converged : array of bool of shape (k,)
    """

    coef: FloatArray
    value: FloatArray
    n_iter: IntArray
    converged: AnyArray


def batched_lbfgs(
    evaluate: Evaluate,
    start: FloatArray,
    precondition: Precondition,
    *,
    tol: float = 1e-5,
    iterations: int = 30,
) -> BatchSolution:
    r"""Minimise many objectives by preconditioned L-BFGS in lock-step.

    The two-loop recursion starts from :math:`H_0 = M^{-1}`, the preconditioner, instead of a
    multiple of the identity. A problem ends when the decrease that a full step predicts,
    :math:`\frac12 g^\top H g`, is less than ``tol`` times its value; it then takes that last step
    unseen. Problems that have ended are not evaluated again, so that the cost of an iteration falls
    with their number.

    SciPy's L-BFGS solves one problem per call, and spends most of its time here outside of matrix
    products.

    Parameters
    ----------
    evaluate : callable
    start : array of shape (p, k)
        Where each problem begins.
    precondition : callable
    tol : float
        Relative decrease that is not worth another iteration.
    iterations : int
        Evaluations of each problem at most.
    """
    state = _State(start.copy(), precondition)
    every = np.arange(start.shape[1])
    state.value, state.gradient = evaluate(state.coef, every)
    state.aim(every)
    done = state.predicted <= tol * np.abs(state.value)
    for _ in range(iterations):
        active = np.flatnonzero(~done)
        if not len(active):
            break
        trial = state.coef[:, active] + state.length[active] * state.direction[:, active]
        value, gradient = evaluate(trial, active)
        slope = 2.0 * state.predicted[active]
        limit = state.value[active] - _ARMIJO * state.length[active] * slope
        accepted = value <= limit
        moved = active[accepted]
        if len(moved):
            state.move(moved, trial[:, accepted], value[accepted], gradient[:, accepted])
            state.aim(moved)
            done[moved] = state.predicted[moved] <= tol * np.abs(state.value[moved])
        stuck = active[~accepted]
        state.shorten(stuck, value[~accepted])
        done[stuck[state.length[stuck] < _SHORTEST]] = True
    small = state.predicted <= tol * np.abs(state.value)
    state.coef[:, small] += state.direction[:, small]
    return BatchSolution(state.coef, state.value, state.n_iter, done)


class _State:
    """Iterates, search directions and curvature pairs of all problems."""

    def __init__(self, coef: FloatArray, precondition: Precondition) -> None:
        p, k = coef.shape
        self.coef = coef
        self.value = np.empty(k)
        self.gradient = np.empty((p, k))
        self.direction = np.zeros((p, k))
        self.length = np.ones(k)
        #: Decrease that a full step predicts.
        self.predicted = np.zeros(k)
        self.n_iter = np.zeros(k, dtype=np.int64)
        self._precondition = precondition
        self._steps = np.zeros((_MEMORY, p, k))
        self._changes = np.zeros((_MEMORY, p, k))
        #: One over the curvature of each pair; zero if there is no pair.
        self._inverse = np.zeros((_MEMORY, k))
        self._next = 0

    def aim(self, problems: IntArray) -> None:
        """Set the search directions of some problems, by the two-loop recursion."""
        newest_first = [(self._next - 1 - k) % _MEMORY for k in range(_MEMORY)]
        used = [k for k in newest_first if self._inverse[k, problems].any()]
        vector = self.gradient[:, problems].copy()
        factors = []
        for k in used:
            step = self._steps[k][:, problems]
            factor = self._inverse[k, problems] * np.einsum("pk,pk->k", step, vector)
            vector -= factor * self._changes[k][:, problems]
            factors.append(factor)
        vector = self._precondition(vector, problems)
        for k, factor in zip(reversed(used), reversed(factors), strict=True):
            change = self._changes[k][:, problems]
            back = self._inverse[k, problems] * np.einsum("pk,pk->k", change, vector)
            vector += (factor - back) * self._steps[k][:, problems]
        self.direction[:, problems] = -vector
        slope = np.einsum("pk,pk->k", self.gradient[:, problems], vector)
        self.predicted[problems] = 0.5 * slope
        self.length[problems] = 1.0

    def move(
        self, problems: IntArray, coef: FloatArray, value: FloatArray, gradient: FloatArray
    ) -> None:
        """Accept new iterates, and remember their steps and gradient changes."""
        step = coef - self.coef[:, problems]
        change = gradient - self.gradient[:, problems]
        curvature = np.einsum("pk,pk->k", step, change)
        size = np.sqrt((step**2).sum(axis=0) * (change**2).sum(axis=0))
        usable = curvature > _CURVATURE * size
        slot = self._next
        self._inverse[slot] = 0.0
        self._steps[slot][:, problems] = step
        self._changes[slot][:, problems] = change
        inverse = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=usable)
        self._inverse[slot, problems] = inverse
        self._next = (slot + 1) % _MEMORY
        self.coef[:, problems], self.value[problems] = coef, value
        self.gradient[:, problems] = gradient
        self.n_iter[problems] += 1

    def shorten(self, problems: IntArray, value: FloatArray) -> None:
        """Shorten rejected steps to the minimum of a parabola, within bounds."""
        length, slope = self.length[problems], 2.0 * self.predicted[problems]
        rise = 2.0 * (value - self.value[problems] + length * slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(rise > 0, slope * length**2 / rise, length)
        low, high = _SHORTEN
        self.length[problems] = np.clip(best, low * length, high * length)
