"""The scikit-learn face."""

from directrix.classifiers.beta_bernoulli.classifier import BetaBernoulliClassifier
from directrix.classifiers.direct.classifier import DirectClassifier
from directrix.classifiers.evaluation.diagnose import Diagnosis, diagnose
from directrix.classifiers.fitting.operating_point import OperatingPoint
from directrix.classifiers.kernels.kernel import alpha_from_svc, gamma_from_bandwidth
from directrix.classifiers.moment.classifier import MomentClassifier
from directrix.classifiers.scorecard.card.scales import IntegerPoints, PointsToDoubleOdds
from directrix.classifiers.scorecard.classifier import ScorecardClassifier
from directrix.classifiers.smooth.classifier import SmoothClassifier

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
