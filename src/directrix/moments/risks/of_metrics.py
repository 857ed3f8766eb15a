"""The risk of each metric: the metric of normal scores, as a function of four numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from directrix.metrics import at_point, at_quota, at_threshold, ranking
from directrix.metrics.base import Metric
from directrix.moments.risks.base import CostRisk, MetricRisk, Risk
from directrix.moments.risks.operating_point import (
    AlarmAtRecall,
    ImprecisionAtQuota,
    ImprecisionAtRecall,
    MissAtFPR,
    MissAtPrecision,
    MissAtQuota,
)
from directrix.moments.risks.ranking import AveragePrecisionRisk, PartialRankingRisk, RankingRisk

#: From a metric and the number of rows to its risk, by the class of the metric. Other functions of
#: the rates need no row.
RISKS: dict[type[Metric], Callable[[Any, float | None], Risk]] = {
    at_threshold.Error: lambda metric, n_rows: CostRisk(),  # noqa: ARG005
    at_threshold.Cost: lambda metric, n_rows: CostRisk(*metric.numbers()),  # noqa: ARG005
    at_threshold.BalancedError: lambda metric, n_rows: CostRisk(balanced=True),  # noqa: ARG005
    at_point.RecallAtFPR: lambda metric, n_rows: MissAtFPR(metric.fpr),  # noqa: ARG005
    at_point.FPRAtRecall: lambda metric, n_rows: AlarmAtRecall(metric.recall),  # noqa: ARG005
    at_point.PrecisionAtRecall: lambda metric, _: ImprecisionAtRecall(metric.recall),
    at_point.RecallAtPrecision: lambda metric, _: MissAtPrecision(metric.precision),
    at_quota.PrecisionAtK: lambda metric, n_rows: ImprecisionAtQuota(metric.share(n_rows)),
    at_quota.RecallAtK: lambda metric, n_rows: MissAtQuota(metric.share(n_rows)),
    at_quota.PRBEP: lambda metric, n_rows: MissAtQuota(),  # noqa: ARG005
    ranking.AUC: lambda metric, n_rows: RankingRisk(),  # noqa: ARG005
    ranking.PartialAUC: lambda metric, n_rows: PartialRankingRisk(metric.max_fpr),  # noqa: ARG005
    ranking.AveragePrecision: lambda metric, n_rows: AveragePrecisionRisk(),  # noqa: ARG005
}


def risk_of(metric: Metric, n_rows: float | None = None) -> Risk:
    """Return a metric as a function of the moments of normal scores, of which less is better.

    Parameters
    ----------
    metric : Metric
        A function of the rates at a threshold, or of a class that is in ``RISKS``.
    n_rows : float, optional
        Weight of all rows, which a metric of a number of rows needs.
    """
    for kind in type(metric).__mro__:
        if kind in RISKS:
            return RISKS[kind](metric, n_rows)
    return MetricRisk(metric)
