"""From class moments to the four numbers of a line's scores, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.moments import Moments


class ScoreMoments(NamedTuple):
    r"""Mean and variance of the scores of each class, and the prior of the positive one.

    .. math:: m_c = w \cdot \mu_c + b, \qquad v_c = w^\top \Sigma_c w
    """

    mean_pos: float
    var_pos: float
    mean_neg: float
    var_neg: float
    prior: float

    @classmethod
    def of_scores(cls, positive: AnyArray, scores: FloatArray, weight: FloatArray) -> ScoreMoments:
        """Take the four numbers and the prior of scores of both classes."""
        numbers = []
        for own in (positive, ~positive):
            share = weight[own] / weight[own].sum()
            mean = float(share @ scores[own])
            numbers += [mean, float(share @ (scores[own] - mean) ** 2)]
        prior = float(weight @ positive) / float(weight.sum())
        return cls(numbers[0], numbers[1], numbers[2], numbers[3], prior)

    def above(self, threshold: float) -> ScoreMoments:
        """Return the moments of ``score − threshold``."""
        return self._replace(mean_pos=self.mean_pos - threshold, mean_neg=self.mean_neg - threshold)


class Partials(NamedTuple):
    """Partial derivatives of a risk by the four numbers."""

    mean_pos: float
    var_pos: float
    mean_neg: float
    var_neg: float


def project(moments: Moments, coef: FloatArray) -> ScoreMoments:
    """Return the four numbers of the line ``coef`` (intercept last) over two classes."""
    weight, intercept = coef[:-1], float(coef[-1])
    means, variances = zip(
        *(
            (float(weight @ group.mean) + intercept, float(weight @ (group.covariance @ weight)))
            for group in (moments.positive, moments.negative)
        ),
        strict=True,
    )
    # Rounding may leave a variance of zero just below it.
    return ScoreMoments(
        means[0], max(variances[0], 0.0), means[1], max(variances[1], 0.0), moments.prior
    )


def pullback(moments: Moments, coef: FloatArray, partials: Partials) -> FloatArray:
    r"""Carry four partials back to the line: the gradient with respect to ``coef``.

    .. math:: \frac{\partial R}{\partial w} = \sum_c \Big( \frac{\partial R}{\partial m_c} \mu_c
              + 2 \frac{\partial R}{\partial v_c} \Sigma_c w \Big), \qquad
              \frac{\partial R}{\partial b} = \sum_c \frac{\partial R}{\partial m_c}
    """
    weight = coef[:-1]
    positive, negative = moments.positive, moments.negative
    gradient = np.empty(len(coef))
    gradient[:-1] = (
        partials.mean_pos * positive.mean
        + partials.mean_neg * negative.mean
        + 2.0 * partials.var_pos * (positive.covariance @ weight)
        + 2.0 * partials.var_neg * (negative.covariance @ weight)
    )
    gradient[-1] = partials.mean_pos + partials.mean_neg
    return gradient
