"""What was measured and what is printed, by set and method.

Time has no seconds. Its unit is the fit of the frontier for the same metric to the same rows, in
the same run.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness.record import Record, parse
from benchmarks.papers.ghanbari_2019.config import expected
from directrix._typing import FloatArray

#: The method whose fit is the unit of time.
BASE = "frontier"
#: What the paper's methods are called in the file: risk of moments and loss of rows.
PAIRS = {"accuracy": ("F_n01", "F_log"), "AUC": ("F_nrank", "F_hinge")}
ARTIFICIAL_PAIRS = {
    "accuracy": ("approximate moments", "F_log"),
    "AUC": ("approximate moments", "F_hinge"),
}


class Fit(NamedTuple):
    """The metric of test rows after one fit, and what the fit took.

    ``iterations``: of the solver; zero where there is none or it does not say. ``time``,
    ``moment_time``: CPU of one thread, that of `BASE` being one: of the solver, and of the class
    moments where it needs them.
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


RECORD = Record(
    Path(__file__).with_name("measured.csv"),
    Fit._fields,
    ("set", "repeat", "fold", "metric", "method"),
)


def read() -> list[Fit]:
    """Return all that was measured."""
    return [parse(row, Fit) for row in RECORD.rows()]


class Results:
    """All fits of the file."""

    @cached_property
    def fits(self) -> dict[tuple[str, str, str], dict[tuple[int, int], Fit]]:
        """By set, metric and method, then repeat and fold."""
        fits: dict[tuple[str, str, str], dict[tuple[int, int], Fit]] = {}
        for fit in read():
            fits.setdefault(fit.key[:3], {})[fit.repeat, fit.fold] = fit
        return fits

    def has(self, name: str, metric: str, *methods: str) -> bool:
        """Return whether all methods have a fit in common."""
        return bool(self._common(name, metric, *methods))

    def _common(self, name: str, metric: str, *methods: str) -> list[tuple[int, int]]:
        folds = [set(self.fits.get((name, metric, method), {})) for method in methods]
        return sorted(set.intersection(*folds))

    def values(self, name: str, metric: str, method: str) -> FloatArray:
        """Return the metric of each fit."""
        fits = self.fits.get((name, metric, method), {})
        return np.array([fit.value for fit in fits.values()])

    def gap(self, name: str, metric: str, first: str, second: str) -> FloatArray:
        """Return the metric of one method less that of another, where both have fits."""
        ours, theirs = (self.fits[name, metric, method] for method in (first, second))
        common = self._common(name, metric, first, second)
        return np.array([ours[fold].value - theirs[fold].value for fold in common])

    def time_ratio(self, name: str, metric: str, slow: str, fast: str) -> float:
        """Return CPU time of one method to that of another, moments counted."""
        common = self._common(name, metric, slow, fast)
        above, below = (
            sum(fits[fold].time + fits[fold].moment_time for fold in common)
            for fits in (self.fits[name, metric, method] for method in (slow, fast))
        )
        return above / below

    def iterations(self, name: str, metric: str, method: str) -> float:
        """Return the mean number of iterations, or NaN where nothing was measured."""
        counts = [fit.iterations for fit in self.fits.get((name, metric, method), {}).values()]
        return float(np.mean(counts)) if counts else float("nan")

    def moment_share(self, name: str, metric: str, method: str) -> float:
        """Return the share of the class moments in the CPU time of a method, or NaN."""
        fits = list(self.fits.get((name, metric, method), {}).values())
        total = sum(fit.time + fit.moment_time for fit in fits)
        return sum(fit.moment_time for fit in fits) / total if total else float("nan")

    def cell(self, name: str, metric: str, method: str) -> str:
        """Return mean and deviation as the paper prints them; a single fit has no deviation."""
        values = self.values(name, metric, method)
        if not values.size:
            return "not run here"
        if values.size == 1:
            return f"{values[0]:.4f}"
        return f"{values.mean():.4f}±{values.std(ddof=1):.4f}"

    def runs(self, name: str, metric: str, method: str) -> int:
        """Return the number of fits."""
        return len(self.fits.get((name, metric, method), {}))


class Paper:
    """What the paper prints."""

    cells = expected()

    def sets(self, table: str) -> list[str]:
        """Return the sets of a table, in its order."""
        return list(dict.fromkeys(name for number, name, _ in self.cells if number == table))

    def cell(self, table: str, name: str, method: str) -> str:
        """Return a cell, or a dash where it is empty."""
        return self.cells.get((table, name, method), "-")

    def number(self, table: str, name: str, method: str) -> float:
        """Return a cell without its deviation, or NaN where it is empty."""
        cell = self.cells.get((table, name, method))
        return float("nan") if cell is None else float(cell.split("±")[0])

    def time_ratio(self, table: str, name: str, slow: str, fast: str) -> float:
        """Return printed seconds of one method to those of another, moments counted if printed."""
        solver = self.number(table, name, f"{fast} time")
        moments = self.number(table, name, f"{fast} moment time")
        below = solver + (0.0 if np.isnan(moments) else moments)
        return self.number(table, name, f"{slow} time") / below if below else float("nan")

    def moment_share(self, table: str, name: str, method: str) -> float:
        """Return the share of the class moments in the printed seconds of a method, or NaN."""
        solver, moments = (
            self.number(table, name, f"{method} {what}") for what in ("time", "moment time")
        )
        return moments / (solver + moments) if solver + moments else float("nan")


def count(value: float) -> str:
    """Return a mean count as a whole number, a dash where there is none."""
    return "-" if np.isnan(value) else f"{value:.0f}"


def ratio(value: float) -> str:
    """Return a ratio with two digits or as a whole number, a dash where there is none."""
    if np.isnan(value):
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"
