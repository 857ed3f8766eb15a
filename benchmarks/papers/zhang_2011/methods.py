"""Smoothing with L-BFGS against BMRM: objective and test metric against CPU time.

The experiment of Zhang, Saha and Vishwanathan 2011 (§4), for precision-recall break-even and for
ROC area.

* J is the objective *without* smoothing, and λ, ε and J are in the paper's units. The paper tunes
  λ on validation rows and does not print it: in the trajectories it is 1e-3 and 1e-5.
* μ̂ = ε/D as in the paper, ε = 1e-3 and D = n/2 or m/2, and prox-functions are the paper's: half
  the square of β, from 0 to 1 for break-even and from -1 to 1 for ROC area. All start at zero.
  L-BFGS remembers 6 steps as there; its Nesterov rival has 100 μ̂, once with backtracking and
  restarts, once with the constant step of the paper's bound on L.
* An evaluation is one pass for value and gradient. Time is CPU of one thread, without what is done
  for the record; in the file its unit is one evaluation of L-BFGS with μ̂ on the same problem. A run
  ends where it converged, or after its seconds.
* Of a run about 25 points are kept: some in even steps of log evaluations, and those where J first
  was as close as some level to the best of the problem known then, or to the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from time import process_time
from typing import Any

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.papers.zhang_2011.results import EPSILON, Point, Problem, Trajectory, relative
from directrix._typing import AnyArray, FloatArray
from directrix.linear.lbfgs import lbfgs
from directrix.linear.loss import Loss
from directrix.linear.objectives import DataObjective
from directrix.metrics import AUC, PRBEP
from directrix.metrics.base import Metric
from directrix.papers.bundle import bundle
from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedPRBEP, SmoothedROCArea, nesterov

_MEMORY = 6
_NO_END = 1_000_000
_EVERY = 0.03  # of the evaluations so far: how often a point is noted
_LEVELS = np.append(0.0, 10.0 ** -np.arange(0.5, 6.5, 0.5))  # J above the best, relative
_STEPS = 12


class Objectives:
    """A problem in the units of its loss: what is minimised, and what is measured on the way."""

    def __init__(self, problem: Problem, train: Rows, test: Rows) -> None:
        self.train, self.test = train, test
        self.metric: Metric = AUC()
        self._loss: Callable[[float], Loss] = SmoothedROCArea
        if problem.loss == "prbep":
            self.metric, self._loss = PRBEP(), SmoothedPRBEP
        self.ridge = problem.penalty
        ones = np.ones(len(train.y))
        self.exact = DataObjective(train.X, train.y, ones, self._loss(0.0), self.ridge)
        self._longest = float(train.X.multiply(train.X).sum(axis=1).max())

    def smoothed(self, times: float) -> DataObjective:
        """Return the objective with so many times μ̂."""
        return replace(self.exact, loss=self._loss(times * EPSILON))

    def lipschitz(self, times: float) -> float:
        """Return the paper's bound on L, D ‖A‖² / ε of at most 2 R² / ε (§2.1.1, §2.2.1), and λ."""
        return 2.0 * self._longest / (times * EPSILON) + self.ridge

    def bound(self, times: float, coef: FloatArray) -> float:
        """Return a lower bound of J: the smoothed one is below it, and curved by λ at least."""
        value, grad = self.smoothed(times)(coef)
        return value - float(grad @ grad) / (2.0 * self.ridge)


class Watch:
    """Counts evaluations and CPU seconds of one run and notes where it was.

    ``seconds``: after which to stop.
    """

    def __init__(self, seconds: float) -> None:
        self.noted: list[tuple[int, float, FloatArray]] = []
        self._seconds, self._evaluations, self._aside = seconds, 0, 0.0
        self._last: tuple[int, float, FloatArray] | None = None
        self._start = process_time()

    def counted(self, objective: DataObjective) -> Any:
        """Return the objective, which counts its calls."""

        def evaluate(coef: FloatArray) -> tuple[float, FloatArray]:
            self._evaluations += 1
            return objective(coef)

        return evaluate

    def __call__(self, coef: FloatArray, value: float) -> bool:  # noqa: ARG002
        """Note a point where it is time to; True after the last second."""
        now = process_time()
        spent = now - self._start - self._aside
        self._last = (self._evaluations, spent, coef.copy())
        if not self.noted or self._evaluations >= (1.0 + _EVERY) * self.noted[-1][0]:
            self.noted.append(self._last)
        self._aside += process_time() - now
        return spent > self._seconds

    def end(self, coef: FloatArray) -> None:
        """Note the point that the solver returns."""
        spent = process_time() - self._start - self._aside
        if self._last is not None and self.noted[-1][0] < self._last[0]:
            self.noted.append(self._last)
        if not self.noted or not np.array_equal(self.noted[-1][2], coef):
            self.noted.append((self._evaluations, spent, coef))


