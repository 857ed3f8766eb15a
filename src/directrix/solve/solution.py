"""Solution, the result of a solver; Path, its history; and its convergence warning."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from warnings import warn

from sklearn.exceptions import ConvergenceWarning

from directrix.exceptions import find_stacklevel

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Called with coefficients and value after each iteration; returns True to stop the solver.
Callback: TypeAlias = "Callable[[FloatArray, float], bool | None]"


class Objective(Protocol):
    """Protocol for functions to minimise: coefficients in, value and gradient out."""

    def __call__(self, coef: FloatArray, /) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``."""


class Solution(NamedTuple):
    """Result of a solver.

    Parameters
    ----------
    coef : array
        Coefficients at which the solver stopped.
    value : float
        Value of the objective there.
    grad_norm : float
        Norm of the gradient there; NaN for a search without gradients.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the tolerance was met; False if a callback stopped the solver before.
    history : tuple of float
        Value at the start and after each iteration.
    lower_bound : float
        Lower bound of the objective; −∞ if the solver computes none.
    dual : array of shape (n,), optional
        Coefficient of each row in the expansion of the solution, if the solver computes them.
    """

    coef: FloatArray
    value: float
    grad_norm: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]
    lower_bound: float = -inf
    dual: FloatArray | None = None


class Path:
    """Values of an objective over the iterations of a solver, reported to a callback.

    value: value at the start.
    callback: called by `record`.
    """

    def __init__(self, value: float, callback: Callback | None) -> None:
        self._callback = callback
        self.values = [value]
        self.stopped = False

    def record(self, coef: FloatArray, value: float) -> bool:
        """Record an iteration and call the callback; return False if it asks to stop."""
        self.values.append(value)
        self.stopped = self._callback is not None and bool(self._callback(coef, value))
        return not self.stopped

    @property
    def n_iter(self) -> int:
        """Number of iterations so far."""
        return len(self.values) - 1

    def finish(
        self,
        solver: str,
        coef: FloatArray,
        value: float,
        grad_norm: float,
        *,
        converged: bool,
        tol: float,
    ) -> Solution:
        """Return the solution; warn if the solver neither converged nor was stopped."""
        solution = Solution(coef, value, grad_norm, self.n_iter, converged, tuple(self.values))
        remainder = f"a gradient norm of {grad_norm:.1e}, above the tolerance of {tol:.1e}"
        return solution if self.stopped else warn_not_converged(solution, solver, remainder)


def warn_unless_converged(solution: Solution, solver: str, tol: float) -> Solution:
    """Warn if a solver stopped before the gradient was small enough; return the solution."""
    remainder = f"a gradient norm of {solution.grad_norm:.1e}, above the tolerance of {tol:.1e}"
    return warn_not_converged(solution, solver, remainder)


def warn_not_converged(solution: Solution, solver: str, remainder: str) -> Solution:
    """Warn if a solver did not converge, with the remaining error and a remedy.

    solution: returned unchanged.
    solver: name of the solver.
    remainder: what is left of the error, and the tolerance.
    """
    if not solution.converged:
        warn(
            f"{solver} stopped after {solution.n_iter} iterations with {remainder}: "
            "standardise the features, start closer (the frontier's best line is a good start), "
            "or allow more iterations.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    return solution
