"""The sigmoid loss of SLA, and the zero-one loss that it tends to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from directrix._typing import FloatArray
from directrix.linear.loss import Loss, require_above_zero
from directrix.linear.margin import MarginLoss


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
    gamma: float = 1.0

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative at every margin."""
        require_above_zero(gamma=self.gamma)
        value = expit(-self.gamma * z)
        return value, -self.gamma * value * expit(self.gamma * z)

    def sharpen(self, level: float) -> Loss:
        """Return the loss nearer the zero-one loss."""
        return self._with(gamma=self.gamma * level)


@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    r"""Zero-one loss, :math:`\phi(z) = 1` where :math:`z \le 0`: the error itself.

    Its gradient is zero.
    """

    name: ClassVar[str] = "zero_one"

    def of_margin(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return φ and its derivative, which is zero wherever it is defined."""
        return (z <= 0).astype(np.float64), np.zeros_like(z)
