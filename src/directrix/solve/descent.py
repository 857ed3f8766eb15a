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
    """Minimise by steps along the gradient, halved until the value falls enough.

    A trial is refused where ``F(trial) > F(w) − c α ‖∇F‖²``; the paper's Algorithm 1 prints this
    test without the value it must fall from.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
    max_iter : int
    tol : float
        Norm of the gradient, relative to that at the start, at which to stop.
    c, beta : float
        Share of the promised fall that must be had, and factor by which a step shrinks.
    callback : callable, optional
        Is given coefficients and value after each step; True stops.
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
        if not path.goes_on(coef, value):
            break
    return path.ends("Gradient descent", coef, value, norm, converged=norm <= enough, tol=enough)
