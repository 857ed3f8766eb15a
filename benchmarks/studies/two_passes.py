"""DirectClassifier in two passes over 20,000,000 rows in Parquet files, and 2,000,000 on Spark.

Rows are generated: 20 features, 1 % positives, scores clearly not normal: three positives in ten
lie on the wrong side, far out, among negatives, and most features are skewed. Each fit runs in a
process of its own, whose largest size (of Spark, that of the driver), CPU time with that of its
children, and bytes read are measured. ``python -m benchmarks.studies.two_passes`` writes
``two_passes.csv``; ``--rows 400000`` tries it out, and tracks nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.linear_model import LogisticRegressionCV

from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import isolated
from benchmarks.studies.scale.file_fit import Fit, measured_fit, on_spark, scan
from directrix import DirectClassifier
from directrix.metrics import RecallAtFPR

FEATURES = [f"x{k}" for k in range(20)]
METRIC = RecallAtFPR(0.01)
ROWS, PER_FILE, PRIOR = 20_000_000, 500_000, 0.01
RECORD = Record.beside(
    __file__,
    "task, rows, recall at FPR 1 %, megabytes, times the bytes were read, CPU to two scans, "
    "chosen, commit",
)


def rows(n: int, seed: int, d: int = len(FEATURES)) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which a line can find seven positives in ten, if it lets go of the others."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < PRIOR
    X = rng.standard_normal((n, d), dtype=np.float32)
    X[:, 5:] = np.exp(X[:, 5:])  # skewed: no score is normal
    far = rng.random(n) < np.where(y, 0.3, 0.05)
    X[:, 0] += np.where(far, -6.0, np.where(y, 2.5, 0.0))
    X[:, 1:4] += np.where(y, 0.5, 0.0)[:, None]
    return X, y


def write(folder: Path, n: int, d: int = len(FEATURES), per_file: int = PER_FILE) -> int:
    """Write the files; return how many there are."""
    files = -(-n // per_file)
    for number in range(files):
        X, y = rows(min(per_file, n - number * per_file), number, d)
        columns = {f"x{k}": column for k, column in enumerate(X.T)} | {"y": y.astype(np.int8)}
        path = folder / f"{number:04d}.parquet"
        parquet.write_table(pa.table(columns), path, compression="snappy")
    return files


# ── one fit, in a process of its own ──────────────────────────────────────────────────────────────


def _two_passes(source: Any) -> Any:
    return DirectClassifier(METRIC).fit_source(
        source, target="y", features=FEATURES, progress=False
    )


def _in_memory(files: list[str]) -> tuple[Any, Any]:
    table = pa.concat_tables(map(parquet.read_table, files))
    return np.column_stack([table[name].to_numpy() for name in FEATURES]), table["y"].to_numpy()


def _logistic(files: list[str]) -> Any:
    """Tune logistic regression for the same metric in three folds."""
    X, y = _in_memory(files)
    scale = X.std(axis=0)
    model = LogisticRegressionCV(Cs=4, cv=3, scoring=METRIC.scorer(), max_iter=200)
    model.fit((X - X.mean(axis=0)) / scale, y)
    model.coef_ = model.coef_ / scale
    return model


TASKS: dict[str, Fit] = {
    "bare scan": scan,
    "two passes, Arrow": _two_passes,
    "two passes, Spark": lambda files: on_spark(files, _two_passes),
    "in memory": lambda files: DirectClassifier(METRIC).fit(*_in_memory(files)),
    "tuned logistic": _logistic,
}


def one(task: str, folder: str, count: int) -> dict[str, Any]:
    """Return what a task takes in this process, and the coefficients of its line."""
    model, taken = measured_fit(TASKS[task], folder, "*.parquet", count)
    return taken | {"line": None if model is None else model.coef_[0].tolist()}


def main() -> None:
    """Measure, print and track."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    args = parser.parse_args()
    X, y = rows(2_000_000, 10_000)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), args.rows)
        tenth = max(1, files // 10)
        scans: dict[int, float] = {}
        plan = [("bare scan", files), ("bare scan", tenth), ("two passes, Arrow", files)]
        plan += [(task, tenth) for task in list(TASKS)[1:]]
        for task, count in plan:
            result = isolated(one, task, folder, count)
            unit = 2 * scans.setdefault(count, result["cpu"])
            line = result["line"]
            recall = "" if line is None else f"{METRIC.score(y, X @ np.array(line)):.4f}"
            cost = (f"{result['megabytes']:.0f}", f"{result['read']:.2f}")
            ratio, n = f"{result['cpu'] / unit:.1f}", min(args.rows, count * PER_FILE)
            lines.append((task, n, recall, *cost, ratio, result["chosen"], commit()))
            print(*lines[-1], sep=" | ", flush=True)
    if args.rows == ROWS:
        RECORD.write(lines)


if __name__ == "__main__":
    main()
