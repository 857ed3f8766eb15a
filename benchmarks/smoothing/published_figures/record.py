"""The two files: how λ was chosen, and the points of the runs with that λ.

The unit of time is that of `benchmarks.smoothing.record`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from benchmarks.smoothing.record import UNIT, Point, Trajectory

CHOICES = Path(__file__).with_name("chosen_ridge.csv")
RUNS = Path(__file__).with_name("measured.csv")
#: As drawn, by the name that the file has. The number is μ in units of μ̂.
METHODS = {
    UNIT: "L-BFGS, μ̂",
    "lbfgs 100": "L-BFGS, 100 μ̂",
    "lbfgs 1000": "L-BFGS, 1000 μ̂",
    "bmrm": "BMRM",
}


class Task(NamedTuple):
    """A set and a loss."""

    set: str
    loss: str


Curves = dict[str, list[Point]]


def read_choices() -> dict[Task, dict[float, float]]:
    """Return the metric of validation rows for every λ that was tried."""
    found: dict[Task, dict[float, float]] = {}
    for row in _rows(CHOICES):
        task = Task(row["set"], row["loss"])
        found.setdefault(task, {})[float(row["lambda"])] = float(row["validation_metric"])
    return found


def read() -> dict[Task, Curves]:
    """Return the runs of every problem."""
    found: dict[Task, Curves] = {}
    for row in _rows(RUNS):
        task = Task(row["set"], row["loss"])
        point = Point(
            int(row["evaluations"]),
            float(row["time"]),
            float(row["objective"]),
            float(row["test_metric"]),
        )
        found.setdefault(task, {}).setdefault(row["method"], []).append(point)
    return found


def append_choices(task: Task, metrics: dict[float, float]) -> None:
    """Write what the λ of a problem was chosen by."""
    rows = [(*task, f"{ridge:g}", f"{metric:.6f}") for ridge, metric in metrics.items()]
    _append(CHOICES, ("set", "loss", "lambda", "validation_metric"), rows)


def append(task: Task, ridge: float, runs: dict[str, Trajectory]) -> None:
    """Write all runs of a problem at once, as they share a unit of time."""
    rows = [
        (
            *task,
            f"{ridge:g}",
            method,
            point.evaluations,
            f"{point.time:.3g}",
            f"{point.objective:.8g}",
            f"{point.test_metric:.5g}",
        )
        for method, own in runs.items()
        for point in own.points
    ]
    _append(RUNS, ("set", "loss", "lambda", "method", *Point._fields), rows)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _append(path: Path, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(columns)
        writer.writerows(rows)
