"""Ratios of CPU time: baseline and candidates take turns, medians are compared."""

from __future__ import annotations

import csv
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Figure(NamedTuple):
    """One measured ratio and the limit set for it."""

    what: str
    ratio: float
    limit: float

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
) -> dict[str, float]:
    """Return each candidate's CPU time over the baseline's.

    In every round the baseline (``repeat`` times, where it is short) and each candidate run once,
    one after the other, so that all meet the same state of the machine; the ratio is taken round
    by round, and the median of the rounds is returned. A first round that warms up is not counted.
    """
    measured: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        base = _seconds(baseline, repeat)
        for name, candidate in candidates.items():
            ratio = _seconds(candidate, 1) / base
            if number:
                measured[name].append(ratio)
    return {name: median(values) for name, values in measured.items()}


def _seconds(work: Callable[[], object], repeat: int) -> float:
    start = process_time()
    for _ in range(repeat):
        work()
    return (process_time() - start) / repeat


def track(figures: list[Figure], path: Path) -> None:
    """Write the figures to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "ratio", "limit"])
        writer.writerows((f.what, f"{f.ratio:.2f}", f"{f.limit:.2f}") for f in figures)
