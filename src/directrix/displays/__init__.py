"""Displays: figures that compute once, store what they computed, and draw it."""

from directrix.displays.days import DaysDisplay
from directrix.displays.net_benefit import NetBenefitDisplay
from directrix.displays.scorecard import ScorecardDisplay
from directrix.displays.tradeoff import TradeoffDisplay

__all__ = [
    "DaysDisplay",
    "NetBenefitDisplay",
    "ScorecardDisplay",
    "TradeoffDisplay",
]


def __dir__() -> list[str]:
    return __all__
