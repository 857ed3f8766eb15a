"""The scikit-learn face."""

from directrix.classifiers.beta_bernoulli import BetaBernoulliClassifier
from directrix.classifiers.diagnose import Diagnosis, diagnose
from directrix.classifiers.direct import DirectClassifier
from directrix.classifiers.moment import MomentClassifier
from directrix.classifiers.operating_point import OperatingPoint
from directrix.classifiers.smooth import SmoothClassifier

__all__ = [
    "BetaBernoulliClassifier",
    "Diagnosis",
    "DirectClassifier",
    "MomentClassifier",
    "OperatingPoint",
    "SmoothClassifier",
    "diagnose",
]
