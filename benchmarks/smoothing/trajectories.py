"""Smoothing with L-BFGS against BMRM: objective and test metric against CPU time.

``python -m benchmarks.smoothing.trajectories`` makes the experiment of Zhang, Saha and Vishwanathan
2012 (§4) again, for precision-recall break-even and for ROC area. It appends the runs that
``trajectories.csv`` lacks, then writes ``trajectories.md`` and ``trajectories.png`` anew. With
``--quick`` some rows of a9a are run for a second each, and nothing is written.

* J is the objective *without* smoothing. In our units margins are one, so λ is multiplied by
  (n / 2n₊)² for break-even and by 1/4 for ROC area; then J has the paper's values. λ in the file is
  the paper's. The paper tunes λ on validation rows and does not print it: here it is 1e-3 and 1e-5.
* μ̂ = ε/D as in the paper, ε = 1e-3 and D = n/2 or m/2: κ is 0.002 n₊/n or 0.002 times μ/μ̂. All
  start at zero. L-BFGS remembers 6 steps as there; its Nesterov rival has 100 μ̂, once with
  backtracking and restarts, once with the constant step of the paper's bound on L.
* An evaluation is one pass for value and gradient. Time is CPU of one thread, without what is done
  for the record; in the file its unit is one evaluation of L-BFGS with μ̂ on the same problem. A run
  ends where it converged, or after its seconds.
* The test rows are the published ones, or else a quarter of the rows, stratified (w8a, 20news).
  20news is the task PC against Mac. Features are as in the files, and sparse.
* Of a run about 25 points are kept: some in even steps of log evaluations, and those where J first
  was as close as some level to the best of the problem known then, or to the end of the run.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from math import inf
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from benchmarks.data import load
from benchmarks.smoothing import record, report
from benchmarks.smoothing.record import LOSSES, METHODS, UNIT, Point, Problem, Run, Trajectory
from directrix.losses import BreakEven, Loss, PairwiseHinge
from directrix.metrics import AUC, PRBEP, Metric
from directrix.objectives import DataObjective
from directrix.solve import bundle, lbfgs, nesterov

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

SETS = ("a9a", "w8a", "reuters_tick", "20news_PCMAC")
PENALTIES = (1e-3, 1e-5)
SECONDS, QUICK_SECONDS, QUICK_ROWS = 15.0, 1.0, 2000
_PUBLISHED_TEST = ("a9a", "reuters_tick")
_EPSILON = 1e-3
_MEMORY = 6
_NO_END = 1_000_000
_EVERY = 0.03  # of the evaluations so far: how often a point is noted
_LEVELS = np.append(0.0, 10.0 ** -np.arange(0.5, 6.5, 0.5))  # J above the best, relative
_STEPS = 12


class Part(NamedTuple):
    """Rows and their labels."""

    X: Any
    y: AnyArray


def parts_of(name: str) -> tuple[Part, Part]:
    """Return the rows to train on and those to test on."""
    X, y = load(name)
    X = sparse.csr_array(X)
    if name not in _PUBLISHED_TEST:
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
        return Part(X, y), Part(X_test, y_test)
    X_test, y_test = load(f"{name}.test")
    X_test = sparse.csr_array(X_test)
    X_test.resize((X_test.shape[0], X.shape[1]))  # its last columns may hold no value
    return Part(X, y), Part(X_test, y_test)


class Task:
    """A problem in our units: what is minimised, and what is measured on the way.

    Parameters
    ----------
    problem : Problem
    train, test : Part
    """

    def __init__(self, problem: Problem, train: Part, test: Part) -> None:
        self.train, self.test = train, test
        share = float(train.y.mean())
        loss: Loss
        self.metric: Metric
        if problem.loss == "prbep":
            self._unit, unit_of_ridge, steep = 2.0 * _EPSILON * share, 0.5 / share, 1.0 / share
            loss, self.metric = BreakEven(kappa=0.0), PRBEP()
        else:
            self._unit, unit_of_ridge, steep = 2.0 * _EPSILON, 0.5, 4.0
            loss, self.metric = PairwiseHinge(kappa=0.0), AUC()
        self.ridge = problem.penalty * unit_of_ridge**2
        ones = np.ones(len(train.y))
        self.exact = DataObjective(train.X, train.y, ones, loss, self.ridge)
        self._steep = steep * float(train.X.multiply(train.X).sum(axis=1).max())

    def smoothed(self, times: float) -> DataObjective:
        """Return the objective with so many times μ̂."""
        return replace(self.exact, loss=replace(self.exact.loss, kappa=times * self._unit))

    def lipschitz(self, times: float) -> float:
        """Return the paper's bound on L: ‖A‖² / μ, with ‖A‖ from the longest row, and λ."""
        return self._steep / (times * self._unit) + self.ridge

    def bound(self, times: float, coef: FloatArray) -> float:
        """Return a lower bound of J: the smoothed one is below it, and curved by λ at least."""
        value, grad = self.smoothed(times)(coef)
        return value - float(grad @ grad) / (2.0 * self.ridge)


