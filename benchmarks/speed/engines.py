"""Cost of summarising rows where they are, relative to reading them and to fits of others.

CPU time is that of the whole tree of processes: Spark works in a Java process and its Python
workers. Rows are generated, written as Parquet to a temporary folder, and deleted; covtype is read
where it is. Run ``python -m benchmarks.speed.engines``; ``--quick`` measures less, leaves Spark out
and tracks nothing.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import dataset, parquet

from benchmarks.harness.data import load
from benchmarks.harness.runner import isolated
from benchmarks.speed.moments import summarize_file
from benchmarks.speed.ratio import Figure, run
from benchmarks.speed.ratio import ratios as ratios_of
from directrix import MomentClassifier, summarize
from directrix._typing import AnyArray, FloatArray
from directrix.engines import HashFolds

D, ROW_GROUP, ROUNDS, SHORT_ROUNDS = 20, 250_000, 5, 9
FEATURES = [f"x{k}" for k in range(D)]
READING_MAY_COST = {"a path": 2.2, "a polars lazy frame": 1.6, "a duckdb relation": math.inf}
LEARNING_MAY_COST, SAMPLE_MAY_ADD = (2.0, 3.0), 1.5
SPARK_MAY_ADD, SPARK_OF_LOGISTIC, FIT_OF_LOGISTIC = 1.25, 1.0 / 3.0, 0.5
FOUR_TIMES_THE_ROWS, MEMORY_MAY_GROW, TIME_MAY_STRAY = 4, 1.15, 0.10


def tree_seconds() -> float:
    """Return the CPU time of this process and of all that came from it, ended ones too."""
    pages = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has just ended
                continue
            pages[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours, spent = {os.getpid()}, 0
    while ours:
        spent += sum(pages[process][1] for process in ours if process in pages)
        ours = {process for process, (parent, _) in pages.items() if parent in ours}
    return spent / os.sysconf("SC_CLK_TCK")


ratios = partial(ratios_of, clock=tree_seconds)


def write_rows(path: Path, n: int) -> Path:
    """Write n rows of float32 features, a label and a key."""
    rng = np.random.default_rng(0)
    schema = pa.schema(
        [*((name, pa.float32()) for name in FEATURES), ("y", pa.int8()), ("customer", pa.int64())]
    )
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, ROW_GROUP):
            size = min(ROW_GROUP, n - start)
            y = rng.integers(0, 2, size)
            X = rng.standard_normal((D, size), dtype=np.float32)
            X[0] += y.astype(np.float32)
            columns = [*X, y.astype(np.int8), rng.integers(0, 2**60, size)]
            writer.write_table(pa.table(list(map(pa.array, columns)), schema=schema))
    return path


def reading(path: Path, n: int, rounds: int) -> list[Figure]:
    """Measure summaries of a file against reading it, as pyarrow does unasked."""

    def scan() -> None:
        for _ in dataset.dataset(path).to_batches(columns=[*FEATURES, "y"]):
            pass

    roles: dict[str, Any] = {"target": "y", "features": FEATURES, "progress": False}
    relation = duckdb.connect().read_parquet(str(path))
    sources = dict(zip(READING_MAY_COST, (path, pl.scan_parquet(path), relation), strict=True))
    work: dict[str, Callable[[], object]] = {
        name: partial(summarize, source, **roles) for name, source in sources.items()
    }
    measured = ratios(scan, work, rounds=rounds)
    learned: dict[str, Callable[[], object]] = {
        "summary, 5 folds and a sample": partial(summarize, path, fold=HashFolds(5), **roles),
        "fit_source": partial(MomentClassifier().fit_source, path, **roles),
    }
    of_scan = ratios(scan, learned, rounds=rounds)
    summary, _ = learned
    bare = partial(summarize, path, sample=0, **roles)
    of_moments = ratios(bare, {summary: learned[summary]}, rounds=rounds)
    what = f"{n:.0e} x {D} float32"
    return [
        *(
            Figure(f"{what}, {name} / bare pyarrow scan", measured[name], limit)
            for name, limit in READING_MAY_COST.items()
        ),
        *(
            Figure(f"{what}, {name} / bare pyarrow scan", of_scan[name], limit)
            for name, limit in zip(learned, LEARNING_MAY_COST, strict=True)
        ),
        Figure(f"{what}, {summary} / moments alone", of_moments[summary], SAMPLE_MAY_ADD),
    ]


def memory(folder: Path, n: int, rounds: int) -> list[Figure]:
    """Measure four times the rows, each time in a process of its own."""
    few = write_rows(folder / "few.parquet", 1000)
    paths = [
        write_rows(folder / f"{k}.parquet", n * k // FOUR_TIMES_THE_ROWS)
        for k in (1, FOUR_TIMES_THE_ROWS)
    ]
    turns = (
        [isolated(summarize_file, path, few, FEATURES) for path in paths] for _ in range(rounds)
    )
    measured = np.array(list(turns))
    for path in paths:
        path.unlink()
    time, size = np.median(measured[:, 1] / measured[:, 0], axis=0)
    what = f"{n:.0e} x {D} float32 rows / a quarter of them"
    stray = abs(time / FOUR_TIMES_THE_ROWS - 1.0)
    return [
        Figure(f"{what}, largest size of the process", size, MEMORY_MAY_GROW),
        Figure(f"{what}, CPU: how far from 4 times", stray, TIME_MAY_STRAY),
        Figure(f"{what}, megabytes", float(np.median(measured[:, 1, 1])), math.inf),
    ]


@contextmanager
def spark_session() -> Iterator[Any]:
    """Give a Spark of two cores in this machine."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - a quick run needs no Spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", value=False)
        .config("spark.driver.memory", "3g")
        .config("spark.ui.showConsoleProgress", value=False)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def spark(session: Any, path: Path, n: int, rounds: int) -> list[Figure]:
    """Measure summaries in Spark against workers that do nothing, and against one fit."""
    rows = session.read.parquet(str(path)).select(*FEATURES, "y")
    work = partial(summarize, rows, target="y", progress=False)
    idle = ratios(partial(nothing, rows), {"summary": work}, rounds=rounds)
    fit = ratios(logistic(rows, FEATURES), {"summary": work}, rounds=rounds)
    what = f"{n:.0e} x {D} float32, Spark"
    return [
        Figure(f"{what} / mapInArrow that does nothing", idle["summary"], SPARK_MAY_ADD),
        Figure(f"{what} / pyspark.ml LogisticRegression", fit["summary"], SPARK_OF_LOGISTIC),
    ]


