"""The files of the arena."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.arena.protocol import METRICS

RESULTS = Path(__file__).with_name("measured.csv")
LARGE_RESULTS = Path(__file__).with_name("large.csv")
_ABOUT = ("set", "rows", "features", "repeat", "fold", "rival", "cpu")
#: How far a metric of one fold, measured again, may be from the tracked one. Releases of NumPy and
#: scikit-learn differ in the last digits, and a candidate or a test row then and now falls the
#: other way; the small sets have some 50 test rows a fold, of which this is a few.
TOLERANCE = 0.1
#: How many of all metrics may be further away than a hundredth of their unit.
SHARE_MOVED = 0.1


class Line(NamedTuple):
    """All metrics of a competitor on one fold; ``cpu`` is to that of tuned logistic regression."""

    name: str
    rows: int
    features: int
    repeat: int
    fold: int
    rival: str
    cpu: float
    values: dict[str, float]

    @property
    def key(self) -> tuple[str, int, int, str]:
        """Set, repeat, fold and competitor."""
        return self.name, self.repeat, self.fold, self.rival


def read(path: Path = RESULTS) -> list[Line]:
    """Return all that was measured."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Line(
                row["set"],
                int(row["rows"]),
                int(row["features"]),
                int(row["repeat"]),
                int(row["fold"]),
                row["rival"],
                float(row["cpu"]),
                {name: float(row[name]) for name in METRICS if row[name]},
            )
            for row in csv.DictReader(file)
        ]


def append(path: Path, lines: Sequence[Line]) -> None:
    """Add lines to a file."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow((*_ABOUT, *METRICS))
        for line in lines:
            values = (f"{line.values[m]:.6g}" if m in line.values else "" for m in METRICS)
            writer.writerow((*line[:6], f"{line.cpu:.3g}", *values))


def drift(again: Sequence[Line]) -> str:
    """Compare with the tracked file; return what is wrong, or nothing."""
    tracked = {line.key: line for line in read()}
    compared = [
        (line, name, value, abs(value - tracked[line.key].values[name]) / METRICS[name].unit)
        for line in again
        if line.key in tracked
        for name, value in line.values.items()
    ]
    if not compared:
        return "nothing that was measured is in the tracked file"
    moved = [each for each in compared if each[3] > 0.01]
    far = [each for each in compared if each[3] > TOLERANCE]
    for line, name, value, _ in far:
        print(f"{line.key}: {name} is {value:.4f}, was {tracked[line.key].values[name]:.4f}")
    print(f"{len(compared)} figures measured again, {len(moved)} moved by more than a hundredth")
    if far or len(moved) > SHARE_MOVED * len(compared):
        return "the tracked figures do not come out again: see above"
    return ""
