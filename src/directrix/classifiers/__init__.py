"""The scikit-learn face."""

from directrix.classifiers.beta_bernoulli.classifier import BetaBernoulliClassifier
from directrix.classifiers.direct.classifier import DirectClassifier
from directrix.classifiers.evaluation.diagnose import Diagnosis, diagnose
from directrix.classifiers.fitting.operating_point import OperatingPoint
from directrix.classifiers.moment.classifier import MomentClassifier
from directrix.classifiers.smooth.classifier import SmoothClassifier

__all__ = [
    "BetaBernoulliClassifier",
    "Diagnosis",
    "DirectClassifier",
    "MomentClassifier",
    "OperatingPoint",
    "SmoothClassifier",
    "diagnose",
]