def spark_fit(session: Any, folder: Path, rounds: int) -> list[Figure]:
    """Measure a fit in two passes against logistic regression on the same rows."""
    X, y = load("covtype")
    names = [f"x{k}" for k in range(X.shape[1])]
    rows = session.read.parquet(str(write_table(folder / "covtype", X, y, names)))
    ours = partial(MomentClassifier("error").fit_source, rows, target="y", progress=False)
    measured = ratios(logistic(rows, names), {"ours": ours}, rounds=rounds)
    what = f"fit_source, covtype {len(y)} x {len(names)}, Spark / pyspark.ml LogisticRegression"
    return [Figure(what, measured["ours"], FIT_OF_LOGISTIC)]


def nothing(rows: Any) -> object:
    """Send all rows to the workers, which drop them."""

    def dropped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        n = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_arrays([pa.array([n])], ["n"])

    return rows.mapInArrow(dropped, "n long").collect()


def logistic(rows: Any, features: list[str]) -> Callable[[], object]:
    """Return a fit of Spark's own logistic regression."""
    from pyspark.ml.classification import LogisticRegression  # noqa: PLC0415
    from pyspark.ml.feature import VectorAssembler  # noqa: PLC0415

    vectors = VectorAssembler(inputCols=features, outputCol="features").transform(rows)
    fit = LogisticRegression(featuresCol="features", labelCol="y").fit
    return partial(fit, vectors.select("features", vectors["y"].cast("double").alias("y")))


def write_table(folder: Path, X: FloatArray, y: AnyArray, names: list[str]) -> Path:
    """Write rows as sixteen Parquet files."""
    folder.mkdir()
    for k, part in enumerate(np.array_split(np.arange(len(y)), 16)):
        columns = [*X[part].T, y[part].astype(np.int8)]
        parquet.write_table(pa.table(columns, names=[*names, "y"]), folder / f"{k:02}.parquet")
    return folder


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield all figures; a quick run has no limits."""
    n, many = (400_000, 2_000_000) if quick else (2_000_000, 20_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_rows(folder / "rows.parquet", n)
        figures = reading(path, n, 3 if quick else SHORT_ROUNDS)
        if not quick:
            yield from figures
            with spark_session() as session:
                yield from spark(session, path, n, ROUNDS)
                try:
                    yield from spark_fit(session, folder, ROUNDS)
                except FileNotFoundError as error:
                    print(error)
            figures = []
        figures += memory(folder, many, 1 if quick else ROUNDS)
    yield from (figure._replace(limit=math.inf) if quick else figure for figure in figures)


if __name__ == "__main__":
    run(__file__, __doc__, measure, "fewer rows and rounds, no Spark", checked=False)
