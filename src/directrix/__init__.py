"""Classifiers trained directly for the metric people report.

A linear classifier meets a metric only through its scores.
"""

from directrix.classifiers import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    SmoothClassifier,
    diagnose,
)
from directrix.engines import summarize
from directrix.frontier import Frontier
from directrix.moments import ClassMoments, Moments

__version__ = "0.1.0"

__all__ = [
    "BetaBernoulliClassifier",
    "ClassMoments",
    "DirectClassifier",
    "Frontier",
    "MomentClassifier",
    "Moments",
    "SmoothClassifier",
    "__version__",
    "diagnose",
    "summarize",
]
