"""Wall time of scorecards of wide tables over their time budget, and whether they find the effect.

Of all columns, which are normal numbers, one tells the classes apart. Each fit is a process of its
own. Run ``python -m benchmarks.speed.budget``; ``--quick`` measures the smaller table once and
tracks nothing.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from statistics import median
from time import perf_counter

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.speed.ratio import Figure, is_quick, track
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


def fit(n_columns: int, budget: float, learn_from: str) -> None:
    """Fit, and print the seconds that it took and the AUC on new rows."""
    warnings.simplefilter("ignore")
    X, y = rows_of(ROWS, n_columns, 0)
    start = perf_counter()
    model = ScorecardClassifier("auc", learn_from=learn_from, time_budget=budget).fit(X, y)
    seconds = perf_counter() - start
    new, labels = rows_of(2 * ROWS, n_columns, 1)
    print(seconds, roc_auc_score(labels, model.decision_function(new)))


def measure(n_columns: int, budget: float, learn_from: str, rounds: int) -> list[Figure]:
    """Return medians over processes."""
    seconds, areas = [], []
    code = f"from benchmarks.speed.budget import fit; fit({n_columns}, {budget}, {learn_from!r})"
    for _ in range(rounds):
        done = subprocess.run(  # noqa: S603 - this very module
            [sys.executable, "-c", code], capture_output=True, check=True, text=True
        )
        took, area = map(float, done.stdout.split())
        seconds.append(took)
        areas.append(area)
    what = f"{ROWS} x {n_columns}, budget {budget:g} s, {learn_from}"
    return [
        Figure(f"wall time / budget, {what}", median(seconds) / budget, LATE_LIMIT),
        Figure(f"1 - AUC on new rows, {what}", 1.0 - median(areas), MISSING_LIMIT),
    ]


def main() -> None:
    """Measure, print, and track unless quick."""
    quick = is_quick(__doc__, "the smaller table, once")
    figures = []
    for n_columns, budget in TABLES[:1] if quick else TABLES:
        for learn_from in ("rows", "counts"):
            figures += (new := measure(n_columns, budget, learn_from, 1 if quick else ROUNDS))
            print(*new, sep="\n", flush=True)
    if not quick:
        track(figures, __file__)


if __name__ == "__main__":
    main()
