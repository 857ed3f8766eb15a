"""Measure the experiment of the paper, and write its reports and figures.

``python -m benchmarks.papers.zhang_2012.run trajectories`` appends the runs that
``trajectories.csv`` lacks, then writes ``trajectories.md`` and ``trajectories.png`` anew: J and the
test metric of six methods against CPU time, on four sets at two fixed λ.

``python -m benchmarks.papers.zhang_2012.run figures`` appends the problems that ``figures.csv``
lacks, then writes ``figures.md`` and ``figure_1.png`` to ``figure_4.png`` anew: Figures 1 to 4 of
the paper, with the λ that is best on validation rows.

``python -m benchmarks.papers.zhang_2012.run claims`` prints the verdict on each claim of the
paper's abstract as CSV; it measures nothing.

``--quick`` runs some rows of a9a and writes nothing; ``--report`` measures nothing.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import inf

from benchmarks.harness.data import Rows
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.papers.claims import Claim
from benchmarks.papers.zhang_2012 import figures, trajectories
from benchmarks.papers.zhang_2012.figures import claims
from benchmarks.papers.zhang_2012.methods import Objectives, runs_of, solve
from benchmarks.papers.zhang_2012.results import (
    CHOICES,
    FIGURES,
    LOSSES,
    METHODS,
    METHODS_OF_FIGURES,
    PENALTIES,
    RIDGES,
    SETS,
    SETS_OF_FIGURES,
    TRAJECTORIES,
    UNIT,
    Curves,
    Problem,
    Run,
    Task,
    Trajectory,
    cells,
    parts_of,
    parts_of_figure,
    read_choices,
    read_trajectories,
)

SECONDS, SECONDS_OF_FIGURES, SECONDS_OF_CHOICE = 15.0, 8.0, 2.0
_QUICK_SECONDS, _QUICK_ROWS = 0.5, 2000
_last_parts = lru_cache(maxsize=1)(parts_of)
_last_parts_of_figure = lru_cache(maxsize=1)(parts_of_figure)


def planned() -> Iterator[tuple[str, str, str, str]]:
    """Yield set, loss, λ and method of all trajectories, those of a set together."""
    for name, penalty, loss, method in product(SETS, PENALTIES, LOSSES, METHODS):
        yield name, loss, f"{penalty:g}", method


def trajectory_rows(
    name: str, loss: str, penalty: str, methods: list[tuple[str]]
) -> list[tuple[object, ...]]:
    """Run methods on a problem; the run that is the unit of time is made anew if it is known."""
    problem = Problem(name, loss, float(penalty))
    known = [path for run, path in read_trajectories().items() if run.problem == problem]
    best = min((point.objective for path in known for point in path.points), default=inf)
    missing = [method for (method,) in methods]
    names = dict.fromkeys((UNIT, *missing))
    runs = runs_of(problem, _last_parts(name), names, SECONDS, best)
    return cells(problem, {method: runs[method] for method in missing}, digits=4)


def choice_rows(name: str, loss: str) -> list[tuple[object, ...]]:
    """Return the metric of validation rows for every λ of a problem of the figures."""
    train, validation, _ = _last_parts_of_figure(name)
    metrics = choices_of(Task(name, loss), train, validation, SECONDS_OF_CHOICE)
    return [(name, loss, f"{ridge:g}", f"{metric:.6f}") for ridge, metric in metrics.items()]


def figure_rows(name: str, loss: str) -> list[tuple[object, ...]]:
    """Run all methods on a problem of the figures with the best λ."""
    train, _, test = _last_parts_of_figure(name)
    problem = Problem(name, loss, best_of(read_choices()[Task(name, loss)]))
    runs = runs_of(problem, (train, test), METHODS_OF_FIGURES, SECONDS_OF_FIGURES)
    return [row[:-1] for row in cells(problem, runs, digits=3)]


def choices_of(task: Task, train: Rows, validation: Rows, seconds: float) -> dict[float, float]:
    """Return the metric of validation rows for every λ."""
    metrics = {}
    for ridge in RIDGES:
        objectives = Objectives(Problem(*task, ridge), train, validation)
        watch, _ = solve(objectives, UNIT, seconds)
        scores = validation.X @ watch.noted[-1][2][:-1]
        metrics[ridge] = objectives.metric.score(validation.y, scores)
    return metrics


def best_of(metrics: dict[float, float]) -> float:
    """Return the first λ with the greatest metric."""
    return max(metrics, key=metrics.__getitem__)


def quick_trajectories() -> list[str]:
    """Return the report on some rows of a9a."""
    train, test = (Rows(X[:_QUICK_ROWS], y[:_QUICK_ROWS]) for X, y in parts_of(SETS[0]))
    runs: dict[Run, Trajectory] = {}
    for penalty, loss in product(PENALTIES, LOSSES):
        problem = Problem(SETS[0], loss, penalty)
        paths = runs_of(problem, (train, test), METHODS, _QUICK_SECONDS)
        runs |= {Run(problem, method): path for method, path in paths.items()}
    return trajectories.lines(runs)


def quick_figures() -> list[str]:
    """Return the sentences on some rows of one set."""
    name = next(iter(SETS_OF_FIGURES))
    train, validation, test = (
        Rows(X[:_QUICK_ROWS], y[:_QUICK_ROWS]) for X, y in parts_of_figure(name)
    )
    curves = {}
    for loss in LOSSES:
        task = Task(name, loss)
        ridge = best_of(choices_of(task, train, validation, _QUICK_SECONDS))
        runs = runs_of(Problem(*task, ridge), (train, test), METHODS_OF_FIGURES, _QUICK_SECONDS)
        curves[task] = Curves({method: path.points for method, path in runs.items()})
    return figures.sentences(curves)


def main() -> None:
    """Run and report."""
    parser = option_parser(__doc__, "half a minute; writes nothing")
    parser.add_argument("experiment", choices=("trajectories", "figures", "claims"))
    args = parser.parse_args()
    if args.experiment == "claims":
        csv.writer(sys.stdout, lineterminator="\n").writerows([Claim._fields, *claims()])
        return
    of_figures = args.experiment == "figures"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that stop early are what is measured
        if args.quick:
            print("\n".join(quick_figures() if of_figures else quick_trajectories()))
            return
        if of_figures and not args.report:
            problems = list(product(SETS_OF_FIGURES, LOSSES))
            measure_missing(CHOICES, problems, choice_rows)
            measure_missing(FIGURES, problems, figure_rows)
        elif not args.report:
            measure_missing(TRAJECTORIES, planned(), trajectory_rows, together=3)
    if of_figures:
        figures.write()
    else:
        trajectories.write(read_trajectories())


if __name__ == "__main__":
    main()
