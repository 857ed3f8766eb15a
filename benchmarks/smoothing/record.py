"""What is kept of a run: some of its points, as rows of a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).with_name("trajectories.csv")
#: What the file calls a method, and what a reader does. The number is μ in units of μ̂.
METHODS = {
    "lbfgs 1": "L-BFGS, μ̂",
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
    """Where a run was after some evaluations: J without smoothing, and the metric of test rows."""

    evaluations: int
    seconds: float
    objective: float
    test_metric: float


class Trajectory(NamedTuple):
    """Some points of a run, in order, and what it knows J to be above."""

    points: list[Point]
    lower_bound: float


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


def append(run: Run, trajectory: Trajectory) -> None:
    """Write a run at the end of the file, all of it at once."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        about = (run.problem.set, run.problem.loss, f"{run.problem.penalty:g}", run.method)
        bound = f"{trajectory.lower_bound:.8g}"
        writer.writerows(
            (
                *about,
                point.evaluations,
                f"{point.seconds:.4g}",
                f"{point.objective:.8g}",
                f"{point.test_metric:.5g}",
                bound,
            )
            for point in trajectory.points
        )
