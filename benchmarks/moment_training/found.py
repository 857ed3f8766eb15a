"""What was measured and what is printed, by set and method."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from benchmarks.moment_training.record import Fit, expected, read
from directrix._typing import FloatArray

#: What the paper's methods are called in the file: risk of moments and loss of rows.
PAIRS = {"accuracy": ("F_n01", "F_log"), "AUC": ("F_nrank", "F_hinge")}
ARTIFICIAL_PAIRS = {
    "accuracy": ("approximate moments", "F_log"),
    "AUC": ("approximate moments", "F_hinge"),
}


class Found:
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
        each = [set(self.fits.get((name, metric, method), {})) for method in methods]
        return sorted(set.intersection(*each))

    def values(self, name: str, metric: str, method: str) -> FloatArray:
        """Return the metric of each fit."""
        own = self.fits.get((name, metric, method), {})
        return np.array([fit.value for fit in own.values()])

    def gap(self, name: str, metric: str, first: str, second: str) -> FloatArray:
        """Return the metric of one method less that of another, where both have fits."""
        one, other = (self.fits[name, metric, method] for method in (first, second))
        common = self._common(name, metric, first, second)
        return np.array([one[place].value - other[place].value for place in common])

    def time_ratio(self, name: str, metric: str, slow: str, fast: str) -> float:
        """Return CPU time of one method to that of another, moments counted."""
        one, other = (self.fits[name, metric, method] for method in (slow, fast))
        common = self._common(name, metric, slow, fast)
        above, below = (
            sum(own[place].time + own[place].moment_time for place in common)
            for own in (one, other)
        )
        return above / below

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
        own = self.number(table, name, f"{fast} time")
        moments = self.number(table, name, f"{fast} moment time")
        below = own + (0.0 if np.isnan(moments) else moments)
        return self.number(table, name, f"{slow} time") / below if below else float("nan")


def header(*cells: str) -> list[str]:
    """Return the first two lines of a table."""
    return [line(*cells), line(*("---" for _ in cells))]


def line(*cells: str) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def ratio(value: float) -> str:
    """Return a ratio with two digits or as a whole number, a dash where there is none."""
    if np.isnan(value):
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def verdict(good: int, of: int) -> str:
    """Return a word for a share of cases."""
    if not of:
        return "Not measured"
    if good == of:
        return "Holds"
    share = good / of
    return "Mostly holds" if share >= 0.75 else "Fails" if share <= 0.25 else "Holds in part"
