"""Memory and CPU time of adding 100, 1,000 and 10,000 results of partitions in one process.

The results are real ones of the tasks that fits run, pickled as they are sent between workers, and
are added by the code that workers and driver run, all levels of the tree in one stream. A pool of
eight distinct results is used again and again under different numbers, because making 10,000 would
take most of the time; the hashes of sampled rows are moved, so that all rows are different.
Every run is a process of its own. ``python -m benchmarks.studies.scale.partials`` measures what
``partials.csv`` does not have of this commit; ``--quick`` adds a few and tracks nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from benchmarks.harness.markdown import holds, table
from benchmarks.harness.record import Record, Row, commit, mean_of, select
from benchmarks.harness.runner import Part, Study, isolated, peak_megabytes
from directrix.designs.sources import ROWS_OF_LINES
from directrix.engines import HashFolds
from directrix.engines.column_roles import (
    ColumnRoles,
    Partition,
    group_counts,
    group_sums,
    packed,
    unpacked,
)
from directrix.engines.tasks import FoldModels, NumberFeatures, Score, Summaries, Survey, Surveyed

ROWS, FAN_IN, POOL = 10_000, 64, 8
#: Rows of each class in the sample of a fit, on the commits of the record.
SAMPLED = 20_000
COUNTS = (100, 1_000, 10_000)
MEASURED = ("kB of a part", "MB before", "MB at most", "CPU ms a part")
RECORD = Record.beside(__file__, ("commit", "task", "parts", *MEASURED), "commit, task, parts")
#: Largest ratio of the memory for most parts to that for a tenth of them.
ALLOWED = 1.10


def results(task: Any, d: int, folds: int, rows: int, count: int) -> list[Any]:
    """Return the results of a task on a few partitions of many; a tenth of the labels is 1."""
    plan = replace(ColumnRoles.of(target=d, fold=HashFolds(folds)), identified=True)
    made = []
    for number in range(POOL):
        rng = np.random.default_rng(number)
        table = np.column_stack([rng.normal(size=(rows, d)), rng.random(rows) < 0.1])
        made.append(task(plan, Partition(number, [table], count)))
    return made


def summaries(count: int, rows: int) -> Callable[[int], bytes]:
    """Return moments of 200 features in ten folds."""
    return _pool(results(Summaries(), 200, 10, rows, count))


def histograms(count: int, rows: int) -> Callable[[int], bytes]:
    """Return histograms of 33 candidates in five folds."""
    lines = np.random.default_rng(0).normal(size=(5, 33, 51))
    models = [FoldModels(fold, of_fold) for fold, of_fold in enumerate(lines)]
    return _pool(results(Score(NumberFeatures(50), 1.0, models), 50, 5, rows, count))


def surveys(count: int, rows: int) -> Callable[[int], bytes]:
    """Return moments of 50 features in five folds, with each partition's share of the sample."""
    pool = results(Survey(ROWS_OF_LINES), 50, 5, rows, count)
    return lambda number: packed(_moved(pool[number % POOL], number))


TASKS = {"moments": summaries, "histograms": histograms, "survey with sample": surveys}


def _pool(made: list[Any]) -> Callable[[int], bytes]:
    parts = [packed(result) for result in made]
    return lambda number: parts[number % POOL]


def _moved(result: Surveyed, number: int) -> Surveyed:
    """Return a survey of other rows: their hashes are moved, below the same thresholds."""
    sample = result.sample
    assert sample is not None
    hashes = sample.hashes.copy()
    for label, threshold in sample.thresholds.items():
        rows, step = sample.y == label, np.uint64(number * (threshold // 10_007))
        with np.errstate(over="ignore"):
            hashes[rows] = (hashes[rows] + step) % np.uint64(threshold)
    return replace(result, sample=replace(sample, hashes=hashes))


def added(part_of: Callable[[int], bytes], count: int) -> Any:
    """Return the sum of parts, all levels of the tree in one stream."""
    parts: Iterator[tuple[int, bytes]] = ((number, part_of(number)) for number in range(count))
    for _ in group_counts(count, FAN_IN):
        parts = group_sums(parts, FAN_IN)
    [(_, total)] = parts
    return unpacked(total)


def one(task: str, count: int, rows: int) -> dict[str, object]:
    """Add parts in this process, and return what that took."""
    part_of = TASKS[task](count, rows)
    size, before, start = len(part_of(0)), peak_megabytes(), time.process_time()
    added(part_of, count)
    spent = time.process_time() - start
    return {
        "kB of a part": round(size / 1e3),
        "MB before": round(before),
        "MB at most": round(peak_megabytes()),
        "CPU ms a part": f"{1e3 * spent / count:.1f}",
    }


def measure(code: str, task: str, count: int, rows: int = ROWS) -> list[tuple[object, ...]]:
    """Add parts in a process of its own."""
    result = isolated(one, task, count, rows)
    return [(code, task, count, *(result[name] for name in MEASURED))]


def try_out(_: argparse.Namespace) -> None:
    """Add a few small parts, and print."""
    for task, count in product(TASKS, (20, 100)):
        print(*measure(commit(), task, count, 500)[0], sep=" | ", flush=True)


def lines(rows: list[Row]) -> list[str]:
    """Return the report on the commit that was measured last."""
    code = rows[-1]["commit"]
    last = select(rows, commit=code)
    text = [
        "# Adding the results of partitions",
        "",
        f"Commit {code}. Results of tasks on {ROWS:,} rows a partition, pickled and",
        "added by the tree of the engines in one process: moments of 200 features in ten folds,",
        "histograms of 33 candidates in five, and surveys of 50 features in five folds, each with",
        f"the partition's share of a sample of {SAMPLED:,} rows of each class. Memory is the",
        f"largest size of the process, before and after; a pool of {POOL} results is used again.",
        *table(" | ".join(RECORD.columns[1:]), (list(row.values())[1:] for row in last)),
        "",
    ]
    for task in TASKS:
        few, many = (mean_of(select(last, task=task, parts=n), "MB at most") for n in COUNTS[1:])
        text.append(
            f"- {task}: memory for {COUNTS[2]:,} parts within 10 % of that for {COUNTS[1]:,} "
            f"(ratio {many / few:.2f}): {holds(many / few <= ALLOWED)}."
        )
    return text


STUDY = Study(
    [Part(RECORD, lambda _: ((commit(), *key) for key in product(TASKS, COUNTS)), measure)],
    lines,
    quick="few and small parts, nothing is tracked",
    try_out=try_out,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
