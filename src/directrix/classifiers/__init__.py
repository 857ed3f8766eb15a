"""The scikit-learn face."""

from directrix.classifiers.direct import DirectClassifier
from directrix.classifiers.evaluation import Diagnosis, diagnose
from directrix.classifiers.given_scores import Evaluation, evaluate, threshold_for
from directrix.classifiers.moment import MomentClassifier
from directrix.classifiers.operating_point_classifier import OperatingPointClassifier
from directrix.classifiers.scorecard.classifier import ScorecardClassifier
from directrix.models.card import Card, IntegerPoints, PointsToDoubleOdds
from directrix.models.operating_point import OperatingPoint
from directrix.models.risk_bands import RiskBand, RiskBands

__all__ = [
    "Card",
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
    "diagnose",
    "evaluate",
    "threshold_for",
]


def __dir__() -> list[str]:
    return __all__
