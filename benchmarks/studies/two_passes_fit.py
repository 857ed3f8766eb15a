"""One fit of `two_passes`: ``python -m benchmarks.studies.two_passes_fit NAME FOLDER FILES``.

Prints a line of JSON: CPU seconds with those of its children, its largest size in megabytes, how
often it read the bytes of the files, and the coefficients.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import dataset, parquet
from sklearn.linear_model import LogisticRegressionCV

from directrix import DirectClassifier
from directrix.metrics import RecallAtFPR

FEATURES = [f"x{k}" for k in range(20)]
METRIC = RecallAtFPR(0.01)


def scan(files: list[str]) -> None:
    """Read all columns, and do nothing with them."""
    for batch in dataset.dataset(files).to_batches(columns=[*FEATURES, "y"]):
        batch.num_rows  # noqa: B018 - that is all


def arrow(files: list[str]) -> Any:
    """Fit in two passes over files."""
    return _two_passes(files)


def spark(files: list[str]) -> Any:
    """Fit in two passes on Spark."""
    return on_spark(files, _two_passes)


def on_spark(files: list[str], fit: Callable[[Any], Any]) -> Any:
    """Fit to a data frame of Parquet files, on both cores of this machine."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    settings = {"spark.driver.memory": "1g", "spark.ui.enabled": "false"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    model = fit(session.read.parquet(*files))
    session.stop()
    return model


def in_memory(files: list[str]) -> Any:
    """Fit to rows in memory."""
    return DirectClassifier(METRIC).fit(*_rows(files))


def logistic(files: list[str]) -> Any:
    """Tune logistic regression for the same metric in three folds."""
    X, y = _rows(files)
    scale = X.std(axis=0)
    model = LogisticRegressionCV(Cs=4, cv=3, scoring=METRIC.scorer(), max_iter=200)
    model.fit((X - X.mean(axis=0)) / scale, y)
    model.coef_ = model.coef_ / scale
    return model


TASKS: dict[str, Callable[[list[str]], Any]] = {
    "bare scan": scan,
    "two passes, Arrow": arrow,
    "two passes, Spark": spark,
    "in memory": in_memory,
    "tuned logistic": logistic,
}


def _two_passes(source: Any) -> Any:
    return DirectClassifier(METRIC).fit_source(
        source, target="y", features=FEATURES, progress=False
    )


def _rows(files: list[str]) -> tuple[Any, Any]:
    parts = [parquet.read_table(file) for file in files]
    X = np.concatenate(
        [np.column_stack([part[name].to_numpy() for name in FEATURES]) for part in parts]
    )
    return X, np.concatenate([part["y"].to_numpy() for part in parts])


def main() -> None:
    """Run the task and print what it took."""
    warnings.simplefilter("ignore")
    name, folder, count = sys.argv[1:]
    files = sorted(map(str, Path(folder).glob("*.parquet")))[: int(count)]
    before, spent = bytes_read(), cpu_seconds()
    model = TASKS[name](files)
    size = sum(Path(file).stat().st_size for file in files)
    largest = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    result = {
        "cpu": cpu_seconds() - spent,
        "megabytes": int(largest[1]) / 1024 if largest else None,
        "read": (bytes_read() - before) / size,
        "line": None if model is None else [*model.coef_[0].tolist(), float(model.intercept_[0])],
        "chosen": model.report_.chosen if hasattr(model, "report_") else "",
    }
    print(json.dumps(result))


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def bytes_read() -> int:
    """Return the bytes that this process has read."""
    count = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text("utf-8"))
    return int(count[1]) if count else 0


if __name__ == "__main__":
    main()
