"""A card in two passes over 20,000,000 rows of 40 columns in Parquet files, and on a Spark cluster.

The rows have 28 complete numbers, six with missing values and six texts, and 6 % positives; the
card has no cell for a pair that matters, and must smooth what bends. ``python -m
benchmarks.studies.scale.card_passes`` writes the rows to a temporary folder, and measures each task
in a process of its own: CPU seconds, its largest size (of Spark, that of Python and Java in the
driver) and the AUC on new rows. Spark runs on a master and two workers of one core. ``--rows``
says how many rows there are at most; ``--quick`` tries it out with few, and tracks nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import dataset, parquet
from scipy.special import expit

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, package_commit, select
from benchmarks.harness.runner import Part, Study, isolated, peak_megabytes, quiet
from benchmarks.studies.scale.file_fit import Fit, measured_fit, scan
from benchmarks.studies.scale.summary_job import SETTINGS, executors, running_cluster
from directrix import ScorecardClassifier
from directrix._typing import AnyArray
from directrix.engines import HashFolds
from directrix.metrics import AUC

NUMBERS, WITH_MISSING, LEVELS = 34, 6, (3, 5, 8, 12, 20, 40)
COLUMNS = NUMBERS + len(LEVELS)
PER_FILE, ROWS, MEMORY = 200_000, 20_000_000, 1_000_000
NEW_ROWS, NEW_SEED = 500_000, 10_000
#: So few rows that the sample has all of them. They have a key, so that no fold depends on where
#: they are: files and Spark must make the same card.
KEYED, KEYED_FILE = 20_000, "keyed.parquet"
SCAN, CARD, IN_MEMORY = "bare Arrow scan", "card, two passes", "card, rows in memory"
SPARK_SCAN, SPARK_CARD = "bare Spark scan", "card, two passes on Spark"
MEASURED = ("CPU", "largest size MB", "times the bytes were read", "AUC", "lines", "digest")
RECORD = Record.beside(__file__, ("commit", "task", "rows", *MEASURED), "commit, task, rows")


def rows(n: int, seed: int) -> tuple[pa.Table, AnyArray]:
    """Return a table, and which of its rows are positive."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((NUMBERS, n), dtype=np.float32)
    codes = [rng.integers(0, levels, n, dtype=np.int8) for levels in LEVELS]
    odds = 0.5 * X[0] + np.sin(2.0 * X[1]) + 0.8 * (X[2] > 1.0) + 0.3 * X[3] ** 2 - 4.2
    odds += 0.4 * np.sign(X[4] * X[5]) + 0.1 * X[6:16].sum(axis=0) + 0.4 * X[-1]
    odds += 0.6 * (codes[1] == 2) + 0.05 * codes[4] - 0.3 * (codes[5] % 3)
    y = rng.random(n) < expit(odds)
    X[10:20] = np.exp(X[10:20])
    X[-WITH_MISSING:][rng.random((WITH_MISSING, n), dtype=np.float32) < 0.1] = np.nan
    columns: dict[str, Any] = {f"x{k}": pa.array(x, from_pandas=True) for k, x in enumerate(X)}
    for k, (code, levels) in enumerate(zip(codes, LEVELS, strict=True)):
        names = pa.array([f"level {level}" for level in range(levels)])
        columns[f"t{k}"] = pa.DictionaryArray.from_arrays(pa.array(code), names)
    return pa.table(columns), y


