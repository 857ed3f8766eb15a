"""L-BFGS with a Wolfe line search, as in Ghanbari, Li and Scheinberg 2019, §4."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import line_search

from directrix.solve.solution import Objective, Solution, warn_unless_converged

if TYPE_CHECKING:
    from directrix._typing import FloatArray


def papers_lbfgs(
    objective: Objective,
    start: FloatArray,
    *,
    memory: int = 20,
    max_iter: int = 500,
    tol: float = 1e-4,
    c1: float = 1e-4,
    c2: float = 0.9,
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
    memory : int
        Number of pairs of steps and gradient changes that are kept.
    max_iter : int
        Largest number of iterations.
    tol : float
        Gradient norm at which to stop.
    c1, c2 : float
        Wolfe constants.
    """
    coef = np.array(start, dtype=np.float64)
    value, grad = objective(coef)
    history, before = [value], None
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=memory)
    n_iter = 0
    while np.linalg.norm(grad) > tol and n_iter < max_iter:
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
            c1=c1,
            c2=c2,
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
        history.append(value)
        n_iter += 1
    norm = float(np.linalg.norm(grad))
    solution = Solution(coef, value, norm, n_iter, norm <= tol, tuple(history))
    return warn_unless_converged(solution, "L-BFGS", tol)


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
