"""L-BFGS on many problems at once: one evaluation of all of them per iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from directrix._typing import AnyArray, FloatArray, IntArray

    #: From the coefficients of some problems, one per row, and their indices to values and
    #: gradients.
    Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]
    #: From vectors of some problems, one per row, and their indices to approximate inverse
    #: Hessians times these vectors.
    Precondition = Callable[[FloatArray, IntArray], FloatArray]

_MEMORY = 4
#: A step is accepted if it lowers the objective by this share of the predicted decrease.
_ARMIJO = 1e-4
#: Bounds of the factor by which a rejected step is shortened, and the shortest step.
_SHORTEN, _SHORTEST = (0.1, 0.5), 1e-4
#: Factor of the next step after one along which the objective bends down.
_LENGTHEN = 4.0
#: A pair of steps and gradient changes counts if its curvature exceeds this share of its size.
_CURVATURE = 1e-10
#: Coefficients below this share of the largest are at zero, if they have to keep a sign.
_AT_ZERO = 1e-9


class BatchSolution(NamedTuple):
    """Solutions of many problems, one per row.

    Parameters
    ----------
    coef : array of shape (k, p)
    value : array of shape (k,)
    n_iter : array of int of shape (k,)
        Steps that each problem has taken.
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
    signs: AnyArray | None = None,
    stop: Callable[[], bool] | None = None,
) -> BatchSolution | None:
    r"""Minimise many objectives by preconditioned L-BFGS in lock-step.

    The two-loop recursion starts from :math:`H_0 = \tau M^{-1}` with the preconditioner M and
    :math:`\tau = s^\top y / y^\top M^{-1} y` of the last step s and gradient change y. Where the
    objective bends down along the step there is no pair to learn from, and τ is four times the
    last. A problem ends when the decrease that a full step predicts,
    :math:`\frac12 g^\top H g`, is less than ``tol`` times its value; it then takes that last step
    unseen. Problems that have ended are not evaluated again, so the cost of an iteration falls with
    their number. No problem affects another, except for the rounding of matrix products.

    Coefficients with a sign stay on its side of zero, by projection (Bertsekas 1982): those at zero
    that the gradient pushes to the other side are held there, the recursion runs on the others
    alone, and every trial is cut off at zero.

    SciPy's L-BFGS solves one problem per call and would spend most of its time outside of matrix
    products.

    Parameters
    ----------
    evaluate : callable
    start : array of shape (k, p)
        Where each problem begins.
    precondition : callable
    tol : float
        Relative decrease that is not worth another iteration.
    iterations : int
        Evaluations of each problem at most, after the first.
    signs : array of shape (p,), optional
        1 where a coefficient may not be negative, −1 where it may not be positive, 0 elsewhere; the
        same for all problems.
    stop : callable, optional
        Asked before each evaluation; if it returns True, all problems are abandoned, and the
        result is None.
    """
    state = _State(_on_side(start.copy(), signs), precondition, signs)
    every = np.arange(len(start))
    state.value, state.gradient = evaluate(state.coef, every)
    state.aim(every)
    done = state.predicted <= tol * np.abs(state.value)
    for _ in range(iterations):
        active = np.flatnonzero(~done)
        if not len(active):
            break
        if stop is not None and stop():
            return None
        trial = state.trial(active)
        value, gradient = evaluate(trial, active)
        fall = _dot(state.gradient[active], state.coef[active] - trial)
        accepted = value <= state.value[active] - _ARMIJO * fall
        moved = active[accepted]
        state.move(moved, trial[accepted], value[accepted], gradient[accepted])
        state.aim(moved)
        done[moved] = state.predicted[moved] <= tol * np.abs(state.value[moved])
        stuck = active[~accepted]
        state.shorten(stuck, value[~accepted])
        done[stuck[state.length[stuck] < _SHORTEST]] = True
    small = np.flatnonzero(state.predicted <= tol * np.abs(state.value))
    state.length[small] = 1.0
    state.coef[small] = state.trial(small)
    return BatchSolution(state.coef, state.value, state.n_iter, done)


