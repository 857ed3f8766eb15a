"""Moments of the scores of a linear model, and the gradient with respect to its coefficients."""

from __future__ import annotations

from typing import NamedTuple

from directrix._typing import FloatArray
from directrix.moments.moments import Moments


class ScoreMoments(NamedTuple):
    r"""Mean and variance of the scores of each class, and the prior of the positive class.

    .. math:: m_c = w \cdot \mu_c + b, \qquad v_c = w^\top \Sigma_c w
    """

    mean_pos: float
    var_pos: float
    mean_neg: float
    var_neg: float
    prior: float

    def above(self, threshold: float) -> ScoreMoments:
        """Return the moments of ``score − threshold``."""
        return self._replace(mean_pos=self.mean_pos - threshold, mean_neg=self.mean_neg - threshold)


class Partials(NamedTuple):
    """Partial derivatives of a risk with respect to the four numbers of `ScoreMoments`."""

    mean_pos: float
    var_pos: float
    mean_neg: float
    var_neg: float


def project(moments: Moments, coef: FloatArray) -> ScoreMoments:
    """Return the score moments of the linear model ``coef`` (intercept last) on two classes."""
    weight, intercept = coef[:-1], float(coef[-1])
    means, variances = zip(
        *(
            (float(weight @ group.mean) + intercept, float(weight @ (group.covariance @ weight)))
            for group in (moments.positive, moments.negative)
        ),
        strict=True,
    )
    # Rounding may make a variance of zero slightly negative.
    return ScoreMoments(
        means[0], max(variances[0], 0.0), means[1], max(variances[1], 0.0), moments.prior
    )
