"""The files of the tables: what the paper prints, and one row for each method of each fold."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from benchmarks.moment_descent.methods import Outcome

EXPECTED = Path(__file__).with_name("expected.csv")
RESULTS = Path(__file__).with_name("measured.csv")
COLUMNS = (
    *("metric", "set", "repeat", "fold", "method"),
    *("value", "iterations", "evaluations", "time_ratio", "curve"),
)


class Fold(NamedTuple):
    """A metric on a fold of a set; of an artificial set the repeat is the draw."""

    metric: str
    set: str
    repeat: int
    fold: int


class Printed(NamedTuple):
    """A mean of 20 runs, and their standard deviation."""

    value: float
    deviation: float


def read(path: Path = RESULTS) -> dict[Fold, dict[str, Outcome]]:
    """Return all that was measured; ``time`` is then in units of the descent on moments."""
    found: dict[Fold, dict[str, Outcome]] = {}
    if not path.exists():
        return found
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            fold = Fold(row["metric"], row["set"], int(row["repeat"]), int(row["fold"]))
            found.setdefault(fold, {})[row["method"]] = Outcome(
                float(row["value"]),
                int(row["iterations"]),
                int(row["evaluations"]),
                float(row["time_ratio"]),
                tuple(map(float, row["curve"].split())),
            )
    return found


def append(fold: Fold, outcomes: dict[str, Outcome]) -> None:
    """Write a fold at the end of the file, all of it at once."""
    new = not RESULTS.exists()
    unit = outcomes["moments"].time
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows(
            (
                *fold,
                name,
                f"{own.value:.6f}",
                own.iterations,
                own.evaluations,
                f"{own.time / unit:.3g}",
                " ".join(f"{value:.4f}" for value in own.curve),
            )
            for name, own in outcomes.items()
        )


def expected() -> dict[tuple[str, str, str], Printed]:
    """Return what the paper prints: by metric, set and method."""
    with EXPECTED.open(newline="", encoding="utf-8") as file:
        return {
            (row["metric"], row["set"], row["method"]): Printed(
                float(row["value"]), float(row["deviation"])
            )
            for row in csv.DictReader(file)
        }
