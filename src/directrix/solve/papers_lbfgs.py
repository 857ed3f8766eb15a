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
    """Minimise a smooth function from a start.

    The recursion is written by hand because SciPy's L-BFGS-B fixes the first Wolfe constant at
    1e-3, and the paper's is 1e-4; the line search is SciPy's.

    Parameters
    ----------
    objective : callable
        Returns value and gradient.
    start : array
    memory : int
        Pairs of steps and gradient changes kept.
    max_iter : int
    tol : float
        Norm of the gradient at which to stop.
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
        if direction @ grad >= 0:  # rounding has turned it uphill: begin anew
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
        moved = step * direction
        before, (new_value, new_grad) = value, objective(coef + moved)
        change = new_grad - grad
        if moved @ change > 0:
            pairs.append((moved, change))
        coef, value, grad = coef + moved, new_value, new_grad
        history.append(value)
        n_iter += 1
    norm = float(np.linalg.norm(grad))
    solution = Solution(coef, value, norm, n_iter, norm <= tol, tuple(history))
    return warn_unless_converged(solution, "L-BFGS", tol)


def _times_inverse_hessian(
    pairs: deque[tuple[FloatArray, FloatArray]], grad: FloatArray
) -> FloatArray:
    """Return the two-loop recursion (Nocedal and Wright 2006, Algorithm 7.4)."""
    result = grad.copy()
    shares = []
    for moved, change in reversed(pairs):
        share = float(moved @ result) / float(moved @ change)
        result -= share * change
        shares.append(share)
    if pairs:
        moved, change = pairs[-1]
        result *= float(moved @ change) / float(change @ change)
    for (moved, change), share in zip(pairs, reversed(shares), strict=True):
        result += (share - float(change @ result) / float(moved @ change)) * moved
    return result
