"""Metrics: exact scores of rows, and risks of the means and variances of the scores."""

from directrix.metrics.at_point import (
    FPRAtRecall,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.at_quota import PRBEP, PrecisionAtK, RecallAtK
from directrix.metrics.at_threshold import MCC, BalancedError, Cost, Error, FBeta, FromRates, GMean
from directrix.metrics.base import BestThreshold, Curve, CurveStack, Metric
from directrix.metrics.base import checked as checked
from directrix.metrics.base import precision_of as precision_of
from directrix.metrics.budget import Budget, KeptBudget
from directrix.metrics.limit import Limit
from directrix.metrics.ranking import AUC, AveragePrecision, PartialAUC
from directrix.metrics.score_histogram import ScoreHistogram, ScoreRates
from directrix.metrics.segments import InEverySegment
from directrix.metrics.table import TABLE, resolve

__all__ = [
    "AUC",
    "MCC",
    "PRBEP",
    "TABLE",
    "AveragePrecision",
    "BalancedError",
    "BestThreshold",
    "Budget",
    "Cost",
    "Curve",
    "CurveStack",
    "Error",
    "FBeta",
    "FPRAtRecall",
    "FromRates",
    "GMean",
    "InEverySegment",
    "KeptBudget",
    "Limit",
    "Metric",
    "PartialAUC",
    "PrecisionAtK",
    "PrecisionAtRecall",
    "RecallAtFPR",
    "RecallAtK",
    "RecallAtPrecision",
    "ScoreHistogram",
    "ScoreRates",
    "resolve",
]


def __dir__() -> list[str]:
    return __all__
