"""Losses: metrics of all n scores, smoothed so that they can be minimised."""

from directrix.losses.base import Loss
from directrix.losses.beta_bernoulli import BetaBernoulli
from directrix.losses.break_even import BreakEven
from directrix.losses.margin import Exponential, Hinge, Logistic, Sigmoid, SquaredHinge, ZeroOne
from directrix.losses.pairwise import PairwiseHinge, SmoothedROCArea
from directrix.losses.ramp import Ramp

__all__ = [
    "BetaBernoulli",
    "BreakEven",
    "Exponential",
    "Hinge",
    "Logistic",
    "Loss",
    "PairwiseHinge",
    "Ramp",
    "Sigmoid",
    "SmoothedROCArea",
    "SquaredHinge",
    "ZeroOne",
]


def __dir__() -> list[str]:
    return __all__
