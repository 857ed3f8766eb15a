"""Fits to Parquet files in a process of its own: CPU time, largest size, bytes read."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyarrow import dataset

from benchmarks.harness.runner import peak_megabytes, quiet

Fit = Callable[[list[str]], Any]


def scan(files: list[str]) -> None:
    """Read all columns, and do nothing with them."""
    for batch in dataset.dataset(files).to_batches():
        batch.num_rows  # noqa: B018 - that is all


def on_spark(files: list[str], fit: Callable[[Any], Any]) -> Any:
    """Fit to a data frame of Parquet files, on both cores of this machine."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    settings = {"spark.driver.memory": "1g", "spark.ui.enabled": "false"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    model = fit(session.read.parquet(*files))
    session.stop()
    return model


def measured_fit(fit: Fit, folder: str, pattern: str, count: int) -> tuple[Any, dict[str, Any]]:
    """Fit to the first files of a folder in this process; return the model and what it took.

    CPU seconds are those of the process and of its children; ``read`` is how often it read the
    bytes of the files.
    """
    files = sorted(map(str, Path(folder).glob(pattern)))[:count]
    before, spent = _bytes_read(), _cpu_seconds()
    with quiet():
        model = fit(files)
    size = sum(Path(file).stat().st_size for file in files)
    return model, {
        "cpu": _cpu_seconds() - spent,
        "read": (_bytes_read() - before) / size,
        "megabytes": peak_megabytes(),
        "chosen": model.report_.chosen if hasattr(model, "report_") else "",
    }


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _bytes_read() -> int:
    count = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text("utf-8"))
    return int(count[1]) if count else 0
