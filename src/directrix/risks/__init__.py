"""Risks: metrics as functions of the mean and variance of the scores of each class."""

from directrix.risks.at_precision import MissAtPrecision
from directrix.risks.base import RatesRisk, Risk
from directrix.risks.confusion import FBetaRisk, FunctionRisk, GMeanRisk, MCCRisk
from directrix.risks.error import CostRisk
from directrix.risks.operating_point import (
    AlarmAtRecall,
    ImprecisionAtQuota,
    ImprecisionAtRecall,
    MissAtFPR,
    MissAtQuota,
)
from directrix.risks.ranking import PartialRankingRisk, RankingRisk

__all__ = [
    "AlarmAtRecall",
    "CostRisk",
    "FBetaRisk",
    "FunctionRisk",
    "GMeanRisk",
    "ImprecisionAtQuota",
    "ImprecisionAtRecall",
    "MCCRisk",
    "MissAtFPR",
    "MissAtPrecision",
    "MissAtQuota",
    "PartialRankingRisk",
    "RankingRisk",
    "RatesRisk",
    "Risk",
]
