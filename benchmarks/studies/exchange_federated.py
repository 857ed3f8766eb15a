"""A federated logistic regression by Flower on the simulated sites: a server and twelve clients.

Each is a process of its own on this machine. Clients reach the server through a relay that counts
the bytes of TCP payload in both directions. Flower runs in an environment of its own: ``python -m
venv ENV && ENV/bin/pip install flwr scikit-learn``, and the environment variable
``DIRECTRIX_FLOWER`` names ``ENV/bin/python``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.studies.exchange_rivals import features
from benchmarks.studies.exchange_sites import sites_of
from directrix import Binner
from directrix._typing import FloatArray

VARIABLE = "DIRECTRIX_FLOWER"
_SCRIPT = Path(__file__).with_name("exchange_flower.py")


class Relay:
    """A relay of TCP connections on loopback that counts bytes."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target, self.n_bytes, self._lock = target, 0, threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        """Accept no more connections, and wait until the others have ended."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for thread in self._threads:
            thread.join(10.0)

    def _start(self, target: Callable[..., None], *args: socket.socket) -> threading.Thread:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            self._start(self._relay, client)

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(self.target) as server:
            back = self._start(self._copy, server, client)
            self._copy(client, server)
            back.join()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                with self._lock:
                    self.n_bytes += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return


class Federated(NamedTuple):
    """Scores of test rows after each round, bytes on the wire, and bytes of parameters alone."""

    scores: list[FloatArray]
    n_bytes: int
    parameter_bytes: int


def free_port() -> int:
    """Return a port of loopback that no one listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def run(train: Rows, test: Rows, binner: Binner, rounds: int, steps: int) -> Federated:
    """Run a server and a client for each site; every round trains in so many steps."""
    sites = sites_of(train)
    # Our modules are not for its Python.
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    port, python = free_port(), os.environ[VARIABLE]
    relay = Relay(("127.0.0.1", port))
    with TemporaryDirectory() as folder:
        for k, site in enumerate(sites):
            np.savez(Path(folder, f"site{k}.npz"), X=features(binner, site.X), y=site.y)
        calls = [["serve", folder, f"127.0.0.1:{port}", str(rounds), str(len(sites))]]
        calls += [
            ["take_part", folder, relay.address, str(k), str(steps)] for k in range(len(sites))
        ]
        with Path(folder, "log").open("wb") as log:
            processes = [
                subprocess.Popen(  # noqa: S603
                    [python, str(_SCRIPT), *call], stdout=log, stderr=log, env=outside
                )
                for call in calls
            ]
            code = processes[0].wait()
            for process in processes[1:]:
                process.wait(timeout=120)
        relay.close()
        if code:
            msg = f"the server ended with code {code}: {Path(folder, 'log').read_text()[-2000:]}"
            raise RuntimeError(msg)
        with np.load(Path(folder, "kept.npz")) as kept:
            lines, size = kept["lines"], int(kept["parameter_bytes"])
    X = features(binner, test.X)
    scores = [X @ line[:-1] + line[-1] for line in lines[1:]]
    return Federated(scores, relay.n_bytes, 2 * size * rounds * len(sites))
