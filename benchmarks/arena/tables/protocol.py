"""The tables, sets of numbers, metrics and folds of the arena of tables, and its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.protocol import FOLDS, GENERAL, MOST_ROWS, REPEATS, Task, rows_of
from benchmarks.arena.protocol import LARGE as LARGE_NUMBERS
from benchmarks.arena.protocol import SETS as NUMBERS
from benchmarks.arena.results import Arena, Score, record_of
from benchmarks.harness.data import LATER, TABLES, UNSEEN, Rows, load_table
from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import timed
from benchmarks.rivals.base import LogLoss, PrintedLines, Rival, Scores
from benchmarks.rivals.tables import LINE, TABLE_RIVALS
from directrix.metrics import AUC, AveragePrecision, Cost, PrecisionAtK, RecallAtFPR

METRICS: dict[str, Any] = {
    "AUC": AUC(),
    "recall at FPR 1 %": RecallAtFPR(0.01),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "precision at top 2 %": PrecisionAtK(0.02),
    "average precision": AveragePrecision(),
    "cost 1:20": Cost(fp=1, fn=20),
    "log-loss": LogLoss(),
}
#: Beside the metrics: what a reader of the model has to read.
LINES = "lines"
#: By kind. Sets of numbers show how much of the gap between a line and boosting is closed.
SETS: dict[str, tuple[str, ...]] = {
    "tables": tuple(TABLES),
    "later tables": LATER,
    "new tables": UNSEEN,
    "numbers": GENERAL,
    "imbalanced": NUMBERS["imbalanced"],
}
#: Whole, in a table of their own.
LARGE = (*LARGE_NUMBERS, "give_me_some_credit", "census_income")
#: Sets of so many values have the slow competitors last.
MANY_VALUES = 140_000


@cache
def frame_of(name: str, *, whole: bool = False) -> Rows:
    """Return a pandas frame and its labels.

    Of more than 10,000 rows it is a fixed sample, unless all are asked for.
    """
    if name not in (*TABLES, *LATER, *UNSEEN):
        import pandas as pd  # noqa: PLC0415 - not needed by reports

        X, y = rows_of(name, whole=whole)
        return Rows(pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), y)
    X, y = load_table(name)
    if len(y) > MOST_ROWS and not whole:
        sample = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X.iloc[sample].reset_index(drop=True), y[sample]
    # Some competitors know no dates, so that all get the day as a number.
    dates = X.select_dtypes("datetime").columns
    return Rows(X.assign(**{name: _days(X[name]) for name in dates}), y)


def _days(dates: Any) -> Any:
    """Return a column of dates as days since 1970, missing ones as NaN."""
    return (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")


def split(task: Task) -> tuple[Rows, Rows]:
    """Return the training and test rows of a fold: the same for every competitor."""
    X, y = frame_of(task.name, whole=task.whole)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=task.repeat)
    train, test = list(folds.split(np.zeros(len(y)), y))[task.fold]
    return Rows(X.iloc[train], y[train]), Rows(X.iloc[test], y[test])


def planned(
    names: Sequence[str], rivals: Sequence[str], slow: Sequence[str], repeats: int = REPEATS
) -> Iterator[tuple[str, int, int, str]]:
    """Yield set, repeat, fold and competitor, the most informative first.

    All folds of the first repeat come before those of the next. Within a repeat every competitor
    runs on small sets, then the fast ones on large sets, then the slow ones there.

    ``slow``: the competitors that are left to the end on large sets.
    """
    large = [name for name in names if frame_of(name).X.size >= MANY_VALUES]
    small = [name for name in names if name not in large]
    fast = [rival for rival in rivals if rival not in slow]
    late = [rival for rival in rivals if rival in slow]
    for repeat in range(repeats):
        for some, now in ((small, rivals), (large, fast), (large, late)):
            for name in some:
                for fold in range(FOLDS):
                    yield from ((name, repeat, fold, rival) for rival in now)


def measured(task: Task, rival: str) -> Score:
    """Fit a competitor to the training rows of a fold, and score the others for every metric."""
    train, test = split(task)
    (scores, spent), (_, unit) = _fitted(task, rival), _fitted(task, LINE)
    values = {name: METRICS[name].score(test.y, scores[name]) for name in scores}
    if not isnan(lines := TABLE_RIVALS[rival].lines):
        values[LINES] = lines
    about = (task.name, len(train.y) + len(test.y), train.X.shape[1], task.repeat, task.fold)
    return Score(*about, rival, spent, spent / unit, commit(), values)


# One-hot logistic regression, the unit of CPU time, is fitted once for all competitors of a fold.
@lru_cache(maxsize=4)
def _fitted(task: Task, rival: str) -> tuple[Scores, float]:
    train, test = split(task)
    competitor = TABLE_RIVALS[rival]
    if competitor.needs:
        import_module(competitor.needs)  # seconds, once a process
    return timed(competitor.scores, train, test, METRICS)


MEASURED = record_of(Path(__file__).with_name("measured.csv"), (*METRICS, LINES))
LARGE_MEASURED = record_of(Path(__file__).with_name("large.csv"), (*METRICS, LINES))


class TableArena(Arena):
    """The values of a record of the arena of tables."""

    metrics: ClassVar[Mapping[str, Any]] = {**METRICS, LINES: PrintedLines()}
    competitors: ClassVar[Mapping[str, Rival]] = TABLE_RIVALS
    records: ClassVar[tuple[Record, ...]] = (MEASURED,)


class LargeTableArena(TableArena):
    """The large sets, whole: one fold has test rows enough."""

    records: ClassVar[tuple[Record, ...]] = (LARGE_MEASURED,)
    planned_folds: ClassVar[int] = 1
