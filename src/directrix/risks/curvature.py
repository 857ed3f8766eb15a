r"""Chain rules of second derivatives: from normal rates to the four numbers of the scores.

The four numbers are in the order of `Partials`: :math:`m_+, v_+, m_-, v_-`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from directrix._normal import density, hazard, hazard_slope
from directrix._typing import FloatArray
from directrix.moments.projection import Partials, ScoreMoments

#: Distance of both means to a common threshold, by that threshold.
_BOTH_MEANS = np.array([1.0, 0.0, 1.0, 0.0])
_STEP = float(np.cbrt(np.finfo(float).eps))


class Derivatives(NamedTuple):
    """Gradient and Hessian of a function."""

    gradient: FloatArray
    hessian: FloatArray

    def through(self, jacobian: FloatArray) -> Derivatives:
        """Return the derivatives after a linear change of variables."""
        return Derivatives(jacobian.T @ self.gradient, jacobian.T @ self.hessian @ jacobian)

    def scaled(self, factor: float) -> Derivatives:
        """Return the derivatives of a multiple of the function."""
        return Derivatives(factor * self.gradient, factor * self.hessian)

    def plus(self, other: Derivatives) -> Derivatives:
        """Return the derivatives of the sum of two functions."""
        return Derivatives(self.gradient + other.gradient, self.hessian + other.hessian)


#: Mean and variance of one class, as linear functions of the four numbers.
OF_POSITIVES = np.eye(4)[:2]
OF_NEGATIVES = np.eye(4)[2:]
#: Mean and variance of the score of a negative less that of a positive.
OF_DIFFERENCES = np.array([[-1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
#: Mean of the same difference, and the variance of the negatives alone.
OF_NEGATIVE_SPREAD = np.array([[-1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def of_rate(z: float, variance: float) -> Derivatives:
    r"""Return the derivatives of :math:`\Phi(z)`, :math:`z = m / \sqrt v`, by m and v.

    .. math:: \Phi_{mm} = -\frac{\varphi z}{v}, \qquad
              \Phi_{mv} = \frac{\varphi (z^2 - 1)}{2 v \sqrt v}, \qquad
              \Phi_{vv} = \frac{\varphi z (3 - z^2)}{4 v^2}

    They are zero for a class without spread, as the first derivatives are.
    """
    by_z = density(z)
    if variance <= 0 or not by_z:
        return Derivatives(np.zeros(2), np.zeros((2, 2)))
    deviation = np.sqrt(variance)
    mixed = by_z * (z * z - 1.0) / (2.0 * variance * deviation)
    second = by_z * z * (3.0 - z * z) / (4.0 * variance**2)
    return Derivatives(
        np.array([by_z / deviation, -by_z * z / (2.0 * variance)]),
        np.array([[-by_z * z / variance, mixed], [mixed, second]]),
    )


def of_log_rate(z: float, variance: float) -> Derivatives:
    r"""Return the derivatives of :math:`\log \Phi(z)`, :math:`z = m / \sqrt v`, by m and v.

    With :math:`h = \varphi / \Phi`, the Hessian is :math:`h\, z'' + h'\, z' z'^\top`.
    """
    deviation = np.sqrt(variance)
    first = np.array([1.0 / deviation, -z / (2.0 * variance)])
    mixed = -1.0 / (2.0 * variance * deviation)
    second = np.array([[0.0, mixed], [mixed, 3.0 * z / (4.0 * variance**2)]])
    return Derivatives(
        hazard(z) * first, hazard(z) * second + hazard_slope(z) * np.outer(first, first)
    )


def of_quantile(z: float, variance: float) -> Derivatives:
    r"""Return the derivatives of the distance :math:`m - z \sqrt v` to a quantile, by m and v."""
    if variance <= 0:
        return Derivatives(np.array([1.0, 0.0]), np.zeros((2, 2)))
    deviation = np.sqrt(variance)
    second = z / (4.0 * variance * deviation)
    return Derivatives(
        np.array([1.0, -z / (2.0 * deviation)]), np.array([[0.0, 0.0], [0.0, second]])
    )


def at_threshold(risk: Derivatives, limit: Derivatives) -> FloatArray:
    r"""Return the Hessian of a risk at the threshold τ that a limit fixes.

    Risk R and limit L are functions of :math:`y = x - \tau e`, the four numbers with the means
    measured from τ. From :math:`L(x - \tau e) = 0` follow :math:`d\tau = L' dx / (L' e)` and

    .. math:: P^\top \Big( R'' - \frac{R' e}{L' e} L'' \Big) P, \qquad
              P = I - \frac{e L'}{L' e} .
    """
    pull = float(limit.gradient @ _BOTH_MEANS)
    moved = np.eye(4) - np.outer(_BOTH_MEANS, limit.gradient / pull)
    multiplier = float(risk.gradient @ _BOTH_MEANS) / pull
    return moved.T @ (risk.hessian - multiplier * limit.hessian) @ moved


def of_quadrature(
    slope: FloatArray, bend: FloatArray, nodes: FloatArray, z: FloatArray, *, sign: float, sd: float
) -> Derivatives:
    r"""Return the derivatives of :math:`\sum_i F_i(z_i)` by the gap g and two deviations.

    .. math:: z_i = \frac{\pm g + x_i\, s}{s'}

    ``slope`` and ``bend`` are the first and second derivatives of each term with respect to its z.
    ``nodes`` are x, the nodes of the quadrature. ``sign`` is the sign of the gap in z. ``sd`` is
    :math:`s'`, the deviation in the denominator.
    """
    first = np.stack([np.full_like(z, sign), nodes, -z]) / sd
    hessian = (first * bend) @ first.T
    gradient = first @ slope
    hessian[2] -= gradient / sd
    hessian[:, 2] -= gradient / sd
    return Derivatives(gradient, hessian)


def by_variances(by_deviations: Derivatives, deviations: tuple[float, float]) -> FloatArray:
    """Return the Hessian by the four numbers from derivatives by the gap and both deviations.

    ``by_deviations`` are the derivatives with respect to the gap between the means and to the
    deviations of the positives and of the negatives. ``deviations`` are these two deviations; if
    one is zero, the derivatives with respect to the variance of that class are zero.
    """
    jacobian = np.zeros((3, 4))
    jacobian[0] = 1.0, 0.0, -1.0, 0.0
    bends = np.zeros(4)
    for k, deviation in enumerate(deviations):
        if deviation > 0:
            jacobian[1 + k, 1 + 2 * k] = 1.0 / (2.0 * deviation)
            bends[1 + 2 * k] = -by_deviations.gradient[1 + k] / (4.0 * deviation**3)
    return by_deviations.through(jacobian).hessian + np.diag(bends)


def by_differences(
    value_and_grad: Callable[[ScoreMoments], tuple[float, Partials]], scores: ScoreMoments
) -> FloatArray:
    """Return the Hessian of a risk by central differences of its partial derivatives.

    It has about nine correct digits. Nothing changes with the variance of a class that has none.
    """
    deviations = np.sqrt([scores.var_pos, scores.var_neg])
    unit = deviations[deviations > 0].min(initial=np.inf)
    unit = unit if np.isfinite(unit) else 1.0
    steps = _STEP * np.array([unit, scores.var_pos, unit, scores.var_neg])
    hessian = np.zeros((4, 4))
    for k in np.flatnonzero(steps):
        ends = []
        for sign in (1.0, -1.0):
            near = np.array(scores)
            near[k] += sign * steps[k]
            ends.append(np.array(value_and_grad(ScoreMoments(*near.tolist()))[1]))
        hessian[k] = (ends[0] - ends[1]) / (2.0 * steps[k])
    return (hessian + hessian.T) / 2.0
