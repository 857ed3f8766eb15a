"""Gradient descent with backtracking: Ghanbari and Scheinberg 2018, Algorithm 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray


def descent(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int = 250,
    tol: float = 1e-7,
    c: float = 1e-4,
    beta: float = 0.5,
    callback: Callback | None = None,
) -> Solution:
    """Minimise by gradient steps, shortened until the value decreases enough.

    A trial is rejected where ``F(trial) > F(w) − c α ‖∇F‖²``. Algorithm 1 of the paper prints
    ``+ c α ‖∇F‖²``, with which the value may rise.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    max_iter : int
        Largest number of steps.
    tol : float
        Gradient norm at which to stop, relative to that at the start.
    c, beta : float
        Required share of the predicted decrease, and the factor by which a step is shortened.
    callback : callable, optional
        Called with coefficients and value after each step; return True to stop.
    """
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    enough = tol * norm
    path = Path(value, callback)
    while norm > enough and path.n_iter < max_iter:
        step = 1.0
        trial_value, trial_grad = objective(coef - step * grad)
        while trial_value > value - c * step * norm**2 and step > np.finfo(float).eps:
            step *= beta
            trial_value, trial_grad = objective(coef - step * grad)
        if trial_value > value:
            break
        coef, value, grad = coef - step * grad, trial_value, trial_grad
        norm = float(np.linalg.norm(grad))
        if not path.record(coef, value):
            break
    return path.finish("Gradient descent", coef, value, norm, converged=norm <= enough, tol=enough)
