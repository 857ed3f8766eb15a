"""Models in use: daily summaries that forget and are corrected, and what they tell of a model.

Public names
------------
`SummaryStore`
    A folder of daily summaries that several processes may write and read.
`decayed`
    Sum of daily summaries whose weights fall with their age.
`summarize_day`, `DaySummaries`
    Scores and columns of the rows of a day, as a model sees them.
`Monitor`, `DayCheck`
    Checks of a day against reference rows: prevalence, alerts, drift, promises kept.
`summarize_segments`, `SegmentMonitor`, `SegmentChecks`, `BrokenLimit`
    The same for each segment of the rows, with one rate of false alarms for all.
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
from directrix.monitoring.day_summaries import DaySummaries, summarize_day
from directrix.monitoring.monitor import Monitor
from directrix.monitoring.repair import Refit, Retuning, refit, retune
from directrix.monitoring.segments import (
    BrokenLimit,
    SegmentChecks,
    SegmentMonitor,
    summarize_segments,
)
from directrix.monitoring.store import SummaryStore, decayed

__all__ = [
    "BrokenLimit",
    "BudgetMove",
    "Challenge",
    "Challenges",
    "DayCheck",
    "DaySummaries",
    "Monitor",
    "Refit",
    "Retuning",
    "SegmentChecks",
    "SegmentMonitor",
    "SummaryStore",
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
