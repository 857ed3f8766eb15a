"""Objectives: a risk or a loss as a function of the coefficients, with its gradient.

These are the only two chain rules: from moments to coefficients, and from rows to coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss
from directrix.moments import Moments
from directrix.moments.projection import Partials, project, pullback
from directrix.risks import CostRisk, RankingRisk

__all__ = ["DataObjective", "MomentObjective"]


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
    risk : CostRisk or RankingRisk
        The risk R.
    penalty : float
        λ; 0 for no penalty.
    """

    moments: Moments
    risk: CostRisk | RankingRisk
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
        r"""Return the Hessian at ``coef`` times a vector.

        With :math:`s = (m_+, v_+, m_-, v_-)` and its Jacobian J by the coefficients,

        .. math:: \nabla^2 F\, u = J^\top \nabla^2 R\; J u
                  + 2 \sum_c \frac{\partial R}{\partial v_c} \Sigma_c u
                  - 4 \lambda (1 - \|w\|^2)\, u + 8 \lambda (w \cdot u)\, w ,

        the last three terms without the intercept. It costs O(d²), about as much as a gradient.
        """
        scores = project(self.moments, coef)
        partials = self.risk.value_and_grad(scores)[1]
        weight, along = coef[:-1], vector[:-1]
        both = np.column_stack([weight, along])
        groups = (self.moments.positive, self.moments.negative)
        products = [group.covariance @ both for group in groups]
        change = np.array(
            [
                slope
                for group, product in zip(groups, products, strict=True)
                for slope in (group.mean @ along + vector[-1], 2.0 * (product[:, 0] @ along))
            ]
        )
        turned = Partials(*(self.risk.hessian(scores) @ change))
        result = np.empty(len(coef))
        result[:-1] = (
            turned.mean_pos * groups[0].mean
            + turned.mean_neg * groups[1].mean
            + 2.0 * (products[0] @ (turned.var_pos, partials.var_pos))
            + 2.0 * (products[1] @ (turned.var_neg, partials.var_neg))
        )
        result[-1] = turned.mean_pos + turned.mean_neg
        slack = 1.0 - float(weight @ weight)
        result[:-1] += self.penalty * (8.0 * (weight @ along) * weight - 4.0 * slack * along)
        return result


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
