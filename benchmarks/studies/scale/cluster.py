"""Memory of Spark's driver at 20 and 2,000 partitions, and a sum that loses an executor.

A standalone cluster of a master and two workers of one core each runs the first pass of
`DirectClassifier.fit_source` (`survey_job`): 10,000 rows of 50 columns a partition, five folds, a
sample of the rows. ``python -m benchmarks.studies.scale.cluster`` measures what ``cluster.csv``
does not have of this commit, and writes ``cluster.md``; ``--quick`` tries it out with few and small
partitions, and tracks nothing; ``--report`` writes the report only.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.markdown import header, holds, line, write_report
from benchmarks.harness.record import Record, Row, commit
from benchmarks.studies.scale.standalone import running_cluster
from benchmarks.studies.scale.survey_job import COLUMNS, FOLDS, ROWS

MEASURED = (
    *("partitions", "rows", "sampled", "seconds", "python MB", "JVM MB", "both MB"),
    *("heap peak MB", "heap live MB", "tasks run again", "speculative tasks"),
    *("executor killed after", "digest"),
)
RECORD = Record(
    Path(__file__).with_suffix(".csv"), ("commit", "run", *MEASURED), key=("commit", "run")
)
REPORT = Path(__file__).with_suffix(".md")
#: Largest ratio of the driver's memory at most partitions to that at few.
ALLOWED = 1.10


class Job(NamedTuple):
    """A run on the cluster.

    Parameters
    ----------
    name : str
    partitions : int
    disturbed : bool
        Whether an executor is killed in mid-tree, with speculative execution.
    """

    name: str
    partitions: int
    disturbed: bool = False


FEW, MANY, DISTURBED = Job("few", 20), Job("many", 2_000), Job("disturbed", 2_000, disturbed=True)
QUICK = (Job("few", 5), Job("many", 70))


def measure(job: Job, rows: int) -> tuple[object, ...]:
    """Run a job in a process and on a cluster of its own."""
    with tempfile.TemporaryDirectory() as scratch, running_cluster(Path(scratch)) as url:
        command = [sys.executable, "-m", "benchmarks.studies.scale.survey_job", url]
        command += [str(job.partitions), scratch, "--rows", str(rows)]
        command += ["--disturb"] if job.disturbed else []
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603 - our own
    result = json.loads(done.stdout.splitlines()[-1])
    return (commit(), job.name, *(result[name] for name in MEASURED))


def lines() -> list[str]:
    """Return the report on the commit that was measured last."""
    rows = RECORD.rows()
    last = {row["run"]: row for row in rows if row["commit"] == rows[-1]["commit"]}
    return [
        "# Memory of Spark's driver",
        "",
        f"Commit {rows[-1]['commit']}. A standalone cluster (a master, two workers of one core)",
        "runs the first pass of `DirectClassifier.fit_source`: moments, a sample and a fingerprint",
        f"of {ROWS:,} rows a partition, {COLUMNS} columns, {FOLDS} folds. The limits of the",
        "driver are Spark's defaults (1 GB of memory, results of at most 1 GB); its JVM collects",
        "garbage serially, and the web pages of Spark are switched off. Sizes are the",
        "largest that a process had, in MB; the peak of the heap has garbage in it, the live heap,",
        "measured at the end, has none. Seconds are of a machine that did other things too.",
        "",
        *header("run", *MEASURED),
        *(line(name, *(row[column] for column in MEASURED)) for name, row in last.items()),
        "",
        *_claims(last),
    ]


def _claims(runs: dict[str, Row]) -> list[str]:
    few, many = runs[FEW.name], runs[MANY.name]
    ratio = float(many["both MB"]) / float(few["both MB"])
    memory = (
        f"- Memory of the driver at {many['partitions']} partitions within 10 % of that at "
        f"{few['partitions']} (ratio {ratio:.2f}): {holds(ratio <= ALLOWED)}."
    )
    claims = [memory]
    if DISTURBED.name in runs:
        disturbed = runs[DISTURBED.name]
        again, twice = disturbed["tasks run again"], disturbed["speculative tasks"]
        killed_after = disturbed["executor killed after"]
        claims.append(
            f"- An executor killed in mid-tree (after {killed_after}; {again} tasks run again) and "
            f"{twice} tasks run twice at a time by speculative execution, change no bit: "
            f"{holds(disturbed['digest'] == many['digest'])}."
        )
    return claims


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster is stopped then too
    if args.quick:
        for job in QUICK:
            print(*measure(job, 200), sep=" | ", flush=True)
        return
    RECORD.repair()
    for job in () if args.report else (FEW, MANY, DISTURBED):
        if (commit(), job.name) not in RECORD.done():
            RECORD.append([measure(job, ROWS)])
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
