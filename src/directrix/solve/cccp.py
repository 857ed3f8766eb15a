"""The concave-convex procedure, for losses that are a difference of two convex ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from directrix.solve.lbfgs import lbfgs
from directrix.solve.solution import Callback, Objective, Path, Solution, warn_unless_there

if TYPE_CHECKING:
    from directrix._typing import FloatArray


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
    r"""Minimise F = C − D, both convex, each time with D replaced by its tangent.

    .. math:: w_{k+1} = \arg\min_w\ C(w) - \nabla D(w_k) \cdot w

    The tangent lies below D, so the convex function minimised lies above F and touches it at
    :math:`w_k`: F never rises (Yuille and Rangarajan 2003). It is how the ramp loss is descended
    (Collobert and others 2006; cited by Hasan and Pal 2015, §2), and ends where F is stationary,
    which depends on the start.

    Parameters
    ----------
    convex : callable
        Returns value and gradient of C, penalty included.
    concave : callable
        Returns value and one subgradient of D, the convex function that is subtracted.
    start : array
    inner : callable
        Minimises a convex objective from a start.
    max_iter : int
        Tangents.
    tol : float
        Fall of F at which to stop, relative to F at the start.
    callback : callable, optional
        Is given coefficients and value after each tangent; True stops.
    """
    coef = np.array(start, dtype=np.float64)

    def both(coef: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        (value, grad), (less, tangent) = convex(coef), concave(coef)
        return value - less, grad - tangent, tangent

    value, grad, tangent = both(coef)
    path = Path(value, callback)
    enough, fall = tol * abs(value), np.inf
    while fall > enough and path.n_iter < max_iter:
        trial = inner(_Tilted(convex, tangent), coef).coef
        trial_value, trial_grad, trial_tangent = both(trial)
        fall = value - trial_value
        if fall <= 0:  # what the inner solver leaves undone
            break
        coef, value, grad, tangent = trial, trial_value, trial_grad, trial_tangent
        if not path.goes_on(coef, value):
            break
    norm = float(np.linalg.norm(grad))
    converged = fall <= enough
    solution = Solution(coef, value, norm, path.n_iter, converged, tuple(path.values))
    left = f"a last fall of {fall:.1e} where {enough:.1e} was asked for"
    return solution if path.stopped else warn_unless_there(solution, "CCCP", left)


class _Tilted:
    """A convex objective less a linear function."""

    def __init__(self, convex: Objective, tangent: FloatArray) -> None:
        self._convex, self._tangent = convex, tangent

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient."""
        value, grad = self._convex(coef)
        return value - float(self._tangent @ coef), grad - self._tangent
