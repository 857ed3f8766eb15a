"""Spark for tests: one session at a time, classic or through Connect, or on a cluster of one's own.

A test that takes the fixture ``spark`` is run with a classic session and with one of Spark Connect,
which has no Java objects, no context and no RDDs on the side of the client.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = "127.0.0.1"
THREADS = "local[2]"
#: Stands for a session of Spark Connect, whose server is on threads too.
CONNECT = "connect"
PATIENCE = 300.0  # seconds; a busy machine starts a JVM in twenty
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": _QUICK_START,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": _QUICK_START,
    # A job waits for both executors, so that there is one to lose.
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{PATIENCE:.0f}s",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "OFF",
}
_open = {}


def why_not():
    """Return why there is no Spark to test with, or None."""
    missing = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]
    if missing:
        return f"{missing[0]} is not installed"
    home = os.environ.get("JAVA_HOME")
    return None if home or shutil.which("java") else "there is no java"


def session(master=THREADS):
    """Return the session of this master; that of another is stopped, as there can be one only."""
    from pyspark.sql import SparkSession

    if master == CONNECT and find_spec("grpc_status") is None:
        pytest.skip("grpcio-status, which pyspark[connect] needs, is not installed")
    if master not in _open:
        stop()
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = HERE
        builder = SparkSession.builder.appName("tests").config(map=_SETTINGS)
        started = builder.remote(THREADS) if master == CONNECT else builder.master(master)
        with warnings.catch_warnings():
            # Of the client, which cannot set again what its own server was started with.
            warnings.filterwarnings("ignore", "Failed to set spark", UserWarning)
            warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
            _open[master] = started.getOrCreate()
    return _open[master]


def classic_only(why):
    """Return a mark for a test that only a classic session can pass; the reason is its id."""
    return pytest.mark.parametrize(
        "spark_master", [pytest.param(THREADS, id=f"classic: {why}")], indirect=True
    )


def stop():
    """Stop the session there is, if any."""
    while _open:
        _open.popitem()[1].stop()


class Cluster:
    """A master and two workers, every one in a process group of its own.

    Workers take two tasks at a time, so that one that dies leaves a gap in the order of tasks.
    """

    def __init__(self, home):
        self.home = home
        self.port = _free_port()
        self.url = f"spark://{HERE}:{self.port}"
        self.masters, self.workers = [], []

    def complete(self):
        """Start what is not there, or not any more."""
        if not self.masters:
            arguments = ("--port", str(self.port), "--webui-port", "0")
            self.masters.append(self._start("master.Master", *arguments))
            _wait_for("a master", lambda: "New state: ALIVE" in self._log(self.masters[0]))
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            arguments = ("--cores", "2", "--memory", "1g", "--webui-port", "0", self.url)
            self.workers.append(self._start("worker.Worker", *arguments))
        for worker in self.workers:
            _wait_for(
                "a worker", lambda started=worker: "Successfully registered" in self._log(started)
            )

    def kill(self, process):
        """Kill a process of the cluster, and what it has started, with no chance to say goodbye."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)

    def stop(self):
        """Leave nothing behind."""
        for process in [*self.workers, *self.masters]:
            if process.poll() is None:
                self.kill(process)

    def _start(self, kind, *arguments):
        import pyspark

        program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        name = f"org.apache.spark.deploy.{kind}"
        settings = {
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_JAVA_OPTS": f"{_QUICK_START} -Dspark.master.rest.enabled=false",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.home),
            "SPARK_LOCAL_IP": HERE,
            "SPARK_WORKER_DIR": str(self.home),
        }
        log = self.home / f"{kind}-{time.monotonic_ns()}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [program, name, "--host", HERE, *arguments],
                cwd=self.home,
                env={**os.environ, **settings},
                start_new_session=True,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        process.log = log
        return process

    def _log(self, process):
        text = process.log.read_text(encoding="utf-8", errors="replace")
        assert process.poll() is None, text
        return text


@contextmanager
def cluster(home):
    """Start a cluster that keeps its files in this folder."""
    running = Cluster(home)
    try:
        running.complete()
        yield running
    finally:
        stop()
        running.stop()


def parent(pid):
    """Return the process that started another."""
    completed = subprocess.run(
        ["ps", "-o", "ppid=", "-p", str(pid)],  # noqa: S607 - wherever the system has it
        capture_output=True,
        check=True,
        text=True,
    )
    return int(completed.stdout)


def _free_port():
    with socket.socket() as server:
        server.bind((HERE, 0))
        return server.getsockname()[1]


def _wait_for(what, is_there):
    until = time.monotonic() + PATIENCE
    while not is_there():
        assert time.monotonic() < until, f"{what} did not start"
        time.sleep(0.1)