class Watch:
    """Counts evaluations and CPU seconds of one run and notes where it was.

    Parameters
    ----------
    seconds : float
        After which to stop.
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


def solve(task: Task, method: str, seconds: float) -> tuple[Watch, float]:
    """Run a method; return what was noted, and a lower bound of J."""
    name, *rest = method.split()
    start = np.zeros(task.train.X.shape[1] + 1)
    watch = Watch(seconds)
    if name == "bmrm":
        risk = watch.counted(replace(task.exact, ridge=0.0))
        all_of_it = np.ones(len(start), dtype=bool)  # the intercept has no slope: it stays zero
        solution = bundle(
            risk,
            start,
            ridge=task.ridge,
            penalised=all_of_it,
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


def trajectory_of(task: Task, method: str, seconds: float, known: float) -> Trajectory:
    """Run a method and return the points to keep, with times in seconds.

    Parameters
    ----------
    task : Task
    method : str
    seconds : float
        After which to stop.
    known : float
        The least J of the problem that other runs have found.
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
    own_end = objectives[-1] * (1.0 + _EPSILON)
    for target in (*(best * (1.0 + _LEVELS)), best + _EPSILON, own_end):
        below = np.flatnonzero(objectives <= target * (1 + 1e-12))
        kept.update(below[:1].tolist())
    return sorted(kept)


def runs_of(
    problem: Problem,
    parts: tuple[Part, Part],
    methods: Iterable[str],
    seconds: float,
    known: float = inf,
) -> dict[str, Trajectory]:
    """Run methods, `UNIT` among them, one after the other; times are in the unit of the file."""
    runs: dict[str, Trajectory] = {}
    for method in methods:
        runs[method] = own = trajectory_of(Task(problem, *parts), method, seconds, known)
        known = min(known, *(point.objective for point in own.points))
        last = own.points[-1]
        print(
            f"{problem.set} {problem.loss} {problem.penalty:g} {method}: {last.evaluations} "
            f"evaluations, J {last.objective:.6f} (at least {own.lower_bound:.6f}), "
            f"test {last.test_metric:.4f}",
            flush=True,
        )
    return record.relative(runs)


def problems(sets: tuple[str, ...]) -> Iterator[Problem]:
    """Yield all problems, those of a set together."""
    for name, penalty, loss in product(sets, PENALTIES, LOSSES):
        yield Problem(name, loss, penalty)


def measure(sets: tuple[str, ...]) -> None:
    """Measure what is not in the file yet; the run that is the unit is made anew if it is there."""
    known = record.read()
    parts: dict[str, tuple[Part, Part]] = {}
    for problem in problems(sets):
        there = {run.method: own for run, own in known.items() if run.problem == problem}
        missing = [method for method in METHODS if method not in there]
        if not missing:
            continue
        if problem.set not in parts:
            parts = {problem.set: parts_of(problem.set)}
        best = min((p.objective for own in there.values() for p in own.points), default=inf)
        methods = dict.fromkeys((UNIT, *missing))
        found = runs_of(problem, parts[problem.set], methods, SECONDS, best)
        record.append(problem, {method: found[method] for method in missing})


def quick() -> dict[Run, Trajectory]:
    """Measure some rows of a9a for a second each."""
    train, test = (Part(part.X[:QUICK_ROWS], part.y[:QUICK_ROWS]) for part in parts_of(SETS[0]))
    return {
        Run(problem, method): own
        for problem in problems(SETS[:1])
        for method, own in runs_of(problem, (train, test), METHODS, QUICK_SECONDS).items()
    }


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS, help="names of sets; all, if not given")
    parser.add_argument("--quick", action="store_true", help="a few seconds; writes nothing")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that stop early are what is measured
        if arguments.quick:
            print("\n".join(report.lines(quick())))
            return
        measure(tuple(arguments.sets))
    report.write(record.read())


if __name__ == "__main__":
    main()
