"""Displays: figures that compute once, store what they computed, and draw it."""

from directrix.displays.frontier import FrontierDisplay, Roc, boundary_of
from directrix.displays.loss import LossDisplay
from directrix.displays.margin import MarginDisplay
from directrix.displays.path import PathDisplay
from directrix.displays.tradeoff import TradeoffDisplay

__all__ = [
    "FrontierDisplay",
    "LossDisplay",
    "MarginDisplay",
    "PathDisplay",
    "Roc",
    "TradeoffDisplay",
    "boundary_of",
]
