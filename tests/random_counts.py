"""Merged bins and dropped columns: counts without the rows against counts of the rows.

For random tables with random binners, bins are merged and columns dropped in counts and in a second
pass over the rows. Counts, and the moments made of them, must be equal to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from directrix import Binner
from directrix.moments import BinCounts
from directrix.tables import LevelBins, NumberBins

#: Values that stand for something else than a quantity.
SPECIAL = (-999.0, -998.0)


class LabelledRows(NamedTuple):
    """Rows of a table with labels, whole-number weights and folds."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    fold: np.ndarray

    def part(self, index: Any) -> LabelledRows:
        """Return some of the rows."""
        return LabelledRows(self.X.iloc[index], *(array[index] for array in self[1:]))


def draw_rows(rng: np.random.Generator, n: int) -> LabelledRows:
    """Return n random rows of columns of every kind, whose labels depend on some of them."""
    age = rng.normal(45, 15, n).round(1)
    income = rng.choice([0.0, *SPECIAL, *np.round(rng.lognormal(3, 1, 40), 2)], n)
    job = rng.choice(
        ["clerk", "nurse", "cook", "", "pilot", "it's"], n, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05]
    )
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, age),
            "income": np.where(rng.random(n) < 0.2, np.nan, income),
            "children": rng.poisson(1.2, n),
            "constant": 3.0,
            "owner": rng.random(n) < 0.3,
            "job": np.where(rng.random(n) < 0.1, None, job),
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("m8[D]"),
        }
    )
    odds = 0.05 * (age - 45) + (job == "cook") - (X["owner"] & (X["children"] > 1)).to_numpy()
    y = np.where(rng.logistic(size=n) < odds - 0.5, "bad", "good")
    return LabelledRows(X, y, rng.integers(0, 4, n), rng.integers(0, 3, n))


def draw_binner(rng: np.random.Generator, X: Any) -> Binner:
    """Return a binner with random parameters that is fitted on some rows."""
    return Binner(
        max_bins=int(rng.choice([2, 4, 12])),
        min_rows=float(rng.choice([1, 5])),
        min_level_rows=float(rng.choice([1, 10])),
        special_values={"income": SPECIAL},
    ).fit(X)


def draw_rebinning(rng: np.random.Generator, bins: Any) -> dict[str, Any]:
    """Return random arguments of `BinCounts.rebin`; at least one column is kept."""
    cuts: dict[str, Any] = {}
    merge: dict[str, Any] = {}
    other: dict[str, Any] = {}
    drop = [column.name for column in bins[1:] if rng.random() < 0.15]
    for column in bins:
        if column.name in drop or rng.random() < 0.2:
            continue
        if isinstance(column, NumberBins):
            if rng.random() < 0.5:
                cuts[column.name] = [cut for cut in column.cuts if rng.random() < 0.5]
            else:
                ends = np.sort(rng.integers(1, column.n_ordered + 1, size=4))
                merge[column.name] = [tuple(ends[:2].tolist()), tuple(ends[2:].tolist())]
        elif isinstance(column, LevelBins):
            group = rng.integers(-2, 3, size=len(column.levels))
            levels = np.array(column.levels, dtype=object)
            merge[column.name] = [levels[group == k].tolist() for k in range(3)]
            other[column.name] = levels[group == -1].tolist()
    return {"cuts": cuts, "merge": merge, "other": other, "drop": drop}


class Comparison(NamedTuple):
    """How many rebinnings were compared, and how many counts and moments differ, by encoding."""

    tables: int
    rebinnings: int
    cells_before: int
    cells_after: int
    counts: int
    thermometer: int
    onehot: int


def compare(n_tables: int, seed: int = 0) -> Comparison:
    """Return the comparison of some random tables, three rebinnings each."""
    totals = np.zeros(6, dtype=np.int64)
    for table in range(n_tables):
        rng = np.random.default_rng([seed, table])
        rows = draw_rows(rng, int(rng.integers(20, 400)))
        counts = BinCounts.of(draw_binner(rng, rows.X), rows.X, rows.y, rows.weight, fold=rows.fold)
        for _ in range(3):
            coarse = counts.rebin(**draw_rebinning(rng, counts.bins))
            again = BinCounts.of(coarse.binner, rows.X, rows.y, rows.weight, fold=rows.fold)
            moments = (coarse.moments(k) != again.moments(k) for k in ("thermometer", "onehot"))
            totals += [1, counts.n_cells, coarse.n_cells, coarse != again, *moments]
    return Comparison(n_tables, *totals.tolist())
