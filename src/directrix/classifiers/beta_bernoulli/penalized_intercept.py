"""An objective whose intercept has a best value whatever the rows are, and its minimum exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from directrix.objectives import DataObjective

if TYPE_CHECKING:
    from directrix._typing import FloatArray

_STEADY = 1e-8
_MOST_COLUMNS = 1000
_MOST_VALUES = 20_000_000
_STEPS = 10


@dataclass(frozen=True)
class SteadyObjective(DataObjective):
    r"""A loss of a line, and next to nothing of the intercept.

    .. math:: F(w, b) = L(X w + b) + \frac{\lambda}{2} \|w\|^2 + \frac{10^{-8}}{2} b^2

    Where a class has a smaller share than its plateau allows for, a loss with plateaus falls with
    the intercept for ever. It is then some 15; elsewhere it moves by a few units of 1e-7.
    """

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        value, grad = super().__call__(coef)
        grad[-1] += _STEADY * coef[-1]
        return value + 0.5 * _STEADY * float(coef[-1]) ** 2, grad


def polished(objective: SteadyObjective, coef: FloatArray) -> FloatArray:
    r"""Return the minimum next to coefficients that are near it, to rounding, by Newton's steps.

    .. math:: (\tilde X^\top C \tilde X + \Lambda)\, \delta = -\nabla F

    with C the curvature of the loss at each score. A descent sees no more than that the objective
    no longer falls, which leaves half of the digits. A step that does not lower the gradient is
    not taken. With very many rows or columns nothing is done.

    Parameters
    ----------
    objective : SteadyObjective
    coef : array of shape (d + 1,)
    """
    if len(coef) > _MOST_COLUMNS or objective.X.shape[0] * len(coef) > _MOST_VALUES:
        return coef
    X = objective.X.toarray() if sparse.issparse(objective.X) else objective.X
    X = np.column_stack([X, np.ones(len(X))])
    penalty = np.append(np.full(len(coef) - 1, objective.ridge), _STEADY)
    _, grad = objective(coef)
    for _ in range(_STEPS):
        bend = objective.loss.curvature(objective.positive, X @ coef, objective.weight)
        if bend is None:
            return coef
        try:
            step = np.linalg.solve((X.T * bend) @ X + np.diag(penalty), grad)
        except np.linalg.LinAlgError:
            return coef
        _, after = objective(coef - step)
        if not np.linalg.norm(after) < np.linalg.norm(grad):
            return coef
        coef, grad = coef - step, after
    return coef
