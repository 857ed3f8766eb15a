"""L-BFGS, the default solver for smooth objectives, of one problem and of many at once."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple, Protocol, TypeAlias
from warnings import warn

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import find_stacklevel, is_silenced

# ── Solution, the result of a solver; Path, its history; and its convergence warning ──────────────

#: Called with coefficients and value after each iteration; returns True to stop the solver.
Callback: TypeAlias = Callable[[FloatArray, float], bool | None]


class Objective(Protocol):
    """Protocol for functions to minimise: coefficients in, value and gradient out."""

    def __call__(self, coef: FloatArray, /) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``."""


class Solution(NamedTuple):
    """Result of a solver.

    Parameters
    ----------
    coef : array
        Coefficients at which the solver stopped.
    value : float
        Value of the objective there.
    grad_norm : float
        Norm of the gradient there; NaN for a search without gradients.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the tolerance was met; False if a callback stopped the solver before.
    history : tuple of float
        Value at the start and after each iteration.
    lower_bound : float
        Lower bound of the objective; −∞ if the solver computes none.
    """

    coef: FloatArray
    value: float
    grad_norm: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]
    lower_bound: float = -inf


class Path:
    """Values of an objective over the iterations of a solver, reported to a callback.

    ``value`` is the value at the start. ``callback`` is called by `record`.
    """

    def __init__(self, value: float, callback: Callback | None) -> None:
        self._callback = callback
        self.values = [value]
        self.stopped = False

    def record(self, coef: FloatArray, value: float) -> bool:
        """Record an iteration and call the callback; return False if it asks to stop."""
        self.values.append(value)
        self.stopped = self._callback is not None and bool(self._callback(coef, value))
        return not self.stopped

    @property
    def n_iter(self) -> int:
        """Number of iterations so far."""
        return len(self.values) - 1

    def finish(
        self,
        solver: str,
        coef: FloatArray,
        value: float,
        grad_norm: float,
        *,
        converged: bool,
        tol: float,
    ) -> Solution:
        """Return the solution; warn if the solver neither converged nor was stopped."""
        solution = Solution(coef, value, grad_norm, self.n_iter, converged, tuple(self.values))
        remainder = f"a gradient norm of {grad_norm:.1e}, above the tolerance of {tol:.1e}"
        return solution if self.stopped else warn_not_converged(solution, solver, remainder)


def warn_not_converged(solution: Solution, solver: str, remainder: str) -> Solution:
    """Warn if a solver did not converge, with the remaining error and a remedy.

    ``solution`` is returned unchanged. ``remainder`` is the part of the message that states the
    remaining error and the tolerance.
    """
    if not (solution.converged or is_silenced(ConvergenceWarning)):
        warn(
            f"{solver} stopped after {solution.n_iter} iterations with {remainder}: "
            "standardise the features, start closer (the frontier's best line is a good start), "
            "or allow more iterations.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    return solution


# ── L-BFGS on many problems at once: one evaluation of all of them per iteration ──────────────────

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


def batched_lbfgs(
    evaluate: Evaluate,
    start: FloatArray,
    precondition: Precondition,
    *,
    tol: float = 1e-5,
    iterations: int = 30,
    signs: AnyArray | None = None,
) -> FloatArray:
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

    Returns
    -------
    array of shape (k, p)
        Solution of each problem.
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
    return state.coef


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

    def shorten(self, problems: IntArray, value: FloatArray) -> None:
        """Shorten rejected steps to the minimum of a parabola, within bounds."""
        length, slope = self.length[problems], 2.0 * self.predicted[problems]
        rise = 2.0 * (value - self.value[problems] + length * slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(rise > 0, slope * length**2 / rise, length)
        low, high = _SHORTEN
        self.length[problems] = np.clip(best, low * length, high * length)


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
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


# ── L-BFGS, the default solver for smooth objectives ──────────────────────────────────────────────


def lbfgs(
    objective: Objective,
    start: FloatArray,
    *,
    memory: int = 10,
    max_iter: int = 500,
    tol: float = 1e-5,
    ftol: float = 1e-6,
    signs: AnyArray | None = None,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a smooth function with SciPy's L-BFGS-B.

    It stops where :math:`\|\nabla F\| \le \mathrm{tol} \cdot \max(1, \|\nabla F_0\|)`, or where one
    iteration lowers F by at most the share ``ftol``. SciPy's stopping rules use the largest partial
    derivative, and a decrease that is relative only where F is above one, so they are switched off.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    memory : int
        Number of pairs of steps and gradient changes that are kept.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop, relative to that at the start if that is above one.
    ftol : float
        Relative decrease per iteration at which to stop; 0 uses only the gradient. A line search
        that finds no lower point also counts as convergence.
    signs : array of shape (p,), optional
        1 where a coefficient may not be negative, −1 where it may not be positive, 0 elsewhere. The
        gradient norm is then that of the coefficients that can still move.
    callback : callable, optional
        Called with coefficients and value after each iteration; return True to stop.
    """
    coef = np.array(start, dtype=np.float64)
    bounds = None
    if signs is not None:
        bounds = Bounds(np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf))
        coef = np.clip(coef, bounds.lb, bounds.ub)
    grad = np.zeros_like(coef)

    def norm_of(point: FloatArray) -> float:
        if signs is None:
            return float(np.linalg.norm(grad))
        return float(np.linalg.norm(np.where((point == 0.0) & (signs * grad > 0.0), 0.0, grad)))

    def evaluate(point: FloatArray) -> tuple[float, FloatArray]:
        # An iteration of L-BFGS-B ends at the last point evaluated, so this is its gradient.
        nonlocal grad
        value, grad = objective(point)
        return value, grad

    value, _ = evaluate(coef)
    enough = tol * max(1.0, norm_of(coef))
    path = Path(value, callback)
    at_minimum = norm_of(coef) <= enough
    converged = at_minimum

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        nonlocal converged
        before, value = path.values[-1], float(intermediate_result.fun)
        continues = path.record(np.copy(intermediate_result.x), value)
        flat = before - value <= ftol * max(abs(before), abs(value))
        converged = flat or norm_of(intermediate_result.x) <= enough
        if converged or not continues:
            raise StopIteration

    if not at_minimum and max_iter > 0:
        result = minimize(
            evaluate,
            coef,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=after_iteration,
            options={
                "maxcor": memory,
                "maxiter": max_iter,
                "maxfun": 20 * max_iter + 100,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        coef, value, grad = result.x, float(result.fun), result.jac
        # Status 1: out of iterations; status 2: a line search without a decrease.
        converged |= result.status != 1 and not path.stopped
    return path.finish("L-BFGS", coef, value, norm_of(coef), converged=converged, tol=enough)


def stop_after(iterations: int) -> Callback:
    """Return a callback that stops a solver after so many iterations, without a warning."""
    left = iterations

    def count(coef: FloatArray, value: float) -> bool:  # noqa: ARG001
        nonlocal left
        left -= 1
        return left <= 0

    return count
