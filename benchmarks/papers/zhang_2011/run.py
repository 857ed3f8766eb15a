"""Measure the experiment of the paper, and write its reports and figures.

``python -m benchmarks.papers.zhang_2011.run trajectories`` appends the runs that
``trajectories.csv`` lacks, then writes ``trajectories.md`` and ``trajectories.png`` anew: J and the
test metric of six methods against CPU time, on four sets at two fixed λ.

``python -m benchmarks.papers.zhang_2011.run figures`` appends the problems that ``figures.csv``
lacks, then writes ``figures.md`` and ``figure_1.png`` to ``figure_4.png`` anew: Figures 1 to 4 of
the paper, with the λ that is best on validation rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import inf

from benchmarks.harness.runner import Part, Study
from benchmarks.papers.zhang_2011 import figures, trajectories
from benchmarks.papers.zhang_2011.methods import Objectives, runs_of, solve
from benchmarks.papers.zhang_2011.results import (
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
    Problem,
    cells,
    parts_of,
    parts_of_figure,
    read,
    read_choices,
)

SECONDS, SECONDS_OF_FIGURES, SECONDS_OF_CHOICE = 15.0, 8.0, 2.0
_last_parts = lru_cache(maxsize=1)(parts_of)
_last_parts_of_figure = lru_cache(maxsize=1)(parts_of_figure)


def planned(_: object) -> Iterator[tuple[str, str, str, str]]:
    """Yield set, loss, λ and method of all trajectories, those of a set together."""
    for name, penalty, loss, method in product(SETS, PENALTIES, LOSSES, METHODS):
        yield name, loss, f"{penalty:g}", method


def trajectory_rows(
    name: str, loss: str, penalty: str, methods: list[tuple[str]]
) -> list[tuple[object, ...]]:
    """Run methods on a problem; the run that is the unit of time is made anew if it is known."""
    problem = Problem(name, loss, float(penalty))
    known = read(TRAJECTORIES.rows()).get(problem)
    best = known.best if known else inf
    missing = [method for (method,) in methods]
    names = dict.fromkeys((UNIT, *missing))
    runs = runs_of(problem, _last_parts(name), names, SECONDS, best)
    return cells(problem, {method: runs[method] for method in missing}, digits=4)


def choice_rows(name: str, loss: str) -> list[tuple[object, ...]]:
    """Return the metric of validation rows for every λ of a problem of the figures."""
    train, validation, _ = _last_parts_of_figure(name)
    rows: list[tuple[object, ...]] = []
    for ridge in RIDGES:
        objectives = Objectives(Problem(name, loss, ridge), train, validation)
        watch, _ = solve(objectives, UNIT, SECONDS_OF_CHOICE)
        scores = validation.X @ watch.noted[-1][2][:-1]
        metric = objectives.metric.score(validation.y, scores)
        rows.append((name, loss, f"{ridge:g}", f"{metric:.6f}"))
    return rows


def figure_rows(name: str, loss: str) -> list[tuple[object, ...]]:
    """Run all methods on a problem of the figures with the best λ."""
    train, _, test = _last_parts_of_figure(name)
    problem = Problem(name, loss, best_of(read_choices()[name, loss]))
    runs = runs_of(problem, (train, test), METHODS_OF_FIGURES, SECONDS_OF_FIGURES)
    return [row[:-1] for row in cells(problem, runs, digits=3)]


def best_of(metrics: dict[float, float]) -> float:
    """Return the first λ with the greatest metric."""
    return max(metrics, key=metrics.__getitem__)


def _problems(_: object) -> Iterator[tuple[str, str]]:
    return product(SETS_OF_FIGURES, LOSSES)


STUDIES = {
    "trajectories": Study(
        [Part(TRAJECTORIES, planned, trajectory_rows, together=3)],
        trajectories.lines,
        draw=trajectories.draw,
    ),
    "figures": Study(
        [Part(CHOICES, _problems, choice_rows), Part(FIGURES, _problems, figure_rows)],
        lambda _: figures.lines(read(FIGURES.rows())),
        report_path=figures.REPORT,
        draw=figures.draw,
    ),
}


def main() -> None:
    """Run an experiment and report."""
    experiment = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if experiment not in STUDIES:
        sys.exit(f"say which: {' or '.join(STUDIES)}")
    STUDIES[experiment].main(__doc__)


if __name__ == "__main__":
    main()
