"""Cost of a fit with the threads that BLAS has by default, relative to one thread.

Fits run with one BLAS thread, so that both should cost the same; what the threads would cost
without that limit is measured as well, in fewer rounds. A process for each setting fits
``ScorecardClassifier`` to the same table, in turns, and medians of CPU and wall time are compared.
"As found" is the machine with whatever else it does; "busy" has one more process for each
processor. Run ``python -m benchmarks.speed.threads``; ``--quick`` measures one table in two rounds
and tracks nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from benchmarks.harness.data import load_table
from benchmarks.harness.runner import quiet
from benchmarks.speed.ratio import Figure, busy, run
from directrix import ScorecardClassifier
from directrix.fitting import progress

TABLES = ("german_credit", "hmda_boston", "attrition", "credit_data", "telco_churn")
ROUNDS, UNLIMITED_ROUNDS = 5, 2
#: Time with the default threads over that with one, at most: CPU time, and time of the clock.
CPU_LIMIT, WALL_LIMIT = 1.15, 1.15
#: Variables that set the number of BLAS threads.
VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
#: NumPy and SciPy first: this package sets the variables, which they read when they are loaded.
SERVER = """
import numpy, scipy.linalg
from benchmarks.speed.threads import serve
serve({table!r}, limited={limited})
"""


class Seconds(NamedTuple):
    """CPU time and wall time of a fit."""

    cpu: float
    wall: float


def serve(table: str, *, limited: bool) -> None:
    """Fit to a table whenever a line comes in, and print how long it took."""
    if not limited:
        single = progress.SingleBlasThread
        single.__enter__ = single.__exit__ = lambda *_: None  # type: ignore[assignment]
    X, y = load_table(table)

    def fit() -> None:
        with quiet():
            ScorecardClassifier("auc").fit(X, y)

    fit()
    print(flush=True)
    for _ in sys.stdin:
        cpu, wall = process_time(), perf_counter()
        fit()
        print(process_time() - cpu, perf_counter() - wall, flush=True)


@contextmanager
def server(
    table: str, *, one_thread: bool, limited: bool = True
) -> Iterator[Callable[[], Seconds]]:
    """Yield a callable that fits to a table in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    if one_thread:
        environment |= dict.fromkeys(VARIABLES, "1")
    code = SERVER.format(table=table, limited=limited)
    with subprocess.Popen(  # noqa: S603 - this very module
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None
        assert answers is not None
        answers.readline()

        def fit() -> Seconds:
            asked.write("\n")
            asked.flush()
            return Seconds(*map(float, answers.readline().split()))

        yield fit
        asked.close()


def figures_of(table: str, rounds: int, unlimited_rounds: int) -> list[Figure]:
    """Measure fits to one table, as the machine is found, and with busy processors."""
    figures = []
    with (
        server(table, one_thread=True) as one,
        server(table, one_thread=False) as default,
        server(table, one_thread=False, limited=False) as unlimited,
    ):
        for state, others in (("as found", 0), ("busy", os.cpu_count() or 1)):
            taken: list[list[Seconds]] = [[], [], []]
            with busy(others):
                for number in range(rounds):
                    for fit, seconds in zip((one, default, unlimited), taken, strict=True):
                        if fit is not unlimited or number < unlimited_rounds:
                            seconds.append(fit())
            for clock, limit in (("cpu", CPU_LIMIT), ("wall", WALL_LIMIT)):
                base, ratio, high = (median(getattr(s, clock) for s in part) for part in taken)
                what = f"{clock}, {state}, {table}: default threads / one"
                figures.append(Figure(what, ratio / base, limit))
                figures.append(Figure(f"{what}, without the limit", high / base))
    return figures


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield the figures of all tables."""
    for table in TABLES[:1] if quick else TABLES:
        yield from figures_of(table, *((2, 1) if quick else (ROUNDS, UNLIMITED_ROUNDS)))


if __name__ == "__main__":
    run(__file__, __doc__, measure, "one table, two rounds", checked=False)
