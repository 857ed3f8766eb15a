"""A daily refit from a store of summaries, against a refit from all rows.

Sixty days of rows drift slowly. Each day (of large days, the last five) a model is fitted to the
decayed past, from the store and from all rows with the same weights, and measured on the next day.
Both fits are timed in turn, in CPU seconds. ``python -m benchmarks.studies.daily_refit`` writes
``daily_refit.csv`` and ``daily_refit.md``; ``--report`` writes the report only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness.markdown import header, holds, line, write_report
from benchmarks.harness.record import Record, commit
from directrix import MomentClassifier, Moments
from directrix.metrics.table import resolve
from directrix.monitoring import SummaryStore

METRICS = ("auc", "recall@fpr=0.05", "cost(fp=1, fn=20)")
N_DAYS, D, HALF_LIFE = 60, 20, 10.0
#: First day that is measured, by the rows of a day.
WARM_UPS = {5_000: 20, 50_000: 55}
FIELDS = (
    "day_rows",
    "day",
    "metric",
    "rows",
    "from_store",
    "from_rows",
    "cpu_ratio",
    "largest_gap",
    "commit",
)
RECORD = Record(Path(__file__).with_suffix(".csv"), FIELDS)
REPORT = Path(__file__).with_suffix(".md")
_FIRST = date(2026, 1, 1)


def rows_of(day: int, rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return the rows of a day and their labels; what tells the classes apart moves slowly."""
    y = rng.random(n) < 0.05
    angle = day / 40.0
    direction = np.zeros(D)
    direction[:2] = 1.6 * np.array([np.cos(angle), np.sin(angle)])
    return rng.normal(size=(n, D)) + y[:, None] * direction, y


def timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and its result."""
    began = time.process_time()
    result = fit()
    return time.process_time() - began, result


def measured(n_rows: int, warm_up: int, n_days: int = N_DAYS) -> list[tuple[Any, ...]]:
    """Return a record for each day and metric."""
    rng = np.random.default_rng(0)
    records: list[tuple[Any, ...]] = []
    past: list[tuple[Any, Any]] = []
    with TemporaryDirectory() as folder:
        store = SummaryStore(folder)
        for day in range(n_days):
            X, y = rows_of(day, rng, n_rows)
            past.append((X, y))
            store.add(_FIRST + timedelta(days=day), Moments.of(X, y))
            if day >= warm_up:
                new = rows_of(day + 1, rng, n_rows)
                records += [_record(day, metric, store, past, new) for metric in METRICS]
    return records


def _record(
    day: int, metric: str, store: SummaryStore, past: list[tuple[Any, Any]], new: tuple[Any, Any]
) -> tuple[Any, ...]:
    def from_store() -> Any:
        summary = store.decayed("moments", half_life=HALF_LIFE)
        return MomentClassifier(metric).fit_summary(summary)

    def from_rows() -> Any:
        X, y = (np.concatenate(parts) for parts in zip(*past, strict=True))
        age = np.repeat(np.arange(len(past))[::-1], [len(rows[1]) for rows in past])
        summary = Moments.of(X, y, 0.5 ** (age / HALF_LIFE))
        return MomentClassifier(metric).fit_summary(summary)

    times: dict[str, list[float]] = {"store": [], "rows": []}
    for _ in range(3):  # in turn, because the machine is not always as fast
        spent, first = timed(from_store)
        times["store"].append(spent)
        spent, second = timed(from_rows)
        times["rows"].append(spent)
    values = [
        resolve(metric).score(new[1], model.decision_function(new[0])) for model in (first, second)
    ]
    gap = float(
        np.abs(
            first.coef_ / np.linalg.norm(first.coef_) - second.coef_ / np.linalg.norm(second.coef_)
        ).max()
    )
    ratio = median(times["store"]) / median(times["rows"])
    numbers = (f"{value:.6f}" for value in values)
    n_rows = len(new[1])
    about = (n_rows, day, metric, len(past) * n_rows)
    return (*about, *numbers, f"{ratio:.4f}", f"{gap:.1e}", commit())


def lines() -> list[str]:
    """Return the report."""
    rows = RECORD.rows()
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    about = (
        f"{N_DAYS} days of rows with {D} features that drift slowly; a half-life of "
        f"{HALF_LIFE:g} days. Measured on the next day; CPU in turn, medians of three; commit "
        f"{commits}. Made by `python -m benchmarks.studies.daily_refit`."
    )
    text = [
        "# A daily refit from the store, against one from all rows",
        "",
        about,
        "",
        *header(
            "rows of a day",
            "metric",
            "days",
            "from the store",
            "from all rows",
            "largest gap of coefficients",
            "CPU, store / rows",
            "on the last day",
        ),
    ]
    for n_rows, metric in product(WARM_UPS, METRICS):
        of = [row for row in rows if (row["day_rows"], row["metric"]) == (str(n_rows), metric)]
        means = [fmean(float(row[name]) for row in of) for name in ("from_store", "from_rows")]
        gap = max(float(row["largest_gap"]) for row in of)
        ratios = [float(row["cpu_ratio"]) for row in of]
        text.append(
            line(
                f"{n_rows:,}",
                metric,
                str(len(of)),
                *(f"{mean:.5f}" for mean in means),
                f"{gap:.0e}",
                f"{median(ratios):.3f}",
                f"{ratios[-1]:.3f}",
            )
        )
    same = all(abs(float(row["from_store"]) - float(row["from_rows"])) < 1e-4 for row in rows)
    return [*text, "", f"The same metric on every day, to 1e-4: {holds(same)}."]


def main() -> None:
    """Measure all days anew, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="measure nothing")
    if not parser.parse_args().report:
        RECORD.path.unlink(missing_ok=True)
        for n_rows, warm_up in WARM_UPS.items():
            RECORD.append(measured(n_rows, warm_up))
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
