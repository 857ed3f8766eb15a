"""Displays: figures that compute once, store what they computed, and draw it."""

from directrix.displays.days import DaysDisplay
from directrix.displays.frontier import FrontierDisplay
from directrix.displays.loss import LossDisplay
from directrix.displays.margin import MarginDisplay
from directrix.displays.net_benefit import NetBenefitDisplay
from directrix.displays.path import PathDisplay
from directrix.displays.scorecard import ScorecardDisplay
from directrix.displays.tradeoff import TradeoffDisplay

__all__ = [
    "DaysDisplay",
    "FrontierDisplay",
    "LossDisplay",
    "MarginDisplay",
    "NetBenefitDisplay",
    "PathDisplay",
    "ScorecardDisplay",
    "TradeoffDisplay",
]


def __dir__() -> list[str]:
    return __all__
