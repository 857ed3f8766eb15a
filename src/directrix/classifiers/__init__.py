"""The scikit-learn face."""

from directrix.classifiers.beta_bernoulli.classifier import BetaBernoulliClassifier
from directrix.classifiers.direct import DirectClassifier
from directrix.classifiers.evaluation import Diagnosis, diagnose
from directrix.classifiers.kernels import alpha_from_svc, gamma_from_bandwidth
from directrix.classifiers.moment import MomentClassifier
from directrix.classifiers.scorecard.classifier import ScorecardClassifier
from directrix.classifiers.smooth import SmoothClassifier
from directrix.models.card import IntegerPoints, PointsToDoubleOdds
from directrix.models.operating_point import OperatingPoint

__all__ = [
    "BetaBernoulliClassifier",
    "Diagnosis",
    "DirectClassifier",
    "IntegerPoints",
    "MomentClassifier",
    "OperatingPoint",
    "PointsToDoubleOdds",
    "ScorecardClassifier",
    "SmoothClassifier",
    "alpha_from_svc",
    "diagnose",
    "gamma_from_bandwidth",
]
