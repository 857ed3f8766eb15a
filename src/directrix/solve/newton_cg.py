"""Newton's method with conjugate gradients, for objectives with a Hessian product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.optimize import minimize

from directrix.solve.solution import Objective, Solution, warn_unless_converged

if TYPE_CHECKING:
    from directrix._typing import FloatArray


class CurvedObjective(Objective, Protocol):
    """An objective that also has a Hessian product."""

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian at ``coef`` times a vector."""


def newton_cg(
    objective: CurvedObjective, start: FloatArray, *, max_iter: int = 200, tol: float = 1e-6
) -> Solution:
    """Minimise with SciPy's truncated Newton method in a trust region.

    Parameters
    ----------
    objective : callable
        Returns value and gradient, and has ``hessian_product``.
    start : array
    max_iter : int
    tol : float
        Norm of the gradient at which to stop.
    """
    history = [objective(np.asarray(start, dtype=np.float64))[0]]
    result = minimize(
        objective,
        start,
        jac=True,
        hessp=objective.hessian_product,
        method="trust-ncg",
        callback=lambda coef: history.append(objective(coef)[0]),
        options={"maxiter": max_iter, "gtol": tol},
    )
    value, grad = objective(result.x)
    norm = float(np.linalg.norm(grad))
    solution = Solution(result.x, value, norm, int(result.nit), norm <= tol, tuple(history))
    return warn_unless_converged(solution, "Newton-CG", tol)
