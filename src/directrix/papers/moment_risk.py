"""Risks of class moments as functions of the coefficients, of the papers of 2018 and 2019."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import dsymv

from directrix._typing import FloatArray
from directrix.linear.lbfgs import Solution
from directrix.moments import Moments
from directrix.moments.projection import Partials, ScoreMoments
from directrix.moments.risks import CostRisk, RankingRisk
from directrix.papers.base import PaperClassifier, WithoutIntercept, summary_of


@dataclass(frozen=True)
class MomentObjective:
    r"""A risk of the class moments as a function of the coefficients of a linear model.

    .. math:: F(w, b) = R\big(m_+, v_+, m_-, v_-\big) + \lambda\, (1 - \|w\|^2)^2

    The penalty does not regularise: R does not depend on the length of (w, b), and the penalty only
    fixes that length (Ghanbari, Li and Scheinberg 2019, §4). An evaluation is one product with the
    covariance of each class, which is divided by its weight once. The covariance divides by n, that
    of the papers by n − 1: at 400 rows F differs by 9e-5.

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

    @cached_property
    def _means(self) -> FloatArray:
        return np.stack([self.moments.positive.mean, self.moments.negative.mean])

    @cached_property
    def _covariances(self) -> tuple[Any, Any]:
        return self.moments.positive.covariance, self.moments.negative.covariance

    def _times(self, vector: FloatArray) -> list[FloatArray]:
        """Return both covariances times a vector; of a matrix, one half is read."""
        return [
            dsymv(1.0, each.T, vector) if isinstance(each, np.ndarray) else each @ vector
            for each in self._covariances
        ]

    @cached_property
    def _prior(self) -> float:
        return self.moments.prior

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef`` (intercept last)."""
        weight = coef[:-1]
        products, scores = self._products(coef)
        value, partials = self.risk.value_and_grad(scores)
        slack = 1.0 - float(weight @ weight)
        gradient = np.empty(len(coef))
        gradient[:-1] = (partials.mean_pos, partials.mean_neg) @ self._means
        gradient[:-1] += 2.0 * partials.var_pos * products[0]
        gradient[:-1] += 2.0 * partials.var_neg * products[1]
        gradient[:-1] -= 4.0 * self.penalty * slack * weight
        gradient[-1] = partials.mean_pos + partials.mean_neg
        return value + self.penalty * slack**2, gradient

    def scores(self, coef: FloatArray) -> ScoreMoments:
        """Return the moments of the scores."""
        return self._products(coef)[1]

    def _products(self, coef: FloatArray) -> tuple[list[FloatArray], ScoreMoments]:
        """Return the covariances times w, and the moments of the scores."""
        weight = coef[:-1]
        products = self._times(weight)
        means = self._means @ weight + coef[-1]
        # Rounding may make a variance of zero slightly negative.
        variances = [max(float(weight @ product), 0.0) for product in products]
        mean_pos, mean_neg = means.tolist()
        return products, ScoreMoments(mean_pos, variances[0], mean_neg, variances[1], self._prior)

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        r"""Return the Hessian at ``coef`` times a vector.

        With :math:`s = (m_+, v_+, m_-, v_-)` and its Jacobian J by the coefficients,

        .. math:: \nabla^2 F\, u = J^\top \nabla^2 R\; J u
                  + 2 \sum_c \frac{\partial R}{\partial v_c} \Sigma_c u
                  - 4 \lambda (1 - \|w\|^2)\, u + 8 \lambda (w \cdot u)\, w ,

        the last three terms without the intercept. It costs O(d²), about as much as a gradient.
        """
        weight, along = coef[:-1], vector[:-1]
        products, scores = self._products(coef)
        partials = self.risk.value_and_grad(scores)[1]
        turned = self._times(along)
        by_mean = self._means @ along + vector[-1]
        by_variance = [2.0 * float(product @ along) for product in products]
        change = np.array([by_mean[0], by_variance[0], by_mean[1], by_variance[1]])
        second = Partials(*(self.risk.hessian(scores) @ change))
        result = np.empty(len(coef))
        result[:-1] = (second.mean_pos, second.mean_neg) @ self._means
        result[:-1] += 2.0 * (second.var_pos * products[0] + partials.var_pos * turned[0])
        result[:-1] += 2.0 * (second.var_neg * products[1] + partials.var_neg * turned[1])
        result[-1] = second.mean_pos + second.mean_neg
        slack = 1.0 - float(weight @ weight)
        result[:-1] += self.penalty * (8.0 * (weight @ along) * weight - 4.0 * slack * along)
        return result


def part_of_mean(mean_pos: FloatArray, mean_neg: FloatArray) -> FloatArray:
    r"""Return the starting point of both papers (2018, §4; 2019, §4), without intercept.

    .. math:: w_0 = \bar w_0 / \|\bar w_0\|, \qquad
              \bar w_0 = \mu_+ - \frac{\mu_-^\top \mu_+}{\|\mu_-\|^2} \mu_-

    which is the part of the positive mean that is orthogonal to the negative mean. If that part is
    zero (one mean is zero, or they are parallel), the difference of the means is used instead.
    """
    square = float(mean_neg @ mean_neg)
    start = mean_pos - (float(mean_neg @ mean_pos) / square) * mean_neg if square else mean_pos
    length = float(np.linalg.norm(start))
    if length <= 1e-12 * float(np.linalg.norm(mean_pos)):
        start = mean_pos - mean_neg
        length = float(np.linalg.norm(start))
    return start / (length or 1.0)


class MomentRiskClassifier(PaperClassifier):
    """Base class of the classifiers that see class moments only: from rows, or from a summary."""

    fit_intercept: bool
    _risk: CostRisk | RankingRisk

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the class moments of rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        """
        X, positive = self._rows(X, y)
        return self._fit(summary_of(X, positive))

    def fit_summary(self, moments: Moments) -> Self:
        """Fit to a summary, of rows wherever they are; see `directrix.summarize`.

        Parameters
        ----------
        moments : Moments
            Of two classes; the last in the order of labels is the class +1.
        """
        self.classes_ = np.sort(np.asarray(moments.classes))
        self.n_features_in_ = moments.n_features
        if moments.feature_names is not None:
            self.feature_names_in_ = np.array(moments.feature_names, dtype=object)
        return self._fit(moments.with_positive(self.classes_.tolist()[-1]))

    def _fit(self, moments: Moments) -> Self:
        penalty = getattr(self, "lam", 0.0)
        objective: Any = MomentObjective(moments, self._risk, penalty)
        means = moments.positive.mean, moments.negative.mean
        # The intercept of a ranking is no part of its risk, so it is set after the descent.
        searched = self.fit_intercept and not self._risk.shift_invariant
        if searched:  # the paper's start in the space of rows with a constant of one
            start = part_of_mean(*(np.append(mean, 1.0) for mean in means))
        else:
            objective, start = WithoutIntercept(objective), part_of_mean(*means)
        self._keep(self._minimised(objective, start), intercept=searched)
        if self.fit_intercept and not searched:
            scores = MomentObjective(moments, self._risk).scores(np.append(self.coef_[0], 0.0))
            self.intercept_ = np.array([-self._risk.threshold(scores)])
        return self

    def _minimised(self, objective: Any, start: FloatArray) -> Solution:
        raise NotImplementedError
