"""Linear models from rows: losses of all n scores, their minimisation, and recipes of a search."""

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.break_even import BreakEven
from directrix.linear.loss import Loss
from directrix.linear.margin import Exponential, Hinge, Logistic, Sigmoid, SquaredHinge, ZeroOne
from directrix.linear.pairwise import PairwiseHinge, SmoothedROCArea
from directrix.linear.ramp import Ramp

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
