"""Twelve simulated sites: the training rows of a table, split unevenly, some sites skewed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.harness.data import Rows, load_table
from directrix._typing import FloatArray, IntArray

SITES, FOLDS, MOST_ROWS, SEED = 12, 3, 20_000, 41
#: How strongly a site prefers high values of the skewing column: every second site is skewed.
SKEW = np.array([0.0, 1.5, 0.0, -1.5] * 3)


@cache
def rows_of(name: str, most_rows: int = MOST_ROWS) -> Rows:
    """Return a table; a fixed sample where it has more rows than this."""
    X, y = load_table(name)
    if len(y) > most_rows:
        sample = np.sort(np.random.default_rng(SEED).choice(len(y), most_rows, replace=False))
        X, y = X.iloc[sample].reset_index(drop=True), y[sample]
    return Rows(X, y)


def split(name: str, fold: int, most_rows: int = MOST_ROWS) -> tuple[Rows, Rows]:
    """Return the training and the test rows of a fold: the same for every method."""
    X, y = rows_of(name, most_rows)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold]
    first, second = (Rows(X.iloc[rows].reset_index(drop=True), y[rows]) for rows in (train, test))
    return first, second


def skewing_column(X: Any) -> str:
    """Return the name of the column with the most distinct values: sites differ in it."""
    return str(max(X, key=lambda name: X[name].nunique()))


def _ranks(column: Any) -> FloatArray:
    """Return the ranks of values, from -1 to 1; texts are ranked as words."""
    words = column if pd.api.types.is_numeric_dtype(column) else column.astype(str)
    ranks = words.rank(na_option="top").to_numpy(dtype=np.float64)
    return 2.0 * ranks / len(ranks) - 1.0


def site_numbers(X: Any) -> IntArray:
    """Return the site of each row.

    Site k has a share of the rows that is proportional to 1 / (k + 1); sites with odd numbers
    prefer high or low values of the skewing column.
    """
    rng = np.random.default_rng(SEED)
    shares = 1.0 / np.arange(1, SITES + 1)
    preference = np.log(shares) + np.outer(_ranks(X[skewing_column(X)]), SKEW)
    # The largest of Gumbel variables is a draw with probabilities in proportion to exp(preference).
    return np.argmax(preference + rng.gumbel(size=preference.shape), axis=1)


def sites_of(train: Rows) -> list[Rows]:
    """Return the rows of each site."""
    site = site_numbers(train.X)
    return [
        Rows(train.X[site == k].reset_index(drop=True), train.y[site == k]) for k in range(SITES)
    ]
