"""A metric of all n scores, smoothed."""

from directrix.losses.base import Loss
from directrix.losses.beta_bernoulli import BetaBernoulli
from directrix.losses.f_beta import FBetaEnvelope, FBetaIsotonic
from directrix.losses.margin import (
    Exponential,
    GeneralizedLogistic,
    Hinge,
    Logistic,
    OneMinusTanh,
    Sigmoid,
    SquaredHinge,
    ZeroOne,
)
from directrix.losses.operating_point import QuantileSigmoid, TopNegatives
from directrix.losses.pairwise import PairwiseLogistic, PairwiseSquare, PairwiseSquaredHinge
from directrix.losses.quota import BreakEven, PrecisionTop, RecallTop
from directrix.losses.ramp import Ramp
from directrix.losses.roc_area import PairwiseHinge

__all__ = [
    "BetaBernoulli",
    "BreakEven",
    "Exponential",
    "FBetaEnvelope",
    "FBetaIsotonic",
    "GeneralizedLogistic",
    "Hinge",
    "Logistic",
    "Loss",
    "OneMinusTanh",
    "PairwiseHinge",
    "PairwiseLogistic",
    "PairwiseSquare",
    "PairwiseSquaredHinge",
    "PrecisionTop",
    "QuantileSigmoid",
    "Ramp",
    "RecallTop",
    "Sigmoid",
    "SquaredHinge",
    "TopNegatives",
    "ZeroOne",
]
