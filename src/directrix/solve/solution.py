"""What a solver returns, and the one place that words its warnings."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from warnings import warn

from sklearn.exceptions import ConvergenceWarning

from directrix.exceptions import find_stacklevel

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Is given coefficients and value after each iteration; True stops the solver.
Callback: TypeAlias = "Callable[[FloatArray, float], bool | None]"


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
        NaN of a search without gradients.
    n_iter : int
    converged : bool
        Whether the tolerance was met; False where a callback stopped the solver before.
    history : tuple of float
        Value at the start and after each iteration.
    lower_bound : float
        What no coefficients can be below, where the solver knows.
    """

    coef: FloatArray
    value: float
    grad_norm: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]
    lower_bound: float = -inf


class Path:
    """The values a solver has passed, each told to the caller's callback.

    Parameters
    ----------
    value : float
        At the start.
    callback : callable, optional
    """

    def __init__(self, value: float, callback: Callback | None) -> None:
        self._callback = callback
        self.values = [value]
        self.stopped = False

    def goes_on(self, coef: FloatArray, value: float) -> bool:
        """Note an iteration, and return False where the callback asks to stop."""
        self.values.append(value)
        self.stopped = self._callback is not None and bool(self._callback(coef, value))
        return not self.stopped

    @property
    def n_iter(self) -> int:
        """Iterations so far."""
        return len(self.values) - 1

    def ends(
        self,
        solver: str,
        coef: FloatArray,
        value: float,
        grad_norm: float,
        *,
        converged: bool,
        tol: float,
    ) -> Solution:
        """Return the solution of a descent; warn if it is neither there nor was stopped."""
        solution = Solution(coef, value, grad_norm, self.n_iter, converged, tuple(self.values))
        left = f"a gradient of norm {grad_norm:.1e} where {tol:.1e} was asked for"
        return solution if self.stopped else warn_unless_there(solution, solver, left)


def warn_unless_converged(solution: Solution, solver: str, tol: float) -> Solution:
    """Say so when a descent ran out of iterations, and what to do."""
    left = f"a gradient of norm {solution.grad_norm:.1e} where {tol:.1e} was asked for"
    return warn_unless_there(solution, solver, left)


def warn_unless_there(solution: Solution, solver: str, left: str) -> Solution:
    """Say so when a solver ran out of iterations, what was left, and what to do."""
    if not solution.converged:
        warn(
            f"{solver} stopped after {solution.n_iter} iterations with {left}: "
            "standardise the features, start closer (the frontier's best line is a good start), "
            "or allow more iterations.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    return solution
