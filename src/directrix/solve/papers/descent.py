"""Descents of the papers: backtracking, accelerated, truncated Newton, and Wolfe L-BFGS."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from scipy.optimize import line_search, minimize

from directrix._typing import FloatArray
from directrix.linear.lbfgs import Callback, Objective, Path, Solution

# ── Starting points for solvers, from class means ─────────────────────────────────────────────────


def part_of_mean(mean_pos: FloatArray, mean_neg: FloatArray) -> FloatArray:
    r"""Return the starting point of Ghanbari, Li and Scheinberg 2019, §4, with intercept zero.

    .. math:: w_0 = \bar w_0 / \|\bar w_0\|, \qquad
              \bar w_0 = \mu_+ - \frac{\mu_-^\top \mu_+}{\|\mu_-\|^2} \mu_-

    which is the part of the positive mean that is orthogonal to the negative mean. If that part is
    zero (one mean is zero, or they are parallel), the difference of the means is used instead.
    """
    square = float(mean_neg @ mean_neg)
    start = mean_pos - (float(mean_neg @ mean_pos) / square) * mean_neg if square else mean_pos
    length = float(np.linalg.norm(start))
    if length <= 1e-12 * float(np.linalg.norm(mean_pos)):
        start = mean_pos - mean_neg
        length = float(np.linalg.norm(start))
    return np.append(start / (length or 1.0), 0.0)


# ── Gradient descent with backtracking: Ghanbari and Scheinberg 2018, Algorithm 1 ─────────────────


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


# ── Nesterov's accelerated gradient method, with rate 1/k² on smoothed convex risks ───────────────


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

    This is the method of Zhang, Saha and Vishwanathan 2011 (§1.1 and appendix A) for their smoothed
    risks, where :math:`L = \|A\|^2 / \mu + \lambda`. That constant is far too large in practice,
    so by default L is determined by backtracking: doubled until
    :math:`F(w_{k+1}) \le F(y_k) - \|\nabla F(y_k)\|^2 / 2L`, and lowered by a tenth before each
    step. Momentum is reset where it points uphill (O'Donoghue and Candès 2015). `lbfgs` needs
    fewer evaluations, as the paper also reports.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    lipschitz : float, optional
        L, constant for all steps; by default it is determined by backtracking.
    max_iter : int
        Largest number of iterations. An iteration costs two evaluations, and one more for each
        doubling of L.
    tol : float
        Gradient norm at which to stop, relative to that at the start if that is above one.
    callback : callable, optional
        Called with coefficients and value after each iteration; return True to stop.
    """
    if lipschitz is not None and not lipschitz > 0:
        msg = f"lipschitz must be above zero, not {lipschitz!r}"
        raise ValueError(msg)
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    norm = float(np.linalg.norm(grad))
    enough = tol * max(1.0, norm)
    path = Path(value, callback)
    curvature = lipschitz or _initial_curvature(objective, coef, grad)
    ahead, ahead_value, ahead_grad, momentum = coef, value, grad, 1.0
    while norm > enough and path.n_iter < max_iter:
        square = float(ahead_grad @ ahead_grad)
        while True:
            trial = ahead - ahead_grad / curvature
            value, grad = objective(trial)
            # A smaller decrease is rounding error.
            rounding = 4.0 * np.finfo(float).eps * abs(ahead_value)
            if lipschitz or value <= ahead_value - square / (2.0 * curvature) + rounding:
                break
            curvature *= 2.0
        move, coef = trial - coef, trial
        norm = float(np.linalg.norm(grad))
        if not path.record(coef, value):
            break
        if float(ahead_grad @ move) > 0:
            momentum = 1.0
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = coef + (momentum - 1.0) / next_momentum * move
        momentum = next_momentum
        ahead_value, ahead_grad = objective(ahead)
        curvature = lipschitz or 0.9 * curvature
    return path.finish("Nesterov's method", coef, value, norm, converged=norm <= enough, tol=enough)


def _initial_curvature(objective: Objective, coef: FloatArray, grad: FloatArray) -> float:
    """Return the rate of change of the gradient along itself, a lower estimate of L."""
    length = float(np.linalg.norm(grad))
    if length == 0:
        return 1.0
    step = 1e-4 * max(1.0, float(np.linalg.norm(coef)))
    change = objective(coef - (step / length) * grad)[1] - grad
    return float(np.linalg.norm(change)) / step or 1.0


# ── Newton's method with conjugate gradients, for objectives with a Hessian-vector product ────────


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


# ── L-BFGS with a Wolfe line search, as in Ghanbari, Li and Scheinberg 2019, §4 ───────────────────

_MEMORY = 20  # pairs of steps and gradient changes that are kept
_WOLFE = 1e-4, 0.9


def wolfe_lbfgs(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int = 500,
    tol: float = 1e-4,
) -> Solution:
    """Minimise a smooth function by L-BFGS with the constants of the paper.

    The recursion is written here because SciPy's L-BFGS-B fixes the first Wolfe constant at 1e-3,
    while that of the paper is 1e-4. The line search is SciPy's.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
        Initial coefficients.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.
    """
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    path, before = Path(value, None), None
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
    while np.linalg.norm(grad) > tol and path.n_iter < max_iter:
        direction = -_times_inverse_hessian(pairs, grad)
        if direction @ grad >= 0:  # rounding has turned it uphill: restart
            pairs.clear()
            direction = -grad
        step = line_search(
            lambda x: objective(x)[0],
            lambda x: objective(x)[1],
            coef,
            direction,
            gfk=grad,
            old_fval=value,
            old_old_fval=before,
            c1=_WOLFE[0],
            c2=_WOLFE[1],
            maxiter=30,
        )[0]
        if step is None:
            break
        move = step * direction
        before, (new_value, new_grad) = value, objective(coef + move)
        change = new_grad - grad
        if move @ change > 0:
            pairs.append((move, change))
        coef, value, grad = coef + move, new_value, new_grad
        path.record(coef, value)
    norm = float(np.linalg.norm(grad))
    return path.finish("L-BFGS", coef, value, norm, converged=norm <= tol, tol=tol)


def _times_inverse_hessian(
    pairs: deque[tuple[FloatArray, FloatArray]], grad: FloatArray
) -> FloatArray:
    """Return the inverse Hessian times a gradient (Nocedal and Wright 2006, Algorithm 7.4)."""
    result = grad.copy()
    shares = []
    for move, change in reversed(pairs):
        share = float(move @ result) / float(move @ change)
        result -= share * change
        shares.append(share)
    if pairs:
        move, change = pairs[-1]
        result *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(pairs, reversed(shares), strict=True):
        result += (share - float(change @ result) / float(move @ change)) * move
    return result
