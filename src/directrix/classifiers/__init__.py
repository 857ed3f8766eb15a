"""The scikit-learn face."""

from directrix.classifiers.beta_bernoulli.classifier import BetaBernoulliClassifier
from directrix.classifiers.direct import DirectClassifier
from directrix.classifiers.evaluation import Diagnosis, diagnose
from directrix.classifiers.given_scores import Evaluation, evaluate, threshold_for
from directrix.classifiers.kernels import alpha_from_svc, gamma_from_bandwidth
from directrix.classifiers.moment import MomentClassifier
from directrix.classifiers.operating_point_classifier import OperatingPointClassifier
from directrix.classifiers.scorecard.classifier import ScorecardClassifier
from directrix.classifiers.scorecard.editor import CardEditor
from directrix.classifiers.smooth import SmoothClassifier
from directrix.models.card import Card, IntegerPoints, PointsToDoubleOdds
from directrix.models.operating_point import OperatingPoint
from directrix.models.risk_bands import RiskBand, RiskBands

__all__ = [
    "BetaBernoulliClassifier",
    "Card",
    "CardEditor",
    "Diagnosis",
    "DirectClassifier",
    "Evaluation",
    "IntegerPoints",
    "MomentClassifier",
    "OperatingPoint",
    "OperatingPointClassifier",
    "PointsToDoubleOdds",
    "RiskBand",
    "RiskBands",
    "ScorecardClassifier",
    "SmoothClassifier",
    "alpha_from_svc",
    "diagnose",
    "evaluate",
    "gamma_from_bandwidth",
    "threshold_for",
]


def __dir__() -> list[str]:
    return __all__
