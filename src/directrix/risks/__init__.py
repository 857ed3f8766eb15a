"""Risks: metrics as functions of the mean and variance of the scores of each class."""

import sys
from typing import TYPE_CHECKING, Any

from directrix._discovery import concrete_classes
from directrix.risks.base import RatesRisk as RatesRisk
from directrix.risks.base import Risk as Risk
from directrix.risks.base import vertex as vertex

if TYPE_CHECKING:  # precise types; at run time the files of the room are discovered
    from directrix.risks.base import CostRisk as CostRisk
    from directrix.risks.base import MetricRisk as MetricRisk
    from directrix.risks.operating_point import AlarmAtRecall as AlarmAtRecall
    from directrix.risks.operating_point import ImprecisionAtQuota as ImprecisionAtQuota
    from directrix.risks.operating_point import ImprecisionAtRecall as ImprecisionAtRecall
    from directrix.risks.operating_point import MissAtFPR as MissAtFPR
    from directrix.risks.operating_point import MissAtPrecision as MissAtPrecision
    from directrix.risks.operating_point import MissAtQuota as MissAtQuota
    from directrix.risks.ranking import AveragePrecisionRisk as AveragePrecisionRisk
    from directrix.risks.ranking import PartialRankingRisk as PartialRankingRisk
    from directrix.risks.ranking import RankingRisk as RankingRisk

    def __getattr__(name: str) -> Any:
        """Let a type checker accept a risk that is not listed above."""


_CLASSES = concrete_classes(sys.modules[__name__], Risk)
globals().update(_CLASSES)
__all__ = sorted(["RatesRisk", "Risk", *_CLASSES])  # noqa: PLE0605 - a list of names, sorted


def __dir__() -> list[str]:
    return __all__
