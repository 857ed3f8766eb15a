"""Risks: metrics as functions of the mean and variance of the scores of each class."""

from directrix.moments.risks.base import CostRisk, MetricRisk, RatesRisk, Risk
from directrix.moments.risks.base import vertex as vertex
from directrix.moments.risks.of_metrics import risk_of
from directrix.moments.risks.operating_point import (
    AlarmAtRecall,
    ImprecisionAtQuota,
    ImprecisionAtRecall,
    MissAtFPR,
    MissAtPrecision,
    MissAtQuota,
)
from directrix.moments.risks.ranking import AveragePrecisionRisk, PartialRankingRisk, RankingRisk

__all__ = [
    "AlarmAtRecall",
    "AveragePrecisionRisk",
    "CostRisk",
    "ImprecisionAtQuota",
    "ImprecisionAtRecall",
    "MetricRisk",
    "MissAtFPR",
    "MissAtPrecision",
    "MissAtQuota",
    "PartialRankingRisk",
    "RankingRisk",
    "RatesRisk",
    "Risk",
    "risk_of",
]


def __dir__() -> list[str]:
    return __all__
