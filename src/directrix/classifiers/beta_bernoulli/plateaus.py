"""Plateaus of a Beta-Bernoulli model: the least and the greatest probability that it gives."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from directrix.classifiers.scoring import Arithmetic, Response, Value
from directrix.losses import BetaBernoulli

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

# Bounds of plateaus from rates: with mixing 1 scores would not matter, with 0 losses are unbounded.
_MIXING = (0.01, 0.9)
_PRIOR_MEAN = (0.05, 0.95)


def loss_of(
    plateaus: Any, positive: AnyArray, weight: FloatArray, scores: FloatArray
) -> BetaBernoulli:
    r"""Return the loss with the plateaus of a name or of a pair (a, b).

    .. math:: \mu(s) = a + b\, \sigma(s) = \varpi \theta + (1 - \varpi)\, \sigma(s), \qquad
              \varpi = \frac{\alpha + \beta}{\alpha + \beta + n}, \quad
              \theta = \frac{\alpha}{\alpha + \beta}

    Hasan and Pal 2015, eq. 5, 16 and 19. ``"robust"`` is a = 0.15 and b = 0.7; ``"weak"``, α = β
    = 1 and n = 100; ``"empirical"``, α, β and n the weight of the positives, of the negatives and
    of all; ``"learned"``, the start of the learning (eq. 29–30).

    Parameters
    ----------
    plateaus : "robust", "weak", "empirical", "learned" or (a, b)
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    scores : array of shape (n,)
        Scores of logistic regression, used by "learned".
    """
    if isinstance(plateaus, str):
        if plateaus == "robust":
            return BetaBernoulli(mixing=0.3)
        if plateaus == "weak":
            return BetaBernoulli(mixing=2.0 / 102.0)
        if plateaus == "empirical":
            share = float(weight[positive].sum() / weight.sum())
            return BetaBernoulli(mixing=0.5, prior_mean=share)
        return from_rates(positive, weight, scores)
    a, b = plateaus
    mixing = 1.0 - b
    # With mixing 0 the prior mean has no effect.
    return BetaBernoulli(mixing, min(a / mixing, 1.0) if mixing > 0 else 0.5)


def checked_plateaus(plateaus: Any) -> Any:
    """Return a valid name or pair of floats; raise ValueError for anything else."""
    if isinstance(plateaus, str):
        if plateaus in ("robust", "weak", "empirical", "learned"):
            return plateaus
    else:
        numbers = np.asarray(plateaus, dtype=np.float64)
        # The tolerance is for rounding in sums such as 0.9 + 0.1.
        if numbers.shape == (2,) and numbers[0] >= 0 < numbers[1] and numbers.sum() <= 1 + 1e-12:
            return tuple(numbers.tolist())
    msg = (
        "plateaus must be 'robust', 'weak', 'empirical', 'learned', or a pair (a, b) with a from "
        "zero up, b above zero and a + b at most one (probabilities are between a and a + b), not "
        f"{plateaus!r}"
    )
    raise ValueError(msg)


def from_rates(positive: AnyArray, weight: FloatArray, scores: FloatArray) -> BetaBernoulli:
    r"""Return the loss with the error rates of a linear model as plateaus.

    Hasan and Pal 2015, eq. 27–30.

    .. math:: \varpi = 2 - (\mathrm{TNR} + \mathrm{TPR}), \qquad
              \theta = \frac{1 - \mathrm{TNR}}{2 - (\mathrm{TNR} + \mathrm{TPR})}

    Both are kept away from 0 and 1, since a model without errors does not determine plateaus.

    Parameters
    ----------
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    scores : array of shape (n,)
    """
    miss_rate, false_alarm_rate = (
        float(weight[in_class & wrong].sum() / weight[in_class].sum())
        for in_class, wrong in ((positive, scores <= 0), (~positive, scores > 0))
    )
    mixing = miss_rate + false_alarm_rate
    prior_mean = false_alarm_rate / mixing if mixing > 0 else 0.5
    return BetaBernoulli(float(np.clip(mixing, *_MIXING)), float(np.clip(prior_mean, *_PRIOR_MEAN)))


def pair_of(loss: BetaBernoulli) -> tuple[float, float]:
    """Return a and b of eq. 5: probabilities are from a to a + b."""
    return loss.mixing * loss.prior_mean, 1.0 - loss.mixing


def probability(loss: BetaBernoulli, share: FloatArray) -> FloatArray:
    """Return μ, the probability of the positive class (eq. 19).

    Parameters
    ----------
    loss : BetaBernoulli
    share : array of shape (n,)
        σ(γ s) for each score s.
    """
    a, b = pair_of(loss)
    mu: FloatArray = np.clip(a + b * share, a, _upper_plateau(loss))
    return mu


def _upper_plateau(loss: BetaBernoulli) -> float:
    """Return a + b, computed so that one minus it is not rounded below zero."""
    return 1.0 - loss.mixing * (1.0 - loss.prior_mean)


def even_score(loss: BetaBernoulli) -> float:
    r"""Return the score at which both classes are equally probable.

    .. math:: \mu(s) = \frac12 \iff s = \frac1\gamma \log \frac{1/2 - a}{a + b - 1/2}

    Zero if both plateaus are equally high; infinite if one class is more probable at every score.
    """
    a, b = pair_of(loss)
    below, above = 0.5 - a, a + b - 0.5
    if below <= 0:
        return -inf
    if above <= 0:
        return inf
    return log(below / above) / loss.gamma


@dataclass(frozen=True)
class PlateauResponse(Response):
    r"""Probability at score s: :math:`\min(h, l + r\, \sigma(\gamma (s + t)))`.

    Parameters
    ----------
    low, rise, high : float
        l, r and h. But for rounding, h is l + r.
    gamma, shift : float
        γ and t.
    """

    name: ClassVar[str] = "plateaus"
    low: float
    rise: float
    high: float
    gamma: float
    shift: float

    @classmethod
    def of(cls, loss: BetaBernoulli, shift: float) -> PlateauResponse:
        """Return the probability of a loss whose scores are moved by ``shift``."""
        low, rise = pair_of(loss)
        return cls(low, rise, _upper_plateau(loss), loss.gamma, shift)

    def probability(self, score: Value, arithmetic: Arithmetic[Value]) -> Value:
        """Return the probability at a score."""
        moved = arithmetic.add(score, self.shift)
        share = arithmetic.sigmoid(arithmetic.multiply(moved, self.gamma))
        risen = arithmetic.add(arithmetic.multiply(share, self.rise), self.low)
        return arithmetic.at_most(risen, self.high)

    @property
    def greatest_slope(self) -> float:
        """The greatest change of the log-odds with the score."""
        return abs(self.gamma)
