"""A daily refit from a store of summaries, against a refit from all rows.

Sixty days of rows drift slowly. Each day (of large days, the last five) a model is fitted to the
decayed past, from the store and from all rows with the same weights, and measured on the next day.
Both fits are timed in turn, in CPU seconds: ``python -m benchmarks.studies.daily_refit``.
"""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness.markdown import holds, table
from benchmarks.harness.record import Record, Row, commit, commits_of, mean_of, numbers, select
from benchmarks.harness.runner import Part, Study, timed
from directrix import MomentClassifier, Moments
from directrix.metrics.table import resolve
from directrix.monitoring import SummaryStore

METRICS = ("auc", "recall@fpr=0.05", "cost(fp=1, fn=20)")
N_DAYS, D, HALF_LIFE = 60, 20, 10.0
#: First day that is measured, by the rows of a day.
WARM_UPS = {5_000: 20, 50_000: 55}
_FIRST = date(2026, 1, 1)
Rows = tuple[Any, Any]


def rows_of(day: int, rng: np.random.Generator, n: int) -> Rows:
    """Return the rows of a day and their labels; what tells the classes apart moves slowly."""
    y = rng.random(n) < 0.05
    angle = day / 40.0
    direction = np.zeros(D)
    direction[:2] = 1.6 * np.array([np.cos(angle), np.sin(angle)])
    return rng.normal(size=(n, D)) + y[:, None] * direction, y


def measured(
    n_rows: int, warm_up: int | None = None, n_days: int = N_DAYS
) -> list[tuple[Any, ...]]:
    """Return a record for each day and metric."""
    rng = np.random.default_rng(0)
    records: list[tuple[Any, ...]] = []
    past: list[Rows] = []
    warm_up = WARM_UPS[n_rows] if warm_up is None else warm_up
    with TemporaryDirectory() as folder:
        store = SummaryStore(folder)
        for day in range(n_days):
            past.append(rows_of(day, rng, n_rows))
            store.add(_FIRST + timedelta(days=day), Moments.of(*past[-1]))
            if day >= warm_up:
                new = rows_of(day + 1, rng, n_rows)
                records += [_record(day, metric, store, past, new) for metric in METRICS]
    return records


def _record(
    day: int, metric: str, store: SummaryStore, past: list[Rows], new: Rows
) -> tuple[Any, ...]:
    def from_store() -> Any:
        summary = store.decayed("moments", half_life=HALF_LIFE)
        return MomentClassifier(metric).fit_summary(summary)

    def from_rows() -> Any:
        X, y = (np.concatenate(parts) for parts in zip(*past, strict=True))
        age = np.repeat(np.arange(len(past))[::-1], [len(rows[1]) for rows in past])
        summary = Moments.of(X, y, 0.5 ** (age / HALF_LIFE))
        return MomentClassifier(metric).fit_summary(summary)

    # In turn, because the machine is not always as fast.
    fits = [(timed(from_store), timed(from_rows)) for _ in range(3)]
    ratio = median(a[1] for a, _ in fits) / median(b[1] for _, b in fits)
    models = [fit for fit, _ in fits[-1]]
    values = (resolve(metric).score(new[1], m.decision_function(new[0])) for m in models)
    first, second = (m.coef_ / np.linalg.norm(m.coef_) for m in models)
    gap = float(np.abs(first - second).max())
    about = (len(new[1]), day, metric, len(past) * len(new[1]))
    return (*about, *(f"{value:.6f}" for value in values), f"{ratio:.4f}", f"{gap:.1e}", commit())


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"{N_DAYS} days of rows with {D} features that drift slowly; a half-life of "
        f"{HALF_LIFE:g} days. Measured on the next day; CPU in turn, medians of three; commit "
        f"{commits_of(rows)}. Made by `python -m benchmarks.studies.daily_refit`."
    )
    cells = []
    for n_rows, metric in product(WARM_UPS, METRICS):
        of = select(rows, day_rows=n_rows, metric=metric)
        means = (f"{mean_of(of, name):.5f}" for name in ("from_store", "from_rows"))
        gap, ratios = numbers(of, "largest_gap").max(), numbers(of, "cpu_ratio")
        spent = f"{median(ratios):.3f}", f"{ratios[-1]:.3f}"
        cells.append((f"{n_rows:,}", metric, len(of), *means, f"{gap:.0e}", *spent))
    columns = (
        "rows of a day | metric | days | from the store | from all rows | "
        "largest gap of coefficients | CPU, store / rows | on the last day"
    )
    same = np.abs(numbers(rows, "from_store") - numbers(rows, "from_rows")).max() < 1e-4
    return [
        *("# A daily refit from the store, against one from all rows", "", about),
        *table(columns, cells),
        *("", f"The same metric on every day, to 1e-4: {holds(bool(same))}."),
    ]


RECORD = Record.beside(
    __file__,
    "day_rows, day, metric, rows, from_store, from_rows, cpu_ratio, largest_gap, commit",
    "day_rows",
)
STUDY = Study([Part(RECORD, lambda _: ((n,) for n in WARM_UPS), measured)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
