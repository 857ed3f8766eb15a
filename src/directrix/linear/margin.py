"""Margin losses: means over rows of a function of the margin, the score signed by the label."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss


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


@dataclass(frozen=True)
class Logistic(MarginLoss):
    r"""Logistic loss, :math:`\phi(z) = \log(1 + e^{-z})`."""

    name: ClassVar[str] = "logistic"

    @property
    def model_label(self) -> str:
        """Name in reports of a linear model that is fitted with the loss."""
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
