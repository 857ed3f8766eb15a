"""The files of the tables: what the paper prints, and what was measured.

Time has no seconds. Its unit is the fit of the frontier for the same metric to the same rows, in
the same run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

EXPECTED = Path(__file__).with_name("expected.csv")
RESULTS = Path(__file__).with_name("measured.csv")
#: The method whose fit is the unit of time.
BASE = "frontier"


class Fit(NamedTuple):
    """The metric of test rows after one fit, and what the fit took.

    Parameters
    ----------
    set, metric, method : str
    repeat, fold : int
    value : float
    iterations : int
        Of the solver; zero where there is none or it does not say.
    time, moment_time : float
        CPU of one thread, that of `BASE` being one: of the solver, and of the class moments where
        it needs them.
    """

    set: str
    metric: str
    method: str
    repeat: int
    fold: int
    value: float
    iterations: int = 0
    time: float = 0.0
    moment_time: float = 0.0

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """All but the outcome."""
        return self[:5]

    def cells(self) -> tuple[object, ...]:
        """Return a row of the file."""
        times = (f"{self.time:.4g}", f"{self.moment_time:.4g}")
        return *self.key, f"{self.value:.6f}", self.iterations, *times

    @classmethod
    def of(cls, row: dict[str, str]) -> Fit:
        """Read a row of the file."""
        return cls(
            row["set"],
            row["metric"],
            row["method"],
            int(row["repeat"]),
            int(row["fold"]),
            float(row["value"]),
            int(row["iterations"]),
            float(row["time"]),
            float(row["moment_time"]),
        )


class Printed(NamedTuple):
    """A cell of a table of the paper; the text that it was copied from has no pages."""

    table: str
    page: str
    set: str
    method: str
    value: str


def read() -> list[Fit]:
    """Return all that was measured."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return [Fit.of(row) for row in csv.DictReader(file)]


def append(fits: Iterable[Fit]) -> None:
    """Write fits at the end of the file."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(Fit._fields)
        writer.writerows(fit.cells() for fit in fits)


def expected() -> dict[tuple[str, str, str], str]:
    """Return what the paper prints: by table, set and method."""
    with EXPECTED.open(newline="", encoding="utf-8") as file:
        cells = [Printed(**row) for row in csv.DictReader(file)]
    return {(cell.table, cell.set, cell.method): cell.value for cell in cells}