def solve(task: Objectives, method: str, seconds: float) -> tuple[Watch, float]:
    """Run a method; return what was noted, and a lower bound of J."""
    name, *rest = method.split()
    start = np.zeros(task.train.X.shape[1] + 1)
    watch = Watch(seconds)
    if name == "bmrm":
        risk = watch.counted(replace(task.exact, ridge=0.0))
        penalised = np.ones(len(start), dtype=bool)  # the intercept has no slope: it stays zero
        solution = bundle(
            risk,
            start,
            ridge=task.ridge,
            penalised=penalised,
            tol=1e-5,
            max_iter=_NO_END,
            callback=watch,
        )
        watch.end(solution.coef)
        return watch, solution.lower_bound
    times = float(rest[0])
    objective = watch.counted(task.smoothed(times))
    options: dict[str, Any] = {"max_iter": _NO_END, "tol": 1e-6, "callback": watch}
    if name == "lbfgs":
        solution = lbfgs(objective, start, memory=_MEMORY, ftol=0.0, **options)
    else:
        constant = task.lipschitz(times) if rest[1:] else None
        solution = nesterov(objective, start, lipschitz=constant, **options)
    watch.end(solution.coef)
    return watch, task.bound(times, solution.coef)


def trajectory_of(task: Objectives, method: str, seconds: float, known: float) -> Trajectory:
    """Run a method and return the points to keep, with times in seconds.

    ``seconds``: after which to stop. ``known``: the least J of the problem that other runs have
    found.
    """
    watch, bound = solve(task, method, seconds)
    objectives = np.array([task.exact(coef)[0] for _, _, coef in watch.noted])
    evaluations = np.array([count for count, _, _ in watch.noted])
    points = []
    for k in _kept(evaluations, objectives, min(known, objectives.min())):
        count, spent, coef = watch.noted[k]
        scores = task.test.X @ coef[:-1]
        metric = task.metric.score(task.test.y, scores)
        points.append(Point(count, spent, float(objectives[k]), metric))
    return Trajectory(points, bound)


def _kept(evaluations: AnyArray, objectives: FloatArray, best: float) -> list[int]:
    """Return which points tell most: where levels are crossed, and some at even log steps."""
    steps = np.geomspace(evaluations[0], evaluations[-1], _STEPS)
    kept = {0, len(objectives) - 1, *np.searchsorted(evaluations, steps * (1 - 1e-9)).tolist()}
    own_end = objectives[-1] * (1.0 + EPSILON)
    for target in (*(best * (1.0 + _LEVELS)), best + EPSILON, own_end):
        below = np.flatnonzero(objectives <= target * (1 + 1e-12))
        kept.update(below[:1].tolist())
    return sorted(kept)


def runs_of(
    problem: Problem,
    parts: tuple[Rows, Rows],
    methods: Iterable[str],
    seconds: float,
    known: float = inf,
) -> dict[str, Trajectory]:
    """Run methods, `UNIT` among them, one after the other; times are in the unit of the files."""
    runs: dict[str, Trajectory] = {}
    for method in methods:
        task = Objectives(problem, *parts)
        runs[method] = trajectory = trajectory_of(task, method, seconds, known)
        known = min(known, *(point.objective for point in trajectory.points))
        last = trajectory.points[-1]
        print(
            f"{problem.set} {problem.loss} {problem.penalty:g} {method}: {last.evaluations} "
            f"evaluations, J {last.objective:.6f} (at least {trajectory.lower_bound:.6f}), "
            f"test {last.test_metric:.4f}",
            flush=True,
        )
    return relative(runs)
