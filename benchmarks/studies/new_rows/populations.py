"""Large real sets that stand for populations: small samples are drawn, the rest is "new rows"."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.harness.data import TABLES, load, load_table
from directrix._typing import AnyArray, FloatArray

#: Sets as they are; of the two tables, numbers with missing values filled, and text one-hot.
POPULATIONS = ("covtype", "susy_30k", "skin_nonskin", "give_me_some_credit", "census_income")
#: Rows of a population on which the truth is measured, beside those of the sample.
NEW_ROWS = 60_000
_CENSUS_TEXT = ("education", "sex", "marital_status", "tax_filer", "major_occupation")
_MOST_LEVELS = 12


@cache
def population(name: str) -> tuple[FloatArray, AnyArray]:
    """Return the rows of a population and which of them are positive."""
    return _table(name) if name in TABLES else load(name)


def draw(name: str, n_rows: int, seed: int) -> tuple[FloatArray, AnyArray, FloatArray, AnyArray]:
    """Return a sample of a population, and other rows of it: X, y, X_new, y_new."""
    X, y = population(name)
    order = np.random.default_rng([seed, n_rows]).permutation(len(y))
    seen, new = order[:n_rows], order[n_rows : n_rows + NEW_ROWS]
    return X[seen], y[seen], X[new], y[new]


def _table(name: str) -> tuple[FloatArray, AnyArray]:
    """Return a table as numbers: medians for missing ones with an indicator, levels one-hot."""
    table, y = load_table(name)
    columns = []
    for column in table.columns:
        values = table[column]
        if values.dtype.kind in "biuf":
            missing = values.isna().to_numpy()
            columns.append(values.fillna(values.median()).to_numpy(np.float64))
            if missing.any():
                columns.append(missing.astype(np.float64))
        elif column in _CENSUS_TEXT:
            levels = values.astype(str).value_counts().index[:_MOST_LEVELS]
            columns += [(values.astype(str) == level).to_numpy(np.float64) for level in levels]
    return np.column_stack(columns), y
