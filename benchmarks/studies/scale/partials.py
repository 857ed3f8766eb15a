"""Memory and CPU time of adding 100, 1,000 and 10,000 results of partitions in one process.

The results are real ones of the tasks that fits run, pickled as they are sent between workers, and
are added by the code that workers and driver run, all levels of the tree in one stream. A pool of
eight distinct results is used again and again under different numbers, because making 10,000 would
take most of the time; the hashes of sampled rows are moved, so that all rows are different.
Every run is a process of its own. ``python -m benchmarks.studies.scale.partials`` measures what
``partials.csv`` does not have of this commit, and writes ``partials.md``; ``--quick`` adds a few
and tracks nothing; ``--report`` writes the report only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.markdown import header, holds, line, write_report
from benchmarks.harness.record import Record, commit
from benchmarks.studies.scale.survey_job import peak
from directrix.designs.sources import NumberSource
from directrix.engines import HashFolds
from directrix.engines.block import Partition, group_counts, group_sums, packed, unpacked
from directrix.engines.plan import Plan
from directrix.engines.tasks import FoldModels, NumberFeatures, Score, Summaries, Survey, Surveyed

ROWS, FAN_IN, POOL = 10_000, 64, 8
COUNTS, QUICK = (100, 1_000, 10_000), (20, 100)
MEASURED = ("kB of a part", "MB before", "MB at most", "CPU ms a part")
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("commit", "task", "parts", *MEASURED),
    key=("commit", "task", "parts"),
)
REPORT = Path(__file__).with_suffix(".md")
#: Largest ratio of the memory for most parts to that for a tenth of them.
ALLOWED = 1.10


def tables(d: int, rows: int) -> Iterator[Any]:
    """Yield arrays of one partition each; the last column is the label, 10 % of them positive."""
    for seed in range(POOL):
        rng = np.random.default_rng(seed)
        yield np.column_stack([rng.normal(size=(rows, d)), rng.random(rows) < 0.1])


def results(task: Any, d: int, folds: int, rows: int, count: int) -> list[Any]:
    """Return the results of a task on a few partitions of many."""
    plan = replace(Plan.of(target=d, fold=HashFolds(folds)), identified=True)
    return [
        task(plan, Partition(number, [table], count))
        for number, table in enumerate(tables(d, rows))
    ]


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
    pool = results(Survey(NumberSource.most_rows), 50, 5, rows, count)
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
    size, before, start = len(part_of(0)), peak("self"), time.process_time()
    added(part_of, count)
    spent = time.process_time() - start
    return {
        "kB of a part": round(size / 1e3),
        "MB before": round(before),
        "MB at most": round(peak("self")),
        "CPU ms a part": f"{1e3 * spent / count:.1f}",
    }


def measure(task: str, count: int, rows: int) -> tuple[object, ...]:
    """Add parts in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.studies.scale.partials", "--one", task]
    command += [str(count), str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603 - our own
    result = json.loads(done.stdout.splitlines()[-1])
    return (commit(), task, count, *(result[name] for name in MEASURED))


def lines() -> list[str]:
    """Return the report on the commit that was measured last."""
    rows = RECORD.rows()
    last = [row for row in rows if row["commit"] == rows[-1]["commit"]]
    text = [
        "# Adding the results of partitions",
        "",
        f"Commit {rows[-1]['commit']}. Results of tasks on {ROWS:,} rows a partition, pickled and",
        "added by the tree of the engines in one process: moments of 200 features in ten folds,",
        "histograms of 33 candidates in five, and surveys of 50 features in five folds, each with",
        f"the partition's share of a sample of {NumberSource.most_rows:,} rows of each class.",
        "Memory is the largest size of the process, before and after; a pool of",
        f"{POOL} results is used again.",
        "",
        *header("task", "parts", *MEASURED),
        *(line(row["task"], row["parts"], *(row[name] for name in MEASURED)) for row in last),
        "",
    ]
    for task in TASKS:
        sizes = {int(row["parts"]): float(row["MB at most"]) for row in last if row["task"] == task}
        few, many = (sizes[count] for count in COUNTS[1:])
        text.append(
            f"- {task}: memory for {COUNTS[2]:,} parts within 10 % of that for {COUNTS[1]:,} "
            f"(ratio {many / few:.2f}): {holds(many / few <= ALLOWED)}."
        )
    return text


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--one", nargs=3, metavar=("TASK", "PARTS", "ROWS"))
    args = parser.parse_args()
    if args.one:
        task, count, rows = args.one
        print(json.dumps(one(task, int(count), int(rows))))
        return
    if args.quick:
        for task in TASKS:
            for count in QUICK:
                print(*measure(task, count, 500), sep=" | ", flush=True)
        return
    RECORD.repair()
    for task in () if args.report else TASKS:
        for count in COUNTS:
            if (commit(), task, str(count)) not in RECORD.done():
                RECORD.append([measure(task, count, ROWS)])
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
