"""Models in use: daily summaries, which add and forget, and what they tell of a model.

Public names
------------
`decayed`
    Sum of daily summaries whose weights fall with their age.
`summarize_day`, `summarize_segments`, `DaySummaries`
    Scores and columns of the rows of a day, of all or of each segment, as a model sees them.
`Monitor`, `DayCheck`
    Checks of a day against reference rows: prevalence, alerts, drift, promises kept.
`retune`, `refit`
    Repair: another threshold, another fit.
`challenge`, `compare_models`
    Champion against challenger: on the same rows, or on histograms of their scores.
`keep_budget`, `BudgetMove`
    The threshold of tomorrow for a budget of alerts, from the scores of the last days.
"""

from directrix.monitoring.capacity import BudgetMove, keep_budget
from directrix.monitoring.challenge import Challenge, Challenges, challenge, compare_models
from directrix.monitoring.day_check import DayCheck
from directrix.monitoring.day_summaries import DaySummaries, summarize_day, summarize_segments
from directrix.monitoring.decay import decayed
from directrix.monitoring.monitor import Monitor
from directrix.monitoring.repair import Refit, Retuning, refit, retune

__all__ = [
    "BudgetMove",
    "Challenge",
    "Challenges",
    "DayCheck",
    "DaySummaries",
    "Monitor",
    "Refit",
    "Retuning",
    "challenge",
    "compare_models",
    "decayed",
    "keep_budget",
    "refit",
    "retune",
    "summarize_day",
    "summarize_segments",
]


def __dir__() -> list[str]:
    return __all__
