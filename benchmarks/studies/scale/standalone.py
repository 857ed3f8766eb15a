"""A standalone cluster of Spark on this machine: a master and workers of one core each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
#: Seconds to wait for a process to start, on a machine that does other things.
PATIENCE = 300.0


@contextmanager
def running_cluster(folder: Path, n_workers: int = 2, memory: str = "1g") -> Iterator[str]:
    """Start a cluster that keeps its files in a folder; give its address, and stop it afterwards.

    Parameters
    ----------
    folder : Path
    n_workers : int
    memory : str
        Memory of the executors of a worker.
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