def write(folder: str, n: int) -> None:
    """Write the files that are not there; one with a key for few rows."""
    if n == KEYED:
        X, y = rows(n, NEW_SEED + 1)
        X = X.append_column("y", pa.array(y)).append_column("id", pa.array(np.arange(n)))
        parquet.write_table(X, Path(folder, KEYED_FILE))
    for number in range(n // PER_FILE):
        path = Path(folder, f"{number:04d}.parquet")
        if path.exists():
            continue
        X, y = rows(PER_FILE, number)
        parquet.write_table(X.append_column("y", pa.array(y)), path, compression="snappy")


def _two_passes(source: Any, *, keyed: bool = False) -> ScorecardClassifier:
    roles: dict[str, Any] = {"target": "y", "progress": False}
    if keyed:
        features = rows(1, 0)[0].column_names
        roles |= {"features": features, "fold": HashFolds(5, key="id")}
    return ScorecardClassifier().fit_source(source, **roles)


def _in_memory(files: list[str]) -> ScorecardClassifier:
    read = dataset.dataset(files).to_table()
    return ScorecardClassifier().fit(read.drop_columns("y"), read["y"].to_numpy())


def of_card(model: ScorecardClassifier) -> dict[str, Any]:
    """Return the AUC of a card on new rows, its lines, and a hash of its points and cuts."""
    X, y = rows(NEW_ROWS, NEW_SEED)
    card = model.card_
    said = hashlib.sha256(repr((card.bins, card.intercept)).encode())
    for points in card.blocks:
        said.update(np.ascontiguousarray(points).tobytes())
    return {
        "AUC": f"{AUC().score(y, model.decision_function(X)):.4f}",
        "lines": card.n_lines,
        "digest": said.hexdigest()[:12],
    }


def on_files(task: str, folder: str, n: int) -> dict[str, Any]:
    """Return what a task takes in this process."""
    two_passes = partial(_two_passes, keyed=n == KEYED)
    work: dict[str, Fit] = {SCAN: scan, CARD: two_passes, IN_MEMORY: _in_memory}
    pattern = KEYED_FILE if n == KEYED else "0*.parquet"
    model, taken = measured_fit(work[task], folder, pattern, max(1, n // PER_FILE))
    size = {"CPU": taken["cpu"], "largest size MB": taken["megabytes"]}
    read = {"times the bytes were read": f"{taken['read']:.2f}"}
    return size | read | ({} if model is None else of_card(model))


def on_spark(task: str, folder: str, n: int, master: str, scratch: str) -> dict[str, Any]:
    """Return what a task takes on a cluster, of whose driver this process is a part."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master(master).config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    jvm = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001
    files = [KEYED_FILE] if n == KEYED else [f"{k:04d}.parquet" for k in range(n // PER_FILE)]
    frame = session.read.parquet(*(str(Path(folder, file)) for file in files))
    if n == KEYED:
        frame = frame.repartition(8, "id")
    frame.limit(1).count()  # starts the executors
    before = _cpu(os.getpid(), jvm, *_of_cluster(scratch))
    if task == SPARK_SCAN:
        model = None
        frame.mapInArrow(lambda batches: (batch[:0] for batch in batches), frame.schema).count()
    else:
        with quiet():
            model = _two_passes(frame, keyed=n == KEYED)
    spent = _cpu(os.getpid(), jvm, *_of_cluster(scratch)) - before
    size = peak_megabytes() + peak_megabytes(jvm)
    made = {} if model is None else of_card(model)
    session.stop()
    return {"CPU": spent, "largest size MB": size} | made


def _of_cluster(scratch: str) -> list[int]:
    """Return the executors of a cluster and the Python processes that they started."""
    found = executors(Path(scratch))
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            works_in = str((process / "cwd").readlink())
        except OSError:  # it has ended
            continue
        if b"pyspark.daemon" in command and works_in.startswith(scratch):
            found.append(int(process.name))
    return found


def _cpu(*processes: int) -> float:
    """Return the CPU seconds of processes, and of their children that have ended."""
    ticks = 0
    for process in processes:
        after_name = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2]
        ticks += sum(map(int, after_name.split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def measure(code: str, task: str, n: int) -> list[tuple[Any, ...]]:
    """Write the rows that this run has not written yet, and return the row of a task."""
    folder = _folder().name
    write(folder, n)
    if task in {SPARK_SCAN, SPARK_CARD}:
        with tempfile.TemporaryDirectory() as home, running_cluster(Path(home)) as url:
            result = isolated(on_spark, task, folder, n, url, home)
    else:
        result = isolated(on_files, task, folder, n)
    for name, digits in (("CPU", ".3g"), ("largest size MB", ".0f")):
        result[name] = format(result[name], digits)
    return [(code, task, n, *(result.get(name, "") for name in MEASURED))]


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Yield the tasks."""
    code, few = package_commit(), args.rows // 10
    yield from ((code, task, few) for task in (SCAN, CARD))
    yield code, IN_MEMORY, MEMORY
    yield from ((code, task, args.rows) for task in (SCAN, CARD))
    yield from ((code, task, KEYED) for task in (CARD, SPARK_CARD))
    yield from ((code, task, PER_FILE) for task in (CARD, SPARK_SCAN, SPARK_CARD))


def try_out(_: argparse.Namespace) -> None:
    """Measure few rows, and print."""
    for task in (SCAN, CARD, IN_MEMORY, SPARK_SCAN, SPARK_CARD):
        print(*measure(package_commit(), task, PER_FILE)[0], sep=" | ", flush=True)


def lines(measured: list[Row]) -> list[str]:
    """Return the report on the commit that was measured last."""
    code = measured[-1]["commit"]
    last = select(measured, commit=code)
    values = {(row["task"], int(row["rows"])): row for row in last}
    sizes = sorted({n for task, n in values if task == SCAN})
    most = sizes[-1]

    def cpu(task: str, n: int) -> float:
        return float(values[task, n]["CPU"])

    at = ", ".join(f"{cpu(CARD, n) / cpu(SCAN, n) / 2.0:.1f} at {n:,} rows" for n in sizes)
    said = [
        f"- CPU of the fit to that of two bare scans: {at}.",
        f"- AUC on {NEW_ROWS:,} new rows: {values[CARD, most]['AUC']} from {most:,} rows in two",
        f"  passes, {values[IN_MEMORY, MEMORY]['AUC']} from {MEMORY:,} rows in memory.",
    ]
    needed = (SPARK_SCAN, SPARK_CARD, CARD)
    for n in sorted({n for _, n in values}):
        if all((task, n) in values for task in needed):
            ratio = cpu(SPARK_CARD, n) / cpu(SPARK_SCAN, n) / 2.0
            said += [
                f"- {n:,} rows on Spark, to two passes that hand Python all rows and do nothing:",
                f"  {ratio:.1f}. Samples depend on where the rows are: the AUC is",
                f"  {values[SPARK_CARD, n]['AUC']}, that of files {values[CARD, n]['AUC']}.",
            ]
    if {(SPARK_CARD, KEYED), (CARD, KEYED)} <= values.keys():
        same = values[SPARK_CARD, KEYED]["digest"] == values[CARD, KEYED]["digest"]
        said += [
            f"- {KEYED:,} rows with a key, which are all in the sample: the cards of Spark and",
            f"  of a file are equal, bit by bit: {same}.",
        ]
    columns = ("task", "rows", *MEASURED)
    return [
        "# A card in two passes over many rows",
        "",
        f"Commit {code}. Parquet files of {PER_FILE:,} rows of {COLUMNS} columns, 6 % positives:",
        "how, see `card_passes.py`. CPU seconds are of this machine, which did other things too;",
        "their ratios say more. On Spark they are of the driver and the executors together.",
        *table(" | ".join(columns), ([row[name] for name in columns] for row in last)),
        "",
        *said,
    ]


STUDY = Study(
    [Part(RECORD, planned, measure)],
    lines,
    quick="few rows, nothing is tracked",
    options={"--rows": {"type": int, "default": ROWS, "help": "at most"}},
    try_out=try_out,
)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster is stopped then too
    STUDY.main(__doc__)
