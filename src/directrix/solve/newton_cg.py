"""Newton's method with conjugate gradients, for objectives with a Hessian-vector product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.optimize import minimize

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray


class CurvedObjective(Objective, Protocol):
    """Protocol for objectives with a Hessian-vector product."""

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian at ``coef`` times a vector."""


def newton_cg(
    objective: CurvedObjective,
    start: FloatArray,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    callback: Callback | None = None,
) -> Solution:
    """Minimise with SciPy's truncated Newton method in a trust region.

    A second-order method based on Hessian-vector products, as Ghanbari, Li and Scheinberg 2019
    compare with L-BFGS (§4, alternative methods).

    Parameters
    ----------
    objective : callable
        Returns value and gradient, and has ``hessian_product``.
    start : array
        Initial coefficients.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.
    callback : callable, optional
        Called with coefficients and value after each iteration; return True to stop.
    """
    path = Path(objective(np.asarray(start, dtype=np.float64))[0], callback)

    def after_iteration(coef: FloatArray) -> None:
        if not path.record(coef, objective(coef)[0]):
            raise StopIteration

    result = minimize(
        objective,
        start,
        jac=True,
        hessp=objective.hessian_product,
        method="trust-ncg",
        callback=after_iteration,
        options={"maxiter": max_iter, "gtol": tol},
    )
    value, grad = objective(result.x)
    norm = float(np.linalg.norm(grad))
    return path.finish("Newton-CG", result.x, value, norm, converged=norm <= tol, tol=tol)
