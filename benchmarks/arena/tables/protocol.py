"""The tables, sets of numbers, metrics and folds of the arena of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.protocol import FOLDS, GENERAL, MOST_ROWS, REPEATS, rows_of
from benchmarks.arena.protocol import LARGE as LARGE_NUMBERS
from benchmarks.arena.protocol import SETS as NUMBERS
from benchmarks.harness.data import Rows
from benchmarks.harness.tables import TABLES, load_table
from benchmarks.rivals.log_loss import LogLoss
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
#: By kind. Sets of numbers show how much of the gap between a line and boosting is closed.
SETS: dict[str, tuple[str, ...]] = {
    "tables": tuple(TABLES),
    "numbers": GENERAL,
    "imbalanced": NUMBERS["imbalanced"],
}
#: Whole, in a table of their own.
LARGE = (*LARGE_NUMBERS, "give_me_some_credit", "census_income")
#: Sets of so many values have the slow competitors last.
MANY_VALUES = 140_000


class Task(NamedTuple):
    """One fold of a table or of a set of numbers; ``whole`` where its rows are not capped."""

    name: str
    repeat: int
    fold: int
    whole: bool = False


@cache
def frame_of(name: str, *, whole: bool = False) -> Rows:
    """Return a pandas frame and its labels.

    Of more than 10,000 rows it is a fixed sample, unless all are asked for.
    """
    if name not in TABLES:
        import pandas as pd  # noqa: PLC0415 - not needed by reports

        X, y = rows_of(name, whole=whole)
        return Rows(pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), y)
    X, y = load_table(name)
    if len(y) > MOST_ROWS and not whole:
        sample = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X.iloc[sample].reset_index(drop=True), y[sample]
    return Rows(X, y)


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
