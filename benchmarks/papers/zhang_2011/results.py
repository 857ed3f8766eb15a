"""The losses, methods, sets and splits of both experiments, and the points of runs that are kept.

*Trajectories* has four sets at two fixed λ: the test rows are the published ones, or else a quarter
of the rows, stratified (w8a, 20news); 20news is the task PC against Mac. Features are as in the
files, and sparse.

*Figures* has three sets of the paper's Table 1. As in the paper (§4), λ is the one that is best on
validation rows: of 1e-1, 1e-2 … 1e-6, the first whose model (L-BFGS, μ̂) has the greatest metric
there. The paper splits as Teo et al. 2010, who are not at hand: here validation and test rows are a
fifth each, stratified, but for a9a, which has test rows of its own. Of covtype 50,000 rows are
taken, and each feature is divided by its greatest value.

Time has no seconds. Its unit is one evaluation of L-BFGS with μ̂ on the same problem: the CPU time
of that run divided by its evaluations.
"""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from benchmarks.harness.data import Rows, load
from benchmarks.harness.record import Record, Row, parse

#: The run whose evaluation is the unit of time.
UNIT = "lbfgs 1"
#: Name in the files, and name for readers. The number is μ in units of μ̂.
METHODS = {
    UNIT: "L-BFGS, μ̂",
    "bmrm": "BMRM",
    "lbfgs 100": "L-BFGS, 100 μ̂",
    "lbfgs 1000": "L-BFGS, 1000 μ̂",
    "nesterov 100": "Nesterov, 100 μ̂",
    "nesterov 100 constant": "Nesterov, 100 μ̂, paper's step",
}
#: Those of the figures, in the order of their legend.
METHODS_OF_FIGURES = {name: METHODS[name] for name in (UNIT, "lbfgs 100", "lbfgs 1000", "bmrm")}
LOSSES = {"prbep": "PRBEP", "auc": "ROC area"}
EPSILON = 1e-3
SETS = ("a9a", "w8a", "reuters_tick", "20news_PCMAC")
PENALTIES = (1e-3, 1e-5)
_PUBLISHED_TEST = ("a9a", "reuters_tick")
#: Sets of the paper's Table 1 in the data folder, by the paper's name.
SETS_OF_FIGURES = {"adult9": "a9a", "web8": "w8a", "covertype": "covtype"}
RIDGES = tuple(10.0**-k for k in range(1, 7))
_COVTYPE_ROWS = 50_000


def published_test_rows(name: str, features: int) -> Rows:
    """Return the published test rows of a set; their last columns may hold no value."""
    X, y = load(f"{name}.test")
    X = sparse.csr_array(X)
    X.resize((len(y), features))
    return Rows(X, y)


def parts_of(name: str) -> tuple[Rows, Rows]:
    """Return the rows to train on and those to test on, for the trajectories."""
    X, y = load(name)
    X = sparse.csr_array(X)
    if name in _PUBLISHED_TEST:
        return Rows(X, y), published_test_rows(name, X.shape[1])
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    return Rows(X, y), Rows(X_test, y_test)


def parts_of_figure(name: str) -> tuple[Rows, Rows, Rows]:
    """Return the rows to train on, to choose λ on, and to test on, for the figures."""
    X, y = load(SETS_OF_FIGURES[name])
    if name == "covertype":
        X, _, y, _ = train_test_split(X, y, train_size=_COVTYPE_ROWS, stratify=y, random_state=0)
        X = X / np.maximum(np.abs(X).max(axis=0), 1.0)
    X = sparse.csr_array(X)
    if name == "adult9":
        test, share = published_test_rows(SETS_OF_FIGURES[name], X.shape[1]), 0.2
    else:
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
        test, share = Rows(X_test, y_test), 0.25
    X, X_other, y, y_other = train_test_split(X, y, test_size=share, stratify=y, random_state=2)
    return Rows(X, y), Rows(X_other, y_other), test


# ── rows of files ─────────────────────────────────────────────────────────────────────────────────


_FOLDER = Path(__file__).parent


class Problem(NamedTuple):
    """A data set, a loss, and λ in the paper's units."""

    set: str
    loss: str
    penalty: float


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
    """The points of the runs of a problem, by method, and the greatest lower bound of J."""

    problem: Problem
    bound: float = -inf

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


def read(rows: list[Row]) -> dict[Problem, Curves]:
    """Return the runs of every problem of the trajectories or of the figures."""
    problems: dict[Problem, Curves] = {}
    for row in rows:
        problem = Problem(row["set"], row["loss"], float(row["lambda"]))
        curves = problems.setdefault(problem, Curves())
        curves.problem = problem
        curves.bound = max(curves.bound, float(row.get("lower_bound", -inf)))
        curves.setdefault(row["method"], []).append(parse(row, Point))
    return problems


def read_choices() -> dict[tuple[str, str], dict[float, float]]:
    """Return the metric of validation rows for every λ that was tried, by set and loss."""
    metrics: dict[tuple[str, str], dict[float, float]] = {}
    for row in CHOICES.rows():
        by_ridge = metrics.setdefault((row["set"], row["loss"]), {})
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
