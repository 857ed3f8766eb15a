"""Metrics: exact scores of rows, and risks of the means and variances of the scores."""

import sys
from typing import TYPE_CHECKING, Any

from directrix._discovery import concrete_classes
from directrix.metrics.base import BestThreshold as BestThreshold
from directrix.metrics.base import Curve as Curve
from directrix.metrics.base import CurveStack as CurveStack
from directrix.metrics.base import Metric as Metric
from directrix.metrics.base import checked as checked
from directrix.metrics.base import precision_of as precision_of
from directrix.metrics.budget import Budget as Budget
from directrix.metrics.budget import KeptBudget as KeptBudget
from directrix.metrics.limit import Limit as Limit
from directrix.metrics.segments import InEverySegment as InEverySegment
from directrix.metrics.table import TABLE as TABLE
from directrix.metrics.table import metric_for as metric_for
from directrix.metrics.table import resolve as resolve
from directrix.metrics.table import resolve_loss as resolve_loss

if TYPE_CHECKING:  # precise types; at run time the files of the room are discovered
    from directrix.metrics.at_point import FPRAtRecall as FPRAtRecall
    from directrix.metrics.at_point import PrecisionAtRecall as PrecisionAtRecall
    from directrix.metrics.at_point import RecallAtFPR as RecallAtFPR
    from directrix.metrics.at_point import RecallAtPrecision as RecallAtPrecision
    from directrix.metrics.at_quota import PRBEP as PRBEP
    from directrix.metrics.at_quota import PrecisionAtK as PrecisionAtK
    from directrix.metrics.at_quota import RecallAtK as RecallAtK
    from directrix.metrics.at_threshold import MCC as MCC
    from directrix.metrics.at_threshold import BalancedError as BalancedError
    from directrix.metrics.at_threshold import Cost as Cost
    from directrix.metrics.at_threshold import Error as Error
    from directrix.metrics.at_threshold import FBeta as FBeta
    from directrix.metrics.at_threshold import FromRates as FromRates
    from directrix.metrics.at_threshold import GMean as GMean
    from directrix.metrics.ranking import AUC as AUC
    from directrix.metrics.ranking import AveragePrecision as AveragePrecision
    from directrix.metrics.ranking import PartialAUC as PartialAUC

    def __getattr__(name: str) -> Any:
        """Let a type checker accept a metric that is not listed above."""


_CLASSES = concrete_classes(sys.modules[__name__], Metric)
globals().update(_CLASSES)
_OTHERS = (
    *("TABLE", "BestThreshold", "Budget", "Curve", "CurveStack", "InEverySegment", "KeptBudget"),
    *("Limit", "Metric", "metric_for", "resolve", "resolve_loss"),
)
__all__ = sorted([*_OTHERS, *_CLASSES])  # noqa: PLE0605 - a list of names, sorted


def __dir__() -> list[str]:
    return __all__
