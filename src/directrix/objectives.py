"""Objectives: a risk or a loss as a function of the coefficients, with its gradient.

These are the only two chain rules: from moments to coefficients, and from rows to coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments import project, pullback

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.losses import Loss
    from directrix.moments import Moments
    from directrix.risks import Risk


@dataclass(frozen=True)
class MomentObjective:
    r"""A risk of the class moments as a function of the coefficients of a linear model.

    .. math:: F(w, b) = R\big(m_+, v_+, m_-, v_-\big) + \lambda\, (1 - \|w\|^2)^2

    The penalty does not regularise: R does not depend on the length of (w, b), and the penalty only
    fixes that length (Ghanbari, Li and Scheinberg 2019, §4).

    Parameters
    ----------
    moments : Moments
        Summary of two classes.
    risk : Risk
        The risk R.
    penalty : float
        λ; 0 for no penalty.
    """

    moments: Moments
    risk: Risk
    penalty: float = 0.0

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef`` (intercept last)."""
        value, partials = self.risk.value_and_grad(project(self.moments, coef))
        gradient = pullback(self.moments, coef, partials)
        weight = coef[:-1]
        slack = 1.0 - float(weight @ weight)
        gradient[:-1] -= 4.0 * self.penalty * slack * weight
        return value + self.penalty * slack**2, gradient

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian times a vector, by a central difference of two gradients.

        Exact second derivatives would need ten more formulas for every risk. Two gradients also
        cost O(d²) and are accurate to about nine digits.
        """
        length = float(np.linalg.norm(vector))
        if length == 0:
            return np.zeros_like(vector)
        step = np.cbrt(np.finfo(float).eps) * max(1.0, float(np.linalg.norm(coef))) / length
        ahead, behind = (self(coef + sign * step * vector)[1] for sign in (1.0, -1.0))
        product: FloatArray = (ahead - behind) / (2.0 * step)
        return product


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

    def sharpened(self, level: float) -> DataObjective:
        """Return the objective with the loss sharpened to ``level``."""
        return replace(self, loss=self.loss.sharpen(level))
