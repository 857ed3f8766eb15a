"""What is kept of a run: some of its points, as rows of a file.

Time has no seconds. Its unit is one evaluation of L-BFGS with μ̂ on the same problem: the CPU time
of that run divided by its evaluations.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).with_name("trajectories.csv")
#: The run whose evaluation is the unit of time.
UNIT = "lbfgs 1"
#: What the file calls a method, and what a reader does. The number is μ in units of μ̂.
METHODS = {
    UNIT: "L-BFGS, μ̂",
    "bmrm": "BMRM",
    "lbfgs 100": "L-BFGS, 100 μ̂",
    "lbfgs 1000": "L-BFGS, 1000 μ̂",
    "nesterov 100": "Nesterov, 100 μ̂",
    "nesterov 100 constant": "Nesterov, 100 μ̂, paper's step",
}
LOSSES = {"prbep": "PRBEP", "auc": "ROC area"}


class Problem(NamedTuple):
    """A data set, a loss, and λ in the paper's units."""

    set: str
    loss: str
    penalty: float


class Run(NamedTuple):
    """A problem and how it is solved."""

    problem: Problem
    method: str


class Point(NamedTuple):
    """Where a run was: evaluations and time so far, J without smoothing, and the test metric."""

    evaluations: int
    time: float
    objective: float
    test_metric: float


class Trajectory(NamedTuple):
    """Some points of a run, in order, and what it knows J to be above."""

    points: list[Point]
    lower_bound: float


def relative(runs: dict[str, Trajectory]) -> dict[str, Trajectory]:
    """Return the runs of a problem with times in the unit instead of seconds."""
    last = runs[UNIT].points[-1]
    unit = last.time / last.evaluations
    return {
        method: own._replace(points=[p._replace(time=p.time / unit) for p in own.points])
        for method, own in runs.items()
    }


COLUMNS = ("set", "loss", "lambda", "method", *Point._fields, "lower_bound")


def read() -> dict[Run, Trajectory]:
    """Return all runs of the file."""
    runs: dict[Run, Trajectory] = {}
    if not RESULTS.exists():
        return runs
    with RESULTS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            problem = Problem(row["set"], row["loss"], float(row["lambda"]))
            numbers = (float(row[name]) for name in Point._fields[1:])
            point = Point(int(row["evaluations"]), *numbers)
            own = runs.setdefault(
                Run(problem, row["method"]), Trajectory([], float(row["lower_bound"]))
            )
            own.points.append(point)
    return runs


def append(problem: Problem, runs: dict[str, Trajectory]) -> None:
    """Write runs of a problem at the end of the file, all at once, as they share a unit of time."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows(
            (
                problem.set,
                problem.loss,
                f"{problem.penalty:g}",
                method,
                point.evaluations,
                f"{point.time:.4g}",
                f"{point.objective:.8g}",
                f"{point.test_metric:.5g}",
                f"{own.lower_bound:.8g}",
            )
            for method, own in runs.items()
            for point in own.points
        )
