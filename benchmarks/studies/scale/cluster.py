"""A summary of 3,000,000 rows in 300 partitions of a Spark cluster, one of which loses an executor.

A standalone cluster of a master and two workers of one core each summarises 10,000 rows of 30
columns a partition, identified by a key, in five folds. ``python -m
benchmarks.studies.scale.cluster`` measures what ``cluster.csv`` does not have of this commit;
``--quick`` tries it out with few and small partitions, and tracks nothing.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from benchmarks.harness.markdown import holds, table
from benchmarks.harness.record import Record, Row, commit, select
from benchmarks.harness.runner import Part, Study, isolated
from benchmarks.studies.scale.summary_job import (
    COLUMNS,
    FOLDS,
    ROWS,
    measured_summary,
    running_cluster,
)

MEASURED = (
    *("partitions", "rows", "sampled", "seconds", "python MB", "JVM MB", "both MB"),
    *("heap live MB", "tasks run again", "executor killed after", "digest"),
)
RECORD = Record.beside(__file__, ("commit", "run", *MEASURED), "commit, run")
#: Largest ratio of the driver's memory at most partitions to that at few.
ALLOWED = 1.10
#: Partitions of each run; in the last an executor is killed in mid-pass.
DISTURBED = "disturbed"
PARTITIONS = {"few": 20, "many": 300, DISTURBED: 300}


def measure(
    code: str, run: str, partitions: int | None = None, rows: int = ROWS
) -> list[tuple[object, ...]]:
    """Make a run in a process and on a cluster of its own."""
    with tempfile.TemporaryDirectory() as scratch, running_cluster(Path(scratch)) as url:
        number = partitions or PARTITIONS[run]
        result = isolated(measured_summary, url, number, scratch, rows, run == DISTURBED)
    return [(code, run, *(result[name] for name in MEASURED))]


def try_out(_: argparse.Namespace) -> None:
    """Make two small runs, and print."""
    for run, partitions in (("few", 5), ("many", 70)):
        print(*measure(commit(), run, partitions, 200)[0], sep=" | ", flush=True)


def lines(rows: list[Row]) -> list[str]:
    """Return the report on the commit that was measured last."""
    code = rows[-1]["commit"]
    last = {row["run"]: row for row in select(rows, commit=code)}
    return [
        "# A summary on a Spark cluster",
        "",
        f"Commit {code}. A standalone cluster (a master, two workers of one core) summarises",
        f"{ROWS:,} rows of {COLUMNS} columns a partition, identified by a key, in {FOLDS} folds.",
        "The limits of the driver are Spark's defaults (1 GB of memory, results of at most 1 GB);",
        "its JVM collects garbage serially, and the web pages of Spark are switched off. Sizes are",
        "the largest that a process had, in MB; the live heap is measured at the end. Seconds are",
        "of a machine that did other things too.",
        *table(" | ".join(("run", *MEASURED)), (list(row.values())[1:] for row in last.values())),
        "",
        *claims(last),
    ]


def claims(runs: dict[str, Row]) -> list[str]:
    """Return what holds of the memory, and of a pass that was disturbed."""
    few, many = runs["few"], runs["many"]
    ratio = float(many["both MB"]) / float(few["both MB"])
    memory = (
        f"- Memory of the driver at {many['partitions']} partitions within 10 % of that at "
        f"{few['partitions']} (ratio {ratio:.2f}): {holds(ratio <= ALLOWED)}."
    )
    lost = runs[DISTURBED]
    same = (
        f"- An executor killed in mid-pass (after {lost['executor killed after']}; "
        f"{lost['tasks run again']} tasks run again) changes no bit: "
        f"{holds(lost['digest'] == many['digest'])}."
    )
    return [memory, same]


STUDY = Study(
    [Part(RECORD, lambda _: ((commit(), run) for run in PARTITIONS), measure)],
    lines,
    quick="few and small partitions, nothing is tracked",
    try_out=try_out,
)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster is stopped then too
    STUDY.main(__doc__)
