"""Margin losses: means over rows of a function of the margin, the score signed by the label."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import isinf
from typing import ClassVar

import numpy as np
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss, require_above_zero, require_width

_STEEPEST = 500.0  # exponent from which the exponential loss goes on along its tangent


class MarginLoss(Loss):
    r"""Base class: the mean over rows of a function of the margin.

    .. math:: L(s) = \frac{\sum_i \omega_i\, \phi(z_i)}{\sum_i \omega_i}, \qquad
              z_i = s_i \text{ of a positive row, } -s_i \text{ of a negative one}
    """

    separable: ClassVar[bool] = True

    @abstractmethod
    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin; margins may have any shape."""

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean loss, and its partial derivative by every score."""
        sign = np.where(positive, 1.0, -1.0)
        share = weight / weight.sum()
        value, slope = self.of_margin(sign * scores)
        slope *= sign
        slope *= share
        return float(share @ value), slope

    def values(self, positive: AnyArray, scores: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the losses of several vectors of scores, in one evaluation of φ."""
        sign = np.where(positive, 1.0, -1.0)
        losses: FloatArray = (weight / weight.sum()) @ self.of_margin(sign[:, None] * scores)[0]
        return losses

    @property
    def worst(self) -> float:
        """A convex φ at margin zero: divided by it, the loss is never below the error."""
        return float(self.of_margin(np.zeros(1))[0][0]) if self.convex else 1.0


class _WithoutLevel(MarginLoss):
    """Base class of margin losses without a sharpness."""

    def sharpen(self, level: float) -> Loss:  # noqa: ARG002
        """Return the loss itself, which has no sharpness."""
        return self


@dataclass(frozen=True)
class Logistic(_WithoutLevel):
    r"""Logistic loss, :math:`\phi(z) = \log(1 + e^{-z})`."""

    name: ClassVar[str] = "logistic"
    convex: ClassVar[bool] = True

    @property
    def model_label(self) -> str:
        """What a report calls a linear model that is fitted with the loss."""
        return "logistic regression"

    @property
    def sigmoid_mixture(self) -> tuple[float, float]:
        """No floor, and sharpness one."""
        return 0.0, 1.0

    @property
    def complexity(self) -> float:
        """Zero: logistic regression is what every candidate is compared with."""
        return 0.0

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        # The formula of np.logaddexp, which is not vectorised.
        return np.maximum(-z, 0.0) + np.log1p(np.exp(-np.abs(z))), -expit(-z)


@dataclass(frozen=True)
class Exponential(_WithoutLevel):
    r"""Exponential loss, :math:`\phi(z) = e^{-z}`.

    Beyond :math:`e^{500}` it continues along its tangent, so that it stays finite.
    """

    name: ClassVar[str] = "exponential"
    convex: ClassVar[bool] = True

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        slope = np.exp(np.minimum(-z, _STEEPEST))
        return slope * (1.0 + np.maximum(-z - _STEEPEST, 0.0)), -slope


@dataclass(frozen=True)
class SquaredHinge(_WithoutLevel):
    r"""Squared hinge, :math:`\phi(z) = (1 - z)_+^2`."""

    name: ClassVar[str] = "squared_hinge"
    convex: ClassVar[bool] = True

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        short = np.maximum(1.0 - z, 0.0)
        return short * short, -2.0 * short


@dataclass(frozen=True)
class Hinge(MarginLoss):
    r"""Hinge with a rounded corner (Zhang, Saha and Vishwanathan 2011, in units of the score).

    .. math:: \phi(z) = h_\kappa(m - z), \qquad
              h_\kappa(u) = \begin{cases} 0 & u \le 0 \\ u^2 / 2\kappa & 0 \le u \le \kappa \\
              u - \kappa / 2 & u \ge \kappa \end{cases}

    with :math:`0 \le (u)_+ - h_\kappa(u) \le \kappa / 2`.

    Parameters
    ----------
    kappa : float
        κ, the width of the corner; 0 is the hinge itself.
    margin : float
        m, above which a row costs nothing.
    """

    name: ClassVar[str] = "hinge"
    convex: ClassVar[bool] = True
    kappa: float = 0.1
    margin: float = 1.0

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        value, slope = rounded_corner(self.margin - z, self.kappa)
        return value, -slope

    def sharpen(self, level: float) -> Hinge:
        """Return the loss with a narrower corner."""
        return self._with(kappa=self.kappa / level)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:  # noqa: ARG002
        """Return how far below the hinge it may be: κ / 2."""
        return self.kappa / 2.0


@dataclass(frozen=True)
class Sigmoid(MarginLoss):
    r"""Smoothed zero-one loss (Hasan and Pal 2015, eq. 9–10).

    .. math:: \phi(z) = \frac{1}{1 + e^{\gamma z}}

    Parameters
    ----------
    gamma : float
        γ, the sharpness.
    """

    name: ClassVar[str] = "sigmoid"
    tight: ClassVar[bool] = True
    gamma: float = 1.0

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        require_above_zero(gamma=self.gamma)
        value = expit(-self.gamma * z)
        return value, -self.gamma * value * expit(self.gamma * z)

    def sharpen(self, level: float) -> Loss:
        """Return the loss nearer the zero-one loss."""
        return ZeroOne() if isinf(level) else self._with(gamma=self.gamma * level)


@dataclass(frozen=True)
class ZeroOne(_WithoutLevel):
    r"""Zero-one loss, :math:`\phi(z) = 1` where :math:`z \le 0`: the error itself.

    Tight losses of the error tend to it as they sharpen. Its gradient is zero;
    `directrix.solve.vertex_search` minimises it.
    """

    name: ClassVar[str] = "zero_one"
    tight: ClassVar[bool] = True
    fixes_intercept: ClassVar[bool] = True
    penalized: ClassVar[bool] = False

    @property
    def solvers(self) -> tuple[str, ...]:
        """The search over vertices, which needs no gradient."""
        return ("vertex",)

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative, which is zero wherever it is defined."""
        return (z <= 0).astype(np.float64), np.zeros_like(z)


def rounded_corner(u: FloatArray, kappa: float) -> tuple[FloatArray, FloatArray]:
    """Return the hinge with a rounded corner and its derivative; a subgradient where κ is 0."""
    require_width(kappa)
    if kappa == 0:
        return np.maximum(u, 0.0), (u > 0).astype(np.float64)
    slope = np.clip(u / kappa, 0.0, 1.0)
    return slope * (u - 0.5 * kappa * slope), slope
