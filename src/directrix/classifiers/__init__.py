"""The scikit-learn face."""

from directrix.classifiers.diagnose import Diagnosis, diagnose
from directrix.classifiers.moment import MomentClassifier
from directrix.classifiers.operating_point import OperatingPoint

__all__ = ["Diagnosis", "MomentClassifier", "OperatingPoint", "diagnose"]
