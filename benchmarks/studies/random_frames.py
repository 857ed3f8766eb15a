"""Random data frames with labels: numbers, texts, booleans, dates, missing and special values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from directrix import Binner

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
