"""The tables of the studies of cards, and the folds that all methods share."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.tables.protocol import frame_of
from benchmarks.harness.data import Rows

FOLDS = 5
#: The set of numbers has lost its names, which are published with it.
_DEFAULT_CREDIT = (
    *("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"),
    *("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
    *(f"BILL_AMT{k}" for k in range(1, 7)),
    *(f"PAY_AMT{k}" for k in range(1, 7)),
)


@cache
def table_of(name: str, most_rows: int) -> Rows:
    """Return a table with the names of its columns; of more rows than this a fixed sample."""
    X, y = frame_of(name)
    if name == "default_credit":
        X = X.set_axis(list(_DEFAULT_CREDIT), axis=1)
    if len(y) > most_rows:
        sample = np.sort(np.random.default_rng(0).choice(len(y), most_rows, replace=False))
        X, y = X.iloc[sample].reset_index(drop=True), y[sample]
    return Rows(X, y)


def split(name: str, fold: int, most_rows: int = 10_000) -> tuple[Rows, Rows]:
    """Return the training and test rows of a fold: the same for every method."""
    X, y = table_of(name, most_rows)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold]
    first, second = (Rows(X.iloc[rows].reset_index(drop=True), y[rows]) for rows in (train, test))
    return first, second
