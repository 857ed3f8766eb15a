"""One summary of rows on Spark, measured, and the same without Spark."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness.runner import peak_megabytes
from directrix import Moments, summarize
from directrix.engines import HashFolds

HOST = "127.0.0.1"
#: Seconds to wait for a process to start, on a machine that does other things.
PATIENCE = 300.0


@contextmanager
def running_cluster(folder: Path, n_workers: int = 2, memory: str = "1g") -> Iterator[str]:
    """Start a cluster that keeps its files in a folder; give its address, and stop it afterwards.

    ``memory`` is that of the executors of a worker.
    """
    with socket.socket() as server:
        server.bind((HOST, 0))
        port = server.getsockname()[1]
    url = f"spark://{HOST}:{port}"
    processes: list[subprocess.Popen[bytes]] = []
    try:
        master = ("master.Master", "--port", str(port), "--webui-port", "0")
        processes.append(_started(folder, "master", "New state: ALIVE", *master))
        for number in range(n_workers):
            worker = ("worker.Worker", "--cores", "1", "--memory", memory, "--webui-port", "0", url)
            name = f"worker-{number}"
            processes.append(_started(folder, name, "Successfully registered", *worker))
        yield url
    finally:
        for process in reversed(processes):
            if process.poll() is None:  # with the executors that it started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def executors(folder: Path) -> list[int]:
    """Return the process ids of the executors of a cluster, by the folder it keeps its files in."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            works_in = str((process / "cwd").readlink())
        except OSError:  # it has ended
            continue
        if "CoarseGrainedExecutorBackend" in command and works_in.startswith(str(folder)):
            found.append(int(process.name))
    return sorted(found)


def _started(folder: Path, name: str, ready: str, kind: str, *arguments: str) -> subprocess.Popen:
    """Start a process of the cluster, in a process group of its own, and wait until it is ready."""
    import pyspark  # noqa: PLC0415 - optional

    program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    settings = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -Dspark.master.rest.enabled=false",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_WORKER_DIR": str(folder),
    }
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - a program of Spark
            [program, f"org.apache.spark.deploy.{kind}", "--host", HOST, *arguments],
            cwd=folder,
            env={**os.environ, **settings},
            start_new_session=True,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    until = time.monotonic() + PATIENCE
    while ready not in log.read_text(encoding="utf-8", errors="replace"):
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            msg = f"{name} did not start: see {log}"
            raise RuntimeError(msg)
        time.sleep(0.1)
    return process


ROWS, COLUMNS, FOLDS = 10_000, 30, 5
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


def frame(session: Any, partitions: int, rows: int = ROWS) -> Any:
    """Return rows that executors make, the same whoever makes them, with 10 % positives."""
    numbers = [f"xxhash64(id, {k}) / 9.223372036854775807E18D as x{k}" for k in range(COLUMNS)]
    label = "cast(pmod(xxhash64(id, -1), 10) = 0 as int) as y"
    return session.range(0, rows * partitions, 1, partitions).selectExpr("id", *numbers, label)


def digest(summary: Moments, folder: str) -> str:
    """Return a hash of every bit of a summary, its sample included."""
    path = Path(folder) / "summary.moments"
    summary.save(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


class Executioner(threading.Thread):
    """Kills an executor of the cluster when a third of the partitions are summarised."""

    def __init__(self, session: Any, folder: Path) -> None:
        super().__init__(daemon=True)
        self._tracker, self._folder = session.sparkContext.statusTracker(), folder
        self.killed_after = ""

    def run(self) -> None:
        """Wait for the first third, and kill."""
        while True:
            active = [self._tracker.getStageInfo(k) for k in self._tracker.getActiveStageIds()]
            for stage in filter(None, active):
                if 3 * stage.numCompletedTasks >= stage.numTasks:
                    os.kill(executors(self._folder)[0], signal.SIGKILL)
                    self.killed_after = f"{stage.numCompletedTasks} of {stage.numTasks} partitions"
                    return
            time.sleep(0.02)


def heap(session: Any) -> float:
    """Return the MB of the heap of the driver's JVM that are live."""
    jvm = session.sparkContext._jvm  # noqa: SLF001 - there is no public way to ask
    jvm.System.gc()
    management = jvm.java.lang.management.ManagementFactory
    return management.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 2**20


def failed(session: Any) -> int:
    """Return the number of tasks that failed."""
    tracker = session.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(None)]
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    return sum(stage.numFailedTasks for stage in stages if stage is not None)


def measured_summary(
    master: str,
    partitions: int,
    folder: str,
    rows: int,
    disturbed: bool,  # noqa: FBT001 - by way of JSON
) -> dict[str, Any]:
    """Summarise the rows on a cluster, and return what it took; a disturbed one is robbed."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master(master).config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    executioner = Executioner(session, Path(folder))
    if disturbed:
        executioner.start()
    source = frame(session, partitions, rows)
    start = time.monotonic()
    summary: Any = summarize(
        source, target="y", key="id", fold=HashFolds(FOLDS, key="id"), progress=False
    )
    seconds = time.monotonic() - start
    jvm = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001
    python_peak, jvm_peak = peak_megabytes(), peak_megabytes(jvm)
    result = {
        "partitions": partitions,
        "rows": summary.count,
        "sampled": len(summary.sample),
        "seconds": round(seconds),
        "python MB": round(python_peak),
        "JVM MB": round(jvm_peak),
        "both MB": round(python_peak + jvm_peak),
        "heap live MB": round(heap(session)),
        "tasks run again": failed(session),
        "executor killed after": executioner.killed_after,
        "digest": digest(summary, folder),
    }
    session.stop()
    return result
