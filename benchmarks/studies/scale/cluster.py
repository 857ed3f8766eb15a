"""Memory of Spark's driver at 20 and 2,000 partitions, and a sum that loses an executor.

A standalone cluster of a master and two workers of one core each runs the first pass of
`DirectClassifier.fit_source` (`survey_job`): 10,000 rows of 50 columns a partition, five folds, a
sample of the rows. ``python -m benchmarks.studies.scale.cluster`` measures what ``cluster.csv``
does not have of this commit; ``--quick`` tries it out with few and small partitions, and tracks
nothing.
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
from benchmarks.studies.scale.survey_job import (
    COLUMNS,
    FOLDS,
    ROWS,
    measured_survey,
    running_cluster,
)

MEASURED = (
    *("partitions", "rows", "sampled", "seconds", "python MB", "JVM MB", "both MB"),
    *("heap peak MB", "heap live MB", "tasks run again", "speculative tasks"),
    *("executor killed after", "digest"),
)
RECORD = Record.beside(__file__, ("commit", "run", *MEASURED), "commit, run")
#: Largest ratio of the driver's memory at most partitions to that at few.
ALLOWED = 1.10
#: Partitions of each run; in the last an executor is killed in mid-tree, and tasks run twice.
DISTURBED = "disturbed"
PARTITIONS = {"few": 20, "many": 2_000, DISTURBED: 2_000}


def measure(
    code: str, run: str, partitions: int | None = None, rows: int = ROWS
) -> list[tuple[object, ...]]:
    """Make a run in a process and on a cluster of its own."""
    with tempfile.TemporaryDirectory() as scratch, running_cluster(Path(scratch)) as url:
        number = partitions or PARTITIONS[run]
        result = isolated(measured_survey, url, number, scratch, rows, run == DISTURBED)
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
        "# Memory of Spark's driver",
        "",
        f"Commit {code}. A standalone cluster (a master, two workers of one core)",
        "runs the first pass of `DirectClassifier.fit_source`: moments, a sample and a fingerprint",
        f"of {ROWS:,} rows a partition, {COLUMNS} columns, {FOLDS} folds. The limits of the",
        "driver are Spark's defaults (1 GB of memory, results of at most 1 GB); its JVM collects",
        "garbage serially, and the web pages of Spark are switched off. Sizes are the",
        "largest that a process had, in MB; the peak of the heap has garbage in it, the live heap,",
        "measured at the end, has none. Seconds are of a machine that did other things too.",
        *table(" | ".join(("run", *MEASURED)), (list(row.values())[1:] for row in last.values())),
        "",
        *claims(last),
    ]


def claims(runs: dict[str, Row]) -> list[str]:
    """Return what holds of the memory, and of a sum that was disturbed."""
    few, many = runs["few"], runs["many"]
    ratio = float(many["both MB"]) / float(few["both MB"])
    memory = (
        f"- Memory of the driver at {many['partitions']} partitions within 10 % of that at "
        f"{few['partitions']} (ratio {ratio:.2f}): {holds(ratio <= ALLOWED)}."
    )
    text = [memory]
    if DISTURBED in runs:
        row = runs[DISTURBED]
        text.append(
            f"- An executor killed in mid-tree (after {row['executor killed after']}; "
            f"{row['tasks run again']} tasks run again) and {row['speculative tasks']} tasks run "
            "twice at a time by speculative execution, change no bit: "
            f"{holds(row['digest'] == many['digest'])}."
        )
    return text


STUDY = Study(
    [Part(RECORD, lambda _: ((commit(), run) for run in PARTITIONS), measure)],
    lines,
    quick="few and small partitions, nothing is tracked",
    try_out=try_out,
)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster is stopped then too
    STUDY.main(__doc__)
