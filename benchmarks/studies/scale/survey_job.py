"""One survey on Spark, as the first pass of `DirectClassifier.fit_source` makes it, measured.

``python -m benchmarks.studies.scale.survey_job MASTER PARTITIONS FOLDER`` prints one line of JSON;
``--disturb`` turns speculative execution on, delays a task, and kills an executor in mid-tree.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.studies.scale.standalone import HOST, executors
from directrix.designs.sources import NumberSource
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.tasks import Survey, Surveyed

ROWS, COLUMNS, FOLDS = 10_000, 50, 5
#: Settings of the session; all others, ``spark.driver.maxResultSize`` too, are the defaults.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
    "spark.executor.memory": "1g",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    # A job waits for both executors, so that there is one to lose.
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "2",
    "spark.speculation.efficiency.enabled": "false",
}
#: Seconds that the first attempt at the last partition is late.
DELAY = 60.0


@dataclass(frozen=True)
class Late:
    """A task whose first attempt at one partition is late, so that Spark runs it twice.

    Parameters
    ----------
    task : callable
    number : int
        Number of the partition.
    """

    task: Any
    number: int
    name = "late"

    def __call__(self, plan: Plan, partition: Any) -> Any:
        """Run the task."""
        from pyspark import TaskContext  # noqa: PLC0415 - on workers only

        context = TaskContext.get()
        if partition.number == self.number and context is not None and not context.attemptNumber():
            time.sleep(DELAY)
        return self.task(plan, partition)


def frame(session: Any, partitions: int, rows: int = ROWS) -> Any:
    """Return rows that executors make, the same whoever makes them: 50 columns, 10 % positives."""
    numbers = [f"xxhash64(id, {k}) / 9.223372036854775807E18D as x{k}" for k in range(COLUMNS)]
    label = "cast(pmod(xxhash64(id, -1), 10) = 0 as int) as y"
    return session.range(0, rows * partitions, 1, partitions).selectExpr(*numbers, label)


def survey(source: Any, partitions: int, *, late: bool = False) -> Surveyed:
    """Make the first pass of a fit."""
    plan = replace(Plan.of(target="y", fold=HashFolds(FOLDS)), identified=True)
    task: Any = Survey(NumberSource.most_rows)
    surveyed: Surveyed = run(source, plan, Late(task, partitions - 1) if late else task)
    return surveyed


def digest(surveyed: Surveyed) -> str:
    """Return a hash of every bit of the moments, the sample and the fingerprint."""
    moments, sample = surveyed.moments, surveyed.sample
    assert sample is not None
    sample = sample.ordered()
    bits = hashlib.sha256(repr(surveyed.fingerprint).encode())
    for part in moments.parts:
        for group in part:
            bits.update(repr((group.count, group.weight, group.weight_sq)).encode())
            for values in (group.mean, group.mean_tail, group.scatter):
                bits.update(values.tobytes())
    for values in (sample.X, sample.y, sample.weight, sample.fold, sample.hashes):
        bits.update(values.tobytes())
    return bits.hexdigest()[:16]


class Executioner(threading.Thread):
    """Kills an executor when the first level of the tree has added some groups.

    Parameters
    ----------
    session : SparkSession
    folder : Path
        Of the cluster.
    """

    def __init__(self, session: Any, folder: Path) -> None:
        super().__init__(daemon=True)
        self._tracker, self._folder = session.sparkContext.statusTracker(), folder
        self.killed_after = ""

    def run(self) -> None:
        """Wait for the second stage, and kill."""
        first = None
        while True:
            active = [self._tracker.getStageInfo(k) for k in self._tracker.getActiveStageIds()]
            for stage in filter(None, active):
                first = stage.stageId if first is None else first
                if stage.stageId > first and stage.numCompletedTasks >= 2:
                    os.kill(executors(self._folder)[0], signal.SIGKILL)
                    self.killed_after = f"{stage.numCompletedTasks} of {stage.numTasks} groups"
                    return
            time.sleep(0.02)


def peak(pid: int | str) -> float:
    """Return the largest size that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    largest = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(largest[1]) / 1024 if largest else float("nan")


def heap(session: Any) -> tuple[float, float]:
    """Return the MB of the heap of the driver's JVM: the largest in use, and what is live."""
    jvm = session.sparkContext._jvm  # noqa: SLF001 - there is no public way to ask
    management = jvm.java.lang.management.ManagementFactory
    pools = [pool for pool in management.getMemoryPoolMXBeans() if "Heap" in str(pool.getType())]
    largest = sum(
        pool.getPeakUsage().getUsed() for pool in pools if pool.getType().name() == "HEAP"
    )
    jvm.System.gc()
    return largest / 2**20, management.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 2**20


def speculated(session: Any) -> int:
    """Return the number of tasks that Spark ran twice without waiting for the first."""
    context = session.sparkContext
    store = context._jsc.sc().statusStore()  # noqa: SLF001 - there is no public way to ask
    count = 0
    for job in context.statusTracker().getJobIdsForGroup(None):
        for stage in context.statusTracker().getJobInfo(job).stageIds:
            for attempt in range(4):
                summary = store.speculationSummary(stage, attempt)
                count += summary.get().numTasks() if summary.isDefined() else 0
    return count


def failed(session: Any) -> int:
    """Return the number of tasks that failed."""
    tracker = session.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(None)]
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    return sum(stage.numFailedTasks for stage in stages if stage is not None)


def main() -> None:
    """Run the survey and print what it took."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("master")
    parser.add_argument("partitions", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--disturb", action="store_true")
    args = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = SETTINGS | (SPECULATION if args.disturb else {})
    session = SparkSession.builder.master(args.master).config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    executioner = Executioner(session, args.folder)
    if args.disturb:
        executioner.start()
    start = time.monotonic()
    surveyed = survey(
        frame(session, args.partitions, args.rows), args.partitions, late=args.disturb
    )
    seconds = time.monotonic() - start
    jvm = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001
    python_peak, jvm_peak = peak("self"), peak(jvm)
    largest, live = heap(session)
    assert surveyed.sample is not None
    result = {
        "partitions": args.partitions,
        "rows": surveyed.fingerprint.rows,
        "sampled": len(surveyed.sample.y),
        "seconds": round(seconds),
        "python MB": round(python_peak),
        "JVM MB": round(jvm_peak),
        "both MB": round(python_peak + jvm_peak),
        "heap peak MB": round(largest),
        "heap live MB": round(live),
        "failed tasks": failed(session),
        "speculative tasks": speculated(session),
        "executor killed after": executioner.killed_after,
        "digest": digest(surveyed),
    }
    print(json.dumps(result))
    session.stop()


if __name__ == "__main__":
    main()
