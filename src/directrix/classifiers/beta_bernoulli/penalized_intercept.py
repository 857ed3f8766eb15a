"""An objective with a slightly penalised intercept, and Newton steps that refine its minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from directrix.objectives import DataObjective

if TYPE_CHECKING:
    from directrix._typing import FloatArray

_INTERCEPT_PENALTY = 1e-8
_MOST_COLUMNS = 1000
_MOST_VALUES = 20_000_000
_MOST_STEPS = 10


@dataclass(frozen=True)
class PenalizedInterceptObjective(DataObjective):
    r"""A loss of a linear model with a ridge, and a tiny penalty of the intercept.

    .. math:: F(w, b) = L(X w + b) + \frac{\lambda}{2} \|w\|^2 + \frac{10^{-8}}{2} b^2

    If a class has a smaller share than its plateau allows for, a loss with plateaus decreases with
    the intercept for ever. With the penalty the intercept is then about 15; otherwise the penalty
    moves it by a few times 1e-7.
    """

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        value, grad = super().__call__(coef)
        grad[-1] += _INTERCEPT_PENALTY * coef[-1]
        return value + 0.5 * _INTERCEPT_PENALTY * float(coef[-1]) ** 2, grad


def newton_refine(objective: PenalizedInterceptObjective, coef: FloatArray) -> FloatArray:
    r"""Return the minimum next to nearly optimal coefficients, to rounding, by Newton steps.

    .. math:: (\tilde X^\top C \tilde X + \Lambda)\, \delta = -\nabla F

    with C the curvature of the loss at each score. L-BFGS stops when the objective no longer
    decreases, which leaves half of the digits of the coefficients. A step that does not reduce the
    gradient is not taken. With very many rows or columns the coefficients are returned unchanged.

    Parameters
    ----------
    objective : PenalizedInterceptObjective
    coef : array of shape (d + 1,)
    """
    if len(coef) > _MOST_COLUMNS or objective.X.shape[0] * len(coef) > _MOST_VALUES:
        return coef
    X = objective.X.toarray() if sparse.issparse(objective.X) else objective.X
    X = np.column_stack([X, np.ones(len(X))])
    penalty = np.append(np.full(len(coef) - 1, objective.ridge), _INTERCEPT_PENALTY)
    _, grad = objective(coef)
    for _ in range(_MOST_STEPS):
        curvature = objective.loss.curvature(objective.positive, X @ coef, objective.weight)
        if curvature is None:
            return coef
        try:
            step = np.linalg.solve((X.T * curvature) @ X + np.diag(penalty), grad)
        except np.linalg.LinAlgError:
            return coef
        _, next_grad = objective(coef - step)
        if not np.linalg.norm(next_grad) < np.linalg.norm(grad):
            return coef
        coef, grad = coef - step, next_grad
    return coef
