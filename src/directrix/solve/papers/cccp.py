"""The concave-convex procedure, for objectives that are a difference of convex functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from directrix._typing import FloatArray
from directrix.solve.lbfgs import Callback, Objective, Path, Solution, lbfgs, warn_not_converged


def cccp(
    convex: Objective,
    concave: Objective,
    start: FloatArray,
    *,
    inner: Callable[[Objective, FloatArray], Solution] = lbfgs,
    max_iter: int = 50,
    tol: float = 1e-6,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise F = C − D, with C and D convex, by replacing D with its tangent repeatedly.

    .. math:: w_{k+1} = \arg\min_w\ C(w) - \nabla D(w_k) \cdot w

    The tangent lies below D, so the convex function that is minimised lies above F and touches it
    at :math:`w_k`. Hence F never increases (Yuille and Rangarajan 2003). The ramp loss is minimised
    this way (Collobert and others 2006; cited by Hasan and Pal 2015, §2). The procedure ends at a
    stationary point of F, which depends on the start.

    Parameters
    ----------
    convex : callable
        Returns value and gradient of C, penalty included.
    concave : callable
        Returns value and one subgradient of D, the convex function that is subtracted.
    start : array
        Initial coefficients.
    inner : callable
        Solver for convex objectives; takes an objective and a start, returns a Solution.
    max_iter : int
        Largest number of tangents.
    tol : float
        Decrease of F at which to stop, relative to F at the start.
    callback : callable, optional
        Called with coefficients and value after each tangent; return True to stop.
    """
    coef = np.array(start, dtype=np.float64)

    def evaluate(coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        (value, grad), (concave_value, tangent) = convex(coef), concave(coef)
        return value - concave_value, grad - tangent, tangent

    value, grad, tangent = evaluate(coef)
    path = Path(value, callback)
    enough, decrease = tol * abs(value), np.inf
    while decrease > enough and path.n_iter < max_iter:
        trial = inner(_Tilted(convex, tangent), coef).coef
        trial_value, trial_grad, trial_tangent = evaluate(trial)
        decrease = value - trial_value
        if decrease <= 0:  # no progress beyond the tolerance of the inner solver
            break
        coef, value, grad, tangent = trial, trial_value, trial_grad, trial_tangent
        if not path.record(coef, value):
            break
    norm = float(np.linalg.norm(grad))
    converged = decrease <= enough
    solution = Solution(coef, value, norm, path.n_iter, converged, tuple(path.values))
    remainder = f"a last decrease of {decrease:.1e}, above the tolerance of {enough:.1e}"
    return solution if path.stopped else warn_not_converged(solution, "CCCP", remainder)


class _Tilted:
    """A convex objective minus a linear function."""

    def __init__(self, convex: Objective, tangent: FloatArray) -> None:
        self._convex, self._tangent = convex, tangent

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``."""
        value, grad = self._convex(coef)
        return value - float(self._tangent @ coef), grad - self._tangent
