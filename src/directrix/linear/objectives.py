"""DataObjective: a loss of the scores of rows as a function of the coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss


@dataclass(frozen=True)
class DataObjective:
    r"""A loss of the scores as a function of the coefficients of a linear model.

    .. math:: F(w, b) = L(X w + b) + \frac{\lambda}{2} \|w\|^2, \qquad
              \nabla_w F = X^\top g + \lambda w, \quad \partial_b F = \sum_i g_i

    where g are the partial derivatives of L with respect to the scores. The intercept is not
    penalised.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Features.
    positive : array of bool of shape (n,)
        Whether each row is of the positive class.
    weight : array of shape (n,)
        Sample weights.
    loss : Loss
        The loss L.
    ridge : float
        λ; 0 for no ridge penalty.
    """

    X: Any
    positive: AnyArray
    weight: FloatArray
    loss: Loss
    ridge: float = 0.0

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef`` (intercept last)."""
        weight = coef[:-1]
        value, slope = self.loss.value_and_grad(self.positive, self.scores(coef), self.weight)
        gradient = np.append(self.X.T @ slope + self.ridge * weight, slope.sum())
        return value + 0.5 * self.ridge * float(weight @ weight), gradient

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return the score of each row."""
        scores: FloatArray = self.X @ coef[:-1] + coef[-1]
        return scores

    def sharpened(self, level: float) -> Self:
        """Return the objective with the loss sharpened to ``level``."""
        return replace(self, loss=self.loss.sharpen(level))
