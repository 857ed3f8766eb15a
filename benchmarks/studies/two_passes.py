"""DirectClassifier in two passes over 20,000,000 rows in Parquet files, and 2,000,000 on Spark.

Rows are generated: 20 features, 1 % positives, scores clearly not normal: three positives in ten
lie on the wrong side, far out, among negatives, and most features are skewed. Each fit runs in a
process of its own, whose largest size (of Spark, that of the driver), CPU time with that of its
children, and bytes read are measured. ``python -m benchmarks.studies.two_passes`` writes
``two_passes.csv``; ``--rows 400000`` tries it out, and tracks nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.harness.record import Record, commit
from benchmarks.studies.two_passes_fit import FEATURES, METRIC

ROWS, PER_FILE, PRIOR = 20_000_000, 500_000, 0.01
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    (
        *("task", "rows", "recall at FPR 1 %", "megabytes", "times the bytes were read"),
        *("CPU to two scans", "chosen", "commit"),
    ),
)


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which a line can find seven positives in ten, if it lets go of the others."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < PRIOR
    X = rng.standard_normal((n, len(FEATURES)), dtype=np.float32)
    X[:, 5:] = np.exp(X[:, 5:])  # skewed: no score is normal
    far = rng.random(n) < np.where(y, 0.3, 0.05)
    X[:, 0] += np.where(far, -6.0, np.where(y, 2.5, 0.0))
    X[:, 1:4] += np.where(y, 0.5, 0.0)[:, None]
    return X, y


def write(folder: Path, n: int) -> int:
    """Write the files; return how many there are."""
    files = -(-n // PER_FILE)
    for number in range(files):
        X, y = rows(min(PER_FILE, n - number * PER_FILE), number)
        table = pa.table(
            {name: X[:, k] for k, name in enumerate(FEATURES)} | {"y": y.astype(np.int8)}
        )
        parquet.write_table(table, folder / f"{number:04d}.parquet", compression="snappy")
    return files


def run(task: str, folder: Path, files: int) -> dict[str, object]:
    """Run a task in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.studies.two_passes_fit",
        task,
        str(folder),
        str(files),
    ]
    done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure, print and track."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    n = parser.parse_args().rows
    X, y = rows(2_000_000, 10_000)
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = write(folder, n)
        tenth = max(1, files // 10)
        scans = {}
        for task, count in (
            *(("bare scan", k) for k in (files, tenth)),
            ("two passes, Arrow", files),
            ("two passes, Arrow", tenth),
            ("two passes, Spark", tenth),
            ("in memory", tenth),
            ("tuned logistic", tenth),
        ):
            result = run(task, folder, count)
            scans.setdefault(count, result["cpu"])
            coef = result["line"]
            recall = "" if coef is None else f"{METRIC.score(y, X @ np.array(coef[:-1])):.4f}"
            ratio = f"{result['cpu'] / (2 * scans[count]):.1f}"
            size, passes = f"{result['megabytes']:.0f}", f"{result['read']:.2f}"
            rows_read = min(n, count * PER_FILE)
            lines.append((task, rows_read, recall, size, passes, ratio, result["chosen"], commit()))
            print(*lines[-1], sep=" | ", flush=True)
    if n == ROWS:
        RECORD.write(lines)


if __name__ == "__main__":
    main()
