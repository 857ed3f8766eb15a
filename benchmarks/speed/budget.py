"""Wall time of scorecards of wide tables over their time budget, and whether they find the effect.

Of all columns, which are normal numbers, one tells the classes apart. Each fit is a process of its
own. Run ``python -m benchmarks.speed.budget``; ``--quick`` measures the smaller table once and
tracks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from statistics import median
from time import perf_counter

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.harness.runner import isolated, quiet
from benchmarks.speed.ratio import Figure, run
from directrix import ScorecardClassifier
from directrix._typing import AnyArray, FloatArray

ROWS, ROUNDS = 1_000, 3
#: Columns, and seconds of the budget.
TABLES = ((300, 5.0), (2_000, 10.0))
#: Wall time over the budget at most; and the AUC that is missing on new rows (noise alone: 0.06).
LATE_LIMIT, MISSING_LIMIT = 1.2, 0.12


def rows_of(n: int, n_columns: int, seed: int) -> tuple[FloatArray, AnyArray]:
    """Return rows of which the middle column tells the classes apart, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_columns))
    return X, X[:, n_columns // 2] + 0.5 * rng.standard_normal(n) > 0.8


def fit(n_columns: int, budget: float, learn_from: str) -> tuple[float, float]:
    """Return the seconds that a fit takes, and its AUC on new rows."""
    X, y = rows_of(ROWS, n_columns, 0)
    start = perf_counter()
    with quiet():
        model = ScorecardClassifier("auc", learn_from=learn_from, time_budget=budget).fit(X, y)
    seconds = perf_counter() - start
    new, labels = rows_of(2 * ROWS, n_columns, 1)
    return seconds, float(roc_auc_score(labels, model.decision_function(new)))


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield medians over processes, table by table."""
    tables = TABLES[:1] if quick else TABLES
    for (n_columns, budget), learn_from in product(tables, ("rows", "counts")):
        rounds = range(1 if quick else ROUNDS)
        found = [isolated(fit, n_columns, budget, learn_from) for _ in rounds]
        seconds, area = (median(values) for values in zip(*found, strict=True))
        what = f"{ROWS} x {n_columns}, budget {budget:g} s, {learn_from}"
        yield Figure(f"wall time / budget, {what}", seconds / budget, LATE_LIMIT)
        yield Figure(f"1 - AUC on new rows, {what}", 1.0 - area, MISSING_LIMIT)


if __name__ == "__main__":
    run(__file__, __doc__, measure, "the smaller table, once", checked=False)
