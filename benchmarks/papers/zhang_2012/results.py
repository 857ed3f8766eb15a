"""The points of runs that are kept, as rows of files.

Time has no seconds. Its unit is one evaluation of L-BFGS with μ̂ on the same problem: the CPU time
of that run divided by its evaluations.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.record import Record, parse
from benchmarks.papers.zhang_2012.config import EPSILON, UNIT

_FOLDER = Path(__file__).parent


class Problem(NamedTuple):
    """A data set, a loss, and λ in the paper's units."""

    set: str
    loss: str
    penalty: float


class Run(NamedTuple):
    """A problem and how it is solved."""

    problem: Problem
    method: str


class Task(NamedTuple):
    """A set and a loss of the figures."""

    set: str
    loss: str


class Point(NamedTuple):
    """A point of a run: evaluations and time so far, J without smoothing, and the test metric."""

    evaluations: int
    time: float
    objective: float
    test_metric: float


class Trajectory(NamedTuple):
    """Some points of a run, in order, and a lower bound of J."""

    points: list[Point]
    lower_bound: float


class Curves(dict[str, list[Point]]):
    """The points of the runs of a problem, by method."""

    @property
    def best(self) -> float:
        """The least J of any run."""
        return min(point.objective for points in self.values() for point in points)

    @property
    def relative(self) -> float:
        """(1 + ε) J*."""
        return self.best * (1.0 + EPSILON)

    @property
    def absolute(self) -> float:
        """J* + ε."""
        return self.best + EPSILON

    def end(self, method: str) -> Point:
        """Return the last point of a run."""
        return self[method][-1]

    def gap(self, method: str) -> float:
        """Return how far above the best a run ended."""
        return self.end(method).objective - self.best

    def reaches(self, method: str, target: float) -> Point | None:
        """Return the first point at which J is no more than a target."""
        limit = target * (1.0 + 1e-9)
        return next((point for point in self[method] if point.objective <= limit), None)

    def evaluations(self, method: str, target: float) -> int:
        """Return the evaluations to a target, or all of a run that never reaches it."""
        return (self.reaches(method, target) or self.end(method)).evaluations

    def settled(self) -> float:
        """Return evaluations to within a thousandth of the last J of a run, 1000 μ̂ to μ̂."""
        counts = [
            self.evaluations(method, self.end(method).objective * (1.0 + EPSILON))
            for method in ("lbfgs 1000", UNIT)
        ]
        return counts[0] / counts[1]


_COLUMNS = ("set", "loss", "lambda", "method", *Point._fields)
TRAJECTORIES = Record(_FOLDER / "trajectories.csv", (*_COLUMNS, "lower_bound"), _COLUMNS[:4])
FIGURES = Record(_FOLDER / "figures.csv", _COLUMNS, ("set", "loss"))
#: The metric of validation rows for every λ of the figures.
CHOICES = Record(
    _FOLDER / "chosen_ridge.csv", ("set", "loss", "lambda", "validation_metric"), ("set", "loss")
)


def relative(runs: dict[str, Trajectory]) -> dict[str, Trajectory]:
    """Return the runs of a problem with times in the unit instead of seconds."""
    last = runs[UNIT].points[-1]
    unit = last.time / last.evaluations
    return {
        method: run._replace(points=[p._replace(time=p.time / unit) for p in run.points])
        for method, run in runs.items()
    }


def read_trajectories() -> dict[Run, Trajectory]:
    """Return all runs of the trajectories."""
    runs: dict[Run, Trajectory] = {}
    for row in TRAJECTORIES.rows():
        run = Run(Problem(row["set"], row["loss"], float(row["lambda"])), row["method"])
        trajectory = runs.setdefault(run, Trajectory([], float(row["lower_bound"])))
        trajectory.points.append(parse(row, Point))
    return runs


def read_figures() -> dict[Task, Curves]:
    """Return the runs of every problem of the figures."""
    curves: dict[Task, Curves] = {}
    for row in FIGURES.rows():
        by_method = curves.setdefault(Task(row["set"], row["loss"]), Curves())
        by_method.setdefault(row["method"], []).append(parse(row, Point))
    return curves


def read_choices() -> dict[Task, dict[float, float]]:
    """Return the metric of validation rows for every λ that was tried."""
    metrics: dict[Task, dict[float, float]] = {}
    for row in CHOICES.rows():
        by_ridge = metrics.setdefault(Task(row["set"], row["loss"]), {})
        by_ridge[float(row["lambda"])] = float(row["validation_metric"])
    return metrics


def cells(problem: Problem, runs: dict[str, Trajectory], digits: int) -> list[tuple[object, ...]]:
    """Return the rows of the runs of a problem, lower bound last; times have some digits."""
    return [
        (
            *(problem.set, problem.loss, f"{problem.penalty:g}", method),
            *(point.evaluations, f"{point.time:.{digits}g}", f"{point.objective:.8g}"),
            *(f"{point.test_metric:.5g}", f"{run.lower_bound:.8g}"),
        )
        for method, run in runs.items()
        for point in run.points
    ]