class _State:
    """Iterates, search directions and curvature pairs of all problems."""

    def __init__(
        self, coef: FloatArray, precondition: Precondition, signs: AnyArray | None
    ) -> None:
        k, p = coef.shape
        self._signs = signs
        self.coef = coef
        self.value = np.empty(k)
        self.gradient = np.empty((k, p))
        self.direction = np.zeros((k, p))
        self.length = np.ones(k)
        #: Decrease that a full step predicts.
        self.predicted = np.zeros(k)
        self.n_iter = np.zeros(k, dtype=np.int64)
        self._precondition = precondition
        self._scale = np.ones(k)
        self._steps = np.zeros((_MEMORY, k, p))
        self._changes = np.zeros((_MEMORY, k, p))
        #: One over the curvature of each pair; zero if there is no pair.
        self._inverse = np.zeros((_MEMORY, k))
        # The slot of a pair is the number of its iteration, the same for all problems whichever
        # of them move: a problem's pairs must not depend on its company.
        self._iteration = 0

    def trial(self, problems: IntArray) -> FloatArray:
        """Return where some problems go next."""
        step = self.length[problems, None] * self.direction[problems]
        return _on_side(self.coef[problems] + step, self._signs)

    def aim(self, problems: IntArray) -> None:
        """Set the search directions of some problems, by the two-loop recursion."""
        newest_first = [(self._iteration - 1 - k) % _MEMORY for k in range(_MEMORY)]
        used = [k for k in newest_first if self._inverse[k, problems].any()]
        free = self._free(problems)
        vector = self.gradient[problems] * free
        pairs = []
        for k in used:
            step, change = self._steps[k, problems] * free, self._changes[k, problems] * free
            inverse = self._inverse[k, problems]
            if self._signs is not None:
                inverse = _inverse_curvature(step, change)
            factor = inverse * _dot(step, vector)
            vector -= factor[:, None] * change
            pairs.append((step, change, inverse, factor))
        vector = self._scaled_by_curvature(vector, problems, free)
        for step, change, inverse, factor in reversed(pairs):
            vector += (factor - inverse * _dot(change, vector))[:, None] * step
        if self._signs is not None:  # what is held goes to zero, where it nearly is
            vector = np.where(free, vector, self.coef[problems])
        self.direction[problems] = -vector
        self.predicted[problems] = 0.5 * _dot(self.gradient[problems], vector)
        self.length[problems] = 1.0

    def _free(self, problems: IntArray) -> AnyArray:
        """Return which coefficients are not held at zero, of shape (k, p) or (1, p)."""
        if self._signs is None:
            return np.ones((1, self.coef.shape[1]), dtype=bool)
        coef = self.coef[problems]
        near = _AT_ZERO * np.abs(coef).max(axis=1, initial=0.0, keepdims=True)
        outward = self._signs * self.gradient[problems] > 0.0
        free: AnyArray = ~(outward & (np.abs(coef) <= near))
        return free

    def _scaled_by_curvature(
        self, vector: FloatArray, problems: IntArray, free: AnyArray
    ) -> FloatArray:
        """Return the preconditioner times τ times a vector of each problem."""
        last = (self._iteration - 1) % _MEMORY
        usable = np.flatnonzero(self._inverse[last, problems])
        some = free if len(free) == 1 else free[usable]
        moved, change = problems[usable], self._changes[last, problems[usable]] * some
        # One call for both: it is many small solves, and calls are what they cost.
        both = self._precondition(np.concatenate([vector, change]), np.append(problems, moved))
        vector, bend = both[: len(vector)] * free, _dot(change, both[len(vector) :])
        curvature = _dot(self._steps[last, moved] * some, change)
        positive = (bend > 0.0) & (curvature > 0.0)
        self._scale[moved[positive]] = curvature[positive] / bend[positive]
        return self._scale[problems, None] * vector

    def move(
        self, problems: IntArray, coef: FloatArray, value: FloatArray, gradient: FloatArray
    ) -> None:
        """Accept new iterates, and remember their steps and gradient changes."""
        step = coef - self.coef[problems]
        change = gradient - self.gradient[problems]
        inverse = _inverse_curvature(step, change)
        usable = inverse > 0.0
        slot = self._iteration % _MEMORY
        self._iteration += 1
        self._inverse[slot] = 0.0
        self._steps[slot, problems], self._changes[slot, problems] = step, change
        # Where the objective bends down, steps may be longer.
        self._scale[problems[~usable]] *= _LENGTHEN
        self._inverse[slot, problems] = inverse
        self.coef[problems], self.value[problems] = coef, value
        self.gradient[problems] = gradient
        self.n_iter[problems] += 1

    def shorten(self, problems: IntArray, value: FloatArray) -> None:
        """Shorten rejected steps to the minimum of a parabola, within bounds."""
        length, slope = self.length[problems], 2.0 * self.predicted[problems]
        rise = 2.0 * (value - self.value[problems] + length * slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(rise > 0, slope * length**2 / rise, length)
        low, high = _SHORTEN
        self.length[problems] = np.clip(best, low * length, high * length)


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the scalar products of rows."""
    products: FloatArray = np.einsum("kp,kp->k", left, right)
    return products


def _inverse_curvature(step: FloatArray, change: FloatArray) -> FloatArray:
    """Return one over the curvature along each step; zero where there is too little to count."""
    curvature = _dot(step, change)
    usable = curvature > _CURVATURE * np.sqrt(_dot(step, step) * _dot(change, change))
    return np.divide(1.0, curvature, out=np.zeros_like(curvature), where=usable)


def _on_side(coef: FloatArray, signs: AnyArray | None) -> FloatArray:
    """Return coefficients with those on the wrong side of zero set to zero."""
    return coef if signs is None else np.where(signs * coef < 0.0, 0.0, coef)
