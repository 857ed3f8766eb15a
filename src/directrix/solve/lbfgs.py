"""L-BFGS, the solver of every smooth objective that is not a paper's own experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray


def lbfgs(
    objective: Objective,
    start: FloatArray,
    *,
    memory: int = 10,
    max_iter: int = 500,
    tol: float = 1e-5,
    ftol: float = 1e-6,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a smooth function with SciPy's L-BFGS-B, one evaluation for each point tried.

    Stops where :math:`\|\nabla F\| \le \mathrm{tol} \cdot \max(1, \|\nabla F_0\|)`, or where one
    iteration lowers F by no more than ``ftol`` of it. SciPy's own tests take the largest partial
    and call a fall relative only where F is above one, so they are switched off.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
    memory : int
        Pairs of steps and gradient changes kept.
    max_iter : int
    tol : float
        Norm of the gradient at which to stop, relative to that at the start where it is above one.
    ftol : float
        Relative fall of one iteration at which to stop; 0 leaves it to the gradient. A line search
        that finds no lower point ends the descent likewise: nothing is left to fall.
    callback : callable, optional
        Is given coefficients and value after each iteration; True stops.
    """
    coef = np.array(start, dtype=np.float64)
    grad = np.zeros_like(coef)

    def seen(point: FloatArray) -> tuple[float, FloatArray]:
        # An iteration of L-BFGS-B ends at the point it evaluated last, so its gradient is at hand.
        nonlocal grad
        value, grad = objective(point)
        return value, grad

    value, _ = seen(coef)
    enough = tol * max(1.0, float(np.linalg.norm(grad)))
    path = Path(value, callback)
    at_once = float(np.linalg.norm(grad)) <= enough
    converged = at_once

    def after_each(intermediate_result: OptimizeResult) -> None:
        nonlocal converged
        before, value = path.values[-1], float(intermediate_result.fun)
        goes_on = path.goes_on(np.copy(intermediate_result.x), value)
        flat = before - value <= ftol * max(abs(before), abs(value))
        converged = flat or float(np.linalg.norm(grad)) <= enough
        if converged or not goes_on:
            raise StopIteration

    if not at_once and max_iter > 0:
        result = minimize(
            seen,
            coef,
            jac=True,
            method="L-BFGS-B",
            callback=after_each,
            options={
                "maxcor": memory,
                "maxiter": max_iter,
                "maxfun": 20 * max_iter + 100,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        coef, value, grad = result.x, float(result.fun), result.jac
        # Status 1 is out of iterations; 2, a line search without a fall.
        converged |= result.status != 1 and not path.stopped
    norm = float(np.linalg.norm(grad))
    return path.ends("L-BFGS", coef, value, norm, converged=converged, tol=enough)
