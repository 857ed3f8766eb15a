"""The chain rule from a metric to a line: coefficients in, value and gradient out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments.projection import project, pullback

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.losses import Loss
    from directrix.moments import Moments
    from directrix.risks import Risk


@dataclass(frozen=True)
class MomentObjective:
    r"""A risk as a function of the line.

    .. math:: F(w, b) = R\big(m_+, v_+, m_-, v_-\big) + \lambda\, (1 - \|w\|^2)^2

    The penalty does not regularise, since R does not depend on the length of (w, b); it only
    fixes that length (Ghanbari, Li and Scheinberg 2019, §4).

    Parameters
    ----------
    moments : Moments
    risk : Risk
    penalty : float
        λ.
    """

    moments: Moments
    risk: Risk
    penalty: float = 0.0

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        value, partials = self.risk.value_and_grad(project(self.moments, coef))
        gradient = pullback(self.moments, coef, partials)
        weight = coef[:-1]
        slack = 1.0 - float(weight @ weight)
        gradient[:-1] -= 4.0 * self.penalty * slack * weight
        return value + self.penalty * slack**2, gradient

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian times a vector, by a central difference of two gradients.

        Exact second derivatives would need ten more formulas from every risk; two gradients cost
        the same O(d²) and agree to about nine digits.
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
    r"""A loss as a function of the line.

    .. math:: F(w, b) = L(X w + b) + \frac{\lambda}{2} \|w\|^2, \qquad
              \nabla_w F = X^\top g + \lambda w, \quad \partial_b F = \sum_i g_i

    with g the partials of L by the scores. The intercept is not penalised.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    loss : Loss
    ridge : float
        λ.
    """

    X: Any
    positive: AnyArray
    weight: FloatArray
    loss: Loss
    ridge: float = 0.0

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        weight = coef[:-1]
        value, slope = self.loss.value_and_grad(self.positive, self.scores(coef), self.weight)
        gradient = np.append(self.X.T @ slope + self.ridge * weight, slope.sum())
        return value + 0.5 * self.ridge * float(weight @ weight), gradient

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return the score of each row."""
        scores: FloatArray = self.X @ coef[:-1] + coef[-1]
        return scores

    def sharpened(self, level: float) -> DataObjective:
        """Return the objective whose loss is so many times as sharp."""
        return replace(self, loss=self.loss.sharpen(level))
