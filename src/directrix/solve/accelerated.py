"""Nesterov's accelerated gradient: the rate 1/k² that smoothing a risk is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from directrix.solve.solution import Callback, Objective, Path, Solution

if TYPE_CHECKING:
    from directrix._typing import FloatArray


def nesterov(
    objective: Objective,
    start: FloatArray,
    *,
    lipschitz: float | None = None,
    max_iter: int = 2000,
    tol: float = 1e-5,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a convex smooth function by gradient steps from extrapolated points.

    .. math:: w_{k+1} = y_k - \tfrac1L \nabla F(y_k), \qquad
              y_{k+1} = w_{k+1} + \frac{a_k - 1}{a_{k+1}} (w_{k+1} - w_k), \qquad
              a_{k+1} = \tfrac12 \big(1 + \sqrt{1 + 4 a_k^2}\big)

    The method that Zhang, Saha and Vishwanathan 2012 (§1.1 and appendix A) have in mind for their
    smoothed risks, where :math:`L = \|A\|^2 / \mu + \lambda`. That constant is far too careful in
    practice, so by default L is found by backtracking: doubled until
    :math:`F(w_{k+1}) \le F(y_k) - \|\nabla F(y_k)\|^2 / 2L`, and lowered by a tenth before each
    step. Momentum is dropped where it points uphill (O'Donoghue and Candès 2015). `lbfgs` needs
    fewer evaluations, as the paper found too.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
    lipschitz : float, optional
        L, kept for all steps.
    max_iter : int
        Each costs two evaluations, and one more for each doubling of L.
    tol : float
        Norm of the gradient at which to stop, relative to that at the start where it is above one.
    callback : callable, optional
        Is given coefficients and value after each iteration; True stops.
    """
    if lipschitz is not None and not lipschitz > 0:
        msg = f"lipschitz must be above zero, not {lipschitz!r}"
        raise ValueError(msg)
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    enough = tol * max(1.0, norm)
    path = Path(value, callback)
    steepness = lipschitz or _steepness(objective, coef, grad)
    ahead, ahead_value, ahead_grad, momentum = coef, value, grad, 1.0
    while norm > enough and path.n_iter < max_iter:
        square = float(ahead_grad @ ahead_grad)
        while True:
            trial = ahead - ahead_grad / steepness
            value, grad = objective(trial)
            # Below this much a fall is rounding.
            blur = 4.0 * np.finfo(float).eps * abs(ahead_value)
            if lipschitz or value <= ahead_value - square / (2.0 * steepness) + blur:
                break
            steepness *= 2.0
        moved, coef = trial - coef, trial
        norm = float(np.linalg.norm(grad))
        if not path.goes_on(coef, value):
            break
        if float(ahead_grad @ moved) > 0:
            momentum = 1.0
        further = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = coef + (momentum - 1.0) / further * moved
        momentum = further
        ahead_value, ahead_grad = objective(ahead)
        steepness = lipschitz or 0.9 * steepness
    return path.ends("Nesterov's method", coef, value, norm, converged=norm <= enough, tol=enough)


def _steepness(objective: Objective, coef: FloatArray, grad: FloatArray) -> float:
    """Return how fast the gradient changes along itself: a first guess at L, from below."""
    length = float(np.linalg.norm(grad))
    if length == 0:
        return 1.0
    step = 1e-4 * max(1.0, float(np.linalg.norm(coef)))
    change = objective(coef - (step / length) * grad)[1] - grad
    return float(np.linalg.norm(change)) / step or 1.0
