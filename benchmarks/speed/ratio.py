"""Ratios of CPU time: baseline and candidates take turns, medians are compared."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from statistics import median
from time import process_time
from typing import NamedTuple

from benchmarks.harness.record import Record
from benchmarks.harness.runner import quiet

#: A quick run is no measurement: with so few rows what is done once weighs more, and a busy machine
#: does the rest. It fails only where something has gone badly wrong.
QUICK_SLACK = 4.0


class Figure(NamedTuple):
    """One measured ratio and the limit set for it."""

    what: str
    ratio: float
    limit: float = inf

    def __str__(self) -> str:
        """Return one line of a table."""
        verdict = "ok" if self.ratio <= self.limit else "over"
        return f"{self.what:<66} {self.ratio:7.2f}  (<= {self.limit:.2f})  {verdict}"


def ratios(
    baseline: Callable[[], object],
    candidates: dict[str, Callable[[], object]],
    *,
    rounds: int,
    repeat: int = 1,
    clock: Callable[[], float] = process_time,
) -> dict[str, float]:
    """Return each candidate's CPU time over the baseline's.

    In every round the baseline (``repeat`` times, where it is short) and each candidate run once,
    one after the other, so that all meet the same state of the machine; the ratio is taken round
    by round, and the median of the rounds is returned. A first round that warms up is not counted.
    """

    def seconds(work: Callable[[], object], times: int) -> float:
        start = clock()
        for _ in range(times):
            work()
        return (clock() - start) / times

    measured: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        base = seconds(baseline, repeat)
        for name, candidate in candidates.items():
            ratio = seconds(candidate, 1) / base
            if number:
                measured[name].append(ratio)
    return {name: median(values) for name, values in measured.items()}


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep so many processors busy."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(number)]  # noqa: S603
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(
    module: str,
    description: str | None,
    measure: Callable[[bool], Iterable[Figure]],
    quick: str = "",
    *,
    checked: bool = True,
) -> None:
    """Measure, print figure by figure, and track them in the CSV file beside a module.

    ``measure`` is told whether the run is a quick one, which tracks nothing: where it is
    ``checked`` it fails if a figure is far beyond its limit.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help=quick or argparse.SUPPRESS)
    is_quick = parser.parse_args().quick and bool(quick)
    figures = []
    with quiet():
        for figure in measure(is_quick):
            print(figure, flush=True)
            figures.append(figure)
    if not is_quick:
        rows = ((f.what, f"{f.ratio:.2f}", f"{f.limit:.2f}") for f in figures)
        Record.beside(module, Figure._fields).write(rows)
    elif checked and any(figure.ratio > QUICK_SLACK * figure.limit for figure in figures):
        sys.exit("a ratio is far beyond its limit: run without --quick and look into it")
