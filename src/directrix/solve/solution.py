"""What a solver returns, and the one place that words its warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol
from warnings import warn

from sklearn.exceptions import ConvergenceWarning

if TYPE_CHECKING:
    from directrix._typing import FloatArray


class Objective(Protocol):
    """Value and gradient of what is minimised."""

    def __call__(self, coef: FloatArray, /) -> tuple[float, FloatArray]:
        """Return value and gradient."""


class Solution(NamedTuple):
    """Where a solver stopped.

    Parameters
    ----------
    coef : array
    value : float
    grad_norm : float
    n_iter : int
    converged : bool
    history : tuple of float
        Value at the start and after each iteration.
    """

    coef: FloatArray
    value: float
    grad_norm: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]


def warn_unless_converged(solution: Solution, solver: str, tol: float) -> Solution:
    """Say so when a solver ran out of iterations, and what to do."""
    if not solution.converged:
        warn(
            f"{solver} stopped after {solution.n_iter} iterations with a gradient of norm "
            f"{solution.grad_norm:.1e} where {tol:.1e} was asked for: standardise the features, "
            "start closer (the frontier's best line is a good start), or allow more iterations.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return solution
