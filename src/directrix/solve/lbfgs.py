"""L-BFGS, the default solver for smooth objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


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


def stop_after(iterations: int, callback: Callback | None = None) -> Callback:
    """Return a callback that stops a solver after so many iterations, without a warning."""
    left = iterations

    def count(coef: FloatArray, value: float) -> bool:
        nonlocal left
        left -= 1
        asked = callback is not None and bool(callback(coef, value))
        return asked or left <= 0

    return count
