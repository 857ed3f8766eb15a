"""Generalised Beta-Bernoulli loss: logistic regression whose loss reaches a plateau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray
from directrix.linear.loss import Loss, require_above_zero


class Partials(NamedTuple):
    """Partial derivatives of the loss by its parameters."""

    mixing: float
    prior_mean: float
    gamma: float


@dataclass(frozen=True)
class BetaBernoulli(Loss):
    r"""Minus the mean log-likelihood of a mixture (Hasan and Pal 2015, eq. 5–6, 19, 21–22).

    .. math:: L(s) = -\frac{\sum_i \omega_i \log p_i}{\sum_i \omega_i}, \qquad
              p_i = \begin{cases} \mu(s_i) & i \in P \\ 1 - \mu(s_i) & i \in N \end{cases}, \qquad
              \mu(s) = \varpi\, \theta + (1 - \varpi)\, \sigma(\gamma s)

    The probability never leaves :math:`[\varpi\theta, 1 - \varpi (1 - \theta)]`, so that no row
    can cost more than a plateau: rows far on the wrong side lose their influence. With
    :math:`\varpi = 0` it is the logistic loss; with :math:`\theta = 1/2` that of labels flipped
    at rate :math:`a = \varpi / 2`. Other θ make the plateaus of the classes differ.

    Parameters
    ----------
    mixing : float
        ϖ, from 0 up to 1.
    prior_mean : float
        θ, from 0 to 1.
    gamma : float
        γ, the sharpness.
    """

    name: ClassVar[str] = "beta_bernoulli"
    separable: ClassVar[bool] = True
    mixing: float = 0.2
    prior_mean: float = 0.5
    gamma: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss, and its partial derivative by every score (eq. 25–26)."""
        sign, right, wrong, chance = self._parts(positive, scores)
        share = weight / weight.sum()
        slope = -(1.0 - self.mixing) * self.gamma * sign * right * (wrong / chance)
        return float(-share @ self._log(chance, sign * scores)), share * slope

    def values(self, positive: AnyArray, scores: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the losses of several vectors of scores, in one evaluation of σ."""
        plateau = self.mixing * np.where(positive, self.prior_mean, 1.0 - self.prior_mean)
        if plateau.min() <= _LEAST:  # the logarithm needs its tail
            return super().values(positive, scores, weight)
        sharp_sign = np.where(positive, self.gamma, -self.gamma)
        chance = expit(sharp_sign[:, None] * scores)
        chance *= 1.0 - self.mixing
        chance += plateau[:, None]
        losses: FloatArray = (-weight / weight.sum()) @ np.log(chance, out=chance)
        return losses

    def partials(self, positive: AnyArray, scores: FloatArray, weight: FloatArray) -> Partials:
        """Return the partial derivatives of the mean loss by ϖ, θ and γ (eq. 31–35)."""
        sign, right, wrong, chance = self._parts(positive, scores)
        share = weight / weight.sum()
        plateau = np.where(positive, self.prior_mean, 1.0 - self.prior_mean)
        return Partials(
            mixing=float(-share @ ((plateau - right) / chance)),
            prior_mean=float(-share @ (self.mixing * sign / chance)),
            gamma=float(-share @ ((1.0 - self.mixing) * right * (wrong / chance) * sign * scores)),
        )

    def sharpen(self, level: float) -> Loss:
        """Return the loss with steeper sides and the same plateaus."""
        return self._with(gamma=self.gamma * level)

    @property
    def sigmoid_mixture(self) -> tuple[float, float] | None:
        """Floor and sharpness, if both classes have the same plateau."""
        return (self.mixing / 2.0, self.gamma) if self.prior_mean == 0.5 else None

    @property
    def model_label(self) -> str:
        """Name in reports of a linear model that is fitted with the loss."""
        return "robust logistic regression"

    @property
    def complexity(self) -> float:
        """Three, and more the sharper it is."""
        return 3.0 + float(np.log2(self.gamma)) / 10.0

    def _parts(
        self, positive: AnyArray, scores: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the sign of every row, σ and 1 − σ of its margin, and its likelihood."""
        if not (0.0 <= self.mixing < 1.0 and 0.0 <= self.prior_mean <= 1.0):
            msg = (
                f"mixing must be from 0 to below 1 and prior_mean from 0 to 1, not {self.mixing!r} "
                f"and {self.prior_mean!r}"
            )
            raise ValueError(msg)
        require_above_zero(gamma=self.gamma)
        sign = np.where(positive, 1.0, -1.0)
        margin = self.gamma * sign * scores
        right, wrong = expit(margin), expit(-margin)
        plateau = np.where(positive, self.prior_mean, 1.0 - self.prior_mean)
        # Without a plateau the likelihood may vanish, where its ratio to σ is still one.
        chance = np.maximum(self.mixing * plateau + (1.0 - self.mixing) * right, _LEAST)
        return sign, right, wrong, chance

    def _log(self, chance: FloatArray, margin: FloatArray) -> FloatArray:
        """Return the log-likelihood, by its tail where no plateau keeps it finite."""
        if self.mixing * min(self.prior_mean, 1.0 - self.prior_mean) > _LEAST:
            return np.log(chance)
        tail = np.minimum(self.gamma * margin, 0.0) + np.log1p(-self.mixing)
        return np.where(chance > _LEAST, np.log(chance), tail)


_LEAST = 1e-290
