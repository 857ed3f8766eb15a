"""A tracking server of MLflow for tests: on a free port of this machine, gone when it is left."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

HERE = "127.0.0.1"
PATIENCE = 300.0  # seconds; a busy machine makes the tables of the database in twenty
#: mlflow-skinny, and what its server needs besides: the dependency group "tracking".
_NEEDED = ("mlflow", "pandas", "aiohttp", "alembic", "flask", "flask_cors", "sqlalchemy")
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"


def why_not():
    """Return why there is no MLflow to test with, or None."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    return f"{missing[0]} is not installed" if missing else None


def imported():
    """Import MLflow, which warns about type hints of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow
        import mlflow.pyfunc
    return mlflow


@contextmanager
def server(home):
    """Start a server that keeps its files in this folder, and give its address."""
    address = f"http://{HERE}:{_free_port()}"
    # By the program, as users do: it starts workers, so it has a process group of its own.
    program = shutil.which("mlflow", path=os.path.dirname(sys.executable))  # noqa: PTH120
    arguments = [
        *("--host", HERE, "--port", address.rpartition(":")[2], "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{home / 'tracking.db'}"),
        *("--artifacts-destination", str(home / "artifacts")),
    ]
    settings = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}  # jobs need more libraries
    log = home / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "server", *arguments],
            cwd=home,
            env={**os.environ, **settings},
            start_new_session=True,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(address, process, log)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)


def _wait_for(address, process, log):
    until = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        assert time.monotonic() < until, "the server did not start"
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):  # noqa: S310 - ours
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)


def _free_port():
    with socket.socket() as server:
        server.bind((HERE, 0))
        return server.getsockname()[1]
