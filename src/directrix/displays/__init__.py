"""Displays: figures that compute once, store what they computed, and draw it.

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.displays.days import DaysDisplay
from directrix.displays.frontier import FrontierDisplay
from directrix.displays.frontier import Roc as Roc
from directrix.displays.frontier import boundary_of as boundary_of
from directrix.displays.loss import LossDisplay
from directrix.displays.margin import MarginDisplay
from directrix.displays.path import PathDisplay
from directrix.displays.scorecard import ScorecardDisplay
from directrix.displays.tradeoff import TradeoffDisplay

__all__ = [
    "DaysDisplay",
    "FrontierDisplay",
    "LossDisplay",
    "MarginDisplay",
    "PathDisplay",
    "ScorecardDisplay",
    "TradeoffDisplay",
]
