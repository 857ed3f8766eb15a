"""The metrics people report: exact on rows, and as risks of four numbers."""

from directrix.metrics.at_point import (
    FPRAtRecall,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.at_quota import PRBEP, PrecisionAtK, RecallAtK
from directrix.metrics.at_threshold import MCC, BalancedError, Cost, Error, FBeta, FromRates, GMean
from directrix.metrics.base import Choice, Metric
from directrix.metrics.curve import Curve, CurveStack
from directrix.metrics.ranking import AUC, PartialAUC
from directrix.metrics.table import TABLE, metric_text, resolve, resolve_loss

__all__ = [
    "AUC",
    "MCC",
    "PRBEP",
    "TABLE",
    "BalancedError",
    "Choice",
    "Cost",
    "Curve",
    "CurveStack",
    "Error",
    "FBeta",
    "FPRAtRecall",
    "FromRates",
    "GMean",
    "Metric",
    "PartialAUC",
    "PrecisionAtK",
    "PrecisionAtRecall",
    "RecallAtFPR",
    "RecallAtK",
    "RecallAtPrecision",
    "metric_text",
    "resolve",
    "resolve_loss",
]
