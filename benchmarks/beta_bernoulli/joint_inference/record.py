"""What is kept of a run: how wrong a method is on the test pages of a seed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray

RESULTS = Path(__file__).with_name("measured.csv")
STAGES = ("local", "joint")
_SURE = 0.01
_LEAST = 1e-12


class Outcome(NamedTuple):
    """A row of the file: a seed, a condition, a method and a stage, and what was measured.

    ``error`` is the share of faces whose more probable label is wrong, ``log_loss`` the mean of
    minus the log of the probability of the true label, ``surely_wrong`` the share of faces whose
    true label has less than a hundredth.
    """

    seed: int
    condition: str
    method: str
    stage: str
    faces: int
    error: float
    log_loss: float
    surely_wrong: float

    @classmethod
    def of(cls, row: dict[str, str]) -> Outcome:
        """Read a row of the file."""
        about = (int(row["seed"]), row["condition"], row["method"], row["stage"])
        numbers = (float(row[name]) for name in cls._fields[5:])
        return cls(*about, int(row["faces"]), *numbers)

    def cells(self) -> tuple[object, ...]:
        """Return a row of the file."""
        return *self[:5], *(f"{value:.6f}" for value in self[5:])


def scores(truth: AnyArray, probability: FloatArray) -> tuple[float, float, float]:
    """Return the error, the log-loss and the share of those surely wrong."""
    of_truth = np.where(truth, probability, 1.0 - probability)
    return (
        float(((probability > 0.5) != truth).mean()),
        float(-np.log(np.maximum(of_truth, _LEAST)).mean()),
        float((of_truth < _SURE).mean()),
    )


def read() -> list[Outcome]:
    """Return all that was measured."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return [Outcome.of(row) for row in csv.DictReader(file)]


def append(outcomes: list[Outcome]) -> None:
    """Write the outcomes of a seed and condition at the end of the file, all at once."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(Outcome._fields)
        writer.writerows(outcome.cells() for outcome in outcomes)
