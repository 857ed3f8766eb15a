"""One pass over 20,000,000 rows of 30 columns in Parquet files, and what follows without the rows.

``python -m benchmarks.studies.scale.one_pass`` writes the rows to a temporary folder, and measures
each task in a process of its own: CPU seconds, its largest size, and the size of the summary's
file. It also adds the summaries of 10,000 parts of some rows, and compares the sum with the summary
of all of them. ``--quick`` tries it out with few rows, and tracks nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, select
from benchmarks.harness.runner import Part, Study, isolated, peak_megabytes, timed
from benchmarks.studies.one_pass import METRICS
from benchmarks.studies.scale.file_fit import measured_fit, scan
from benchmarks.studies.two_passes import rows, write
from directrix import MomentClassifier, Moments, summarize
from directrix.engines import HashFolds
from directrix.rows.sums import tree_sum

COLUMNS, FOLDS = 30, 5
ROWS, TWO, FEW = 20_000_000, 2_000_000, 200_000
PARTIALS, ROWS_OF_PARTIAL = 10_000, 100
SCAN, MOMENTS, SUMMARY = "bare Arrow scan", "moments alone", "summary"
LEARN, ADD = f"{len(METRICS)} metrics from the summary", f"{PARTIALS:,} summaries added"
RECORD = Record.beside(
    __file__,
    "commit, task, rows, CPU, largest size MB, file MB, largest difference, equal samples",
    "commit, task, rows",
)

_WORK: dict[str, Any] = {
    SCAN: scan,
    MOMENTS: partial(summarize, target="y", sample=0, progress=False),
    SUMMARY: partial(summarize, target="y", fold=HashFolds(FOLDS), progress=False),
}


def pass_over(task: str, folder: str, n: int) -> tuple[Any, ...]:
    """Return what a pass over the first n rows takes, and the MB of the file of its summary."""
    made, taken = measured_fit(_WORK[task], folder, "*.parquet", n // FEW)
    size = ""
    if made is not None:
        path = Path(folder) / f"{task}-{n}.moments"
        made.save(path)
        size = f"{path.stat().st_size / 1e6:.2f}"
    return f"{taken['cpu']:.3g}", f"{taken['megabytes']:.0f}", size, "", ""


def learn(folder: str, n: int) -> tuple[Any, ...]:
    """Return the CPU of models for all metrics from the file of a summary."""
    summary = Moments.load(Path(folder) / f"{SUMMARY}-{n}.moments")
    _, spent = timed(MomentClassifier().fit_summary_each, list(METRICS.values()), summary)
    return f"{spent:.3g}", f"{peak_megabytes():.0f}", "", "", ""


def add(n: int) -> tuple[Any, ...]:
    """Return the CPU of a sum of the summaries of parts of n rows, and its largest difference.

    Means and scatters of features of variance one differ by a share of the deviation and of the
    variance. Values without a pattern are added in another order than in one pass over all rows.
    """
    X, y = rows(n, 0, COLUMNS)
    key, of_all = np.arange(n), Moments.of(X, y, key=np.arange(n))
    order = np.random.default_rng(0).permutation(n)
    parts = [Moments.of(X[i], y[i], key=key[i]) for i in np.array_split(order, PARTIALS)]
    total, spent = timed(tree_sum, parts)
    largest = 0.0
    for label, whole in of_all.by_class.items():
        ours, deviation = total.by_class[label], np.sqrt(whole.variance)
        of_scatter = np.abs(ours.scatter - whole.scatter) / np.outer(deviation, deviation)
        of_mean = np.abs(ours.mean - whole.mean) / deviation
        largest = max(largest, of_mean.max(), of_scatter.max() / whole.weight)
    same = total.sample == of_all.sample
    return f"{spent:.3g}", f"{peak_megabytes():.0f}", "", f"{largest:.1e}", same


def measure(code: str, tasks: Iterable[tuple[str, int]]) -> Iterator[tuple[Any, ...]]:
    """Write the rows, and yield the row of each task."""
    tasks = list(tasks)
    with tempfile.TemporaryDirectory() as folder:
        passes = [n for task, n in tasks if task != ADD]
        if passes:
            write(Path(folder), max(passes), COLUMNS, FEW)
        for task, n in tasks:
            if task == ADD:
                result = isolated(add, n)
            elif task == LEARN:
                result = isolated(learn, folder, n)
            else:
                result = isolated(pass_over, task, folder, n)
            yield (code, task, n, *result)


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:  # noqa: ARG001
    """Yield the tasks: a model is learned after its summary is made."""
    for n in (ROWS, TWO, FEW):
        yield from ((commit(), task, n) for task in (SCAN, MOMENTS, SUMMARY, LEARN))
    yield commit(), ADD, PARTIALS * ROWS_OF_PARTIAL


def try_out(_: argparse.Namespace) -> None:
    """Measure few rows, and print."""
    tasks = [(task, FEW) for task in (SCAN, MOMENTS, SUMMARY, LEARN)]
    for row in measure(commit(), [*tasks, (ADD, 2 * PARTIALS)]):
        print(*row, sep=" | ", flush=True)


def lines(measured: list[Row]) -> list[str]:
    """Return the report on the commit that was measured last."""
    code = measured[-1]["commit"]
    last = select(measured, commit=code)
    of_all = {row["task"]: float(row["CPU"]) for row in select(last, rows=ROWS)}
    columns = ("task", "rows", "CPU", "largest size MB", "file MB")
    (added,) = select(last, task=ADD)
    hours = of_all[SUMMARY] / ROWS * 1e9 / 3600
    return [
        "# One pass over many rows",
        "",
        f"Commit {code}. Parquet files of {FEW:,} rows of {COLUMNS} columns of random float32",
        f"numbers, 1 % positives; a summary has {FOLDS} folds and at most 10,000 rows of a class.",
        "Each task ran in a process of its own, BLAS on one thread. CPU seconds are of this",
        "machine; their ratios say more.",
        *table(" | ".join(columns), ([row[name] for name in columns] for row in last)),
        "",
        f"- At {ROWS:,} rows, the summary takes {of_all[SUMMARY] / of_all[SCAN]:.2f} times the CPU",
        f"  of the bare scan, and {of_all[SUMMARY] / of_all[MOMENTS]:.2f} times that of moments.",
        f"- {PARTIALS:,} summaries of {ROWS_OF_PARTIAL} rows, divided at random, add up to the",
        f"  summary of all: the largest difference is {added['largest difference']} standard",
        f"  deviations (of means) or variances; samples are equal: {added['equal samples']}.",
        f"- Extrapolated: a summary of a billion such rows takes {hours:.1f} CPU hours.",
    ]


STUDY = Study(
    [Part(RECORD, planned, measure, together=1)],
    lines,
    quick="few rows, nothing is tracked",
    try_out=try_out,
)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
