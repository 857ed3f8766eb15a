"""The tables of Ghanbari, Li and Scheinberg 2019: printed, measured again, and beside ours.

``python -m benchmarks.papers.ghanbari_2019.run`` appends one row for each fit to ``measured.csv``,
goes on where an interrupted run stopped, and writes what it prints to ``tables.md``. ``--sets``
names those to measure, ``--minutes`` ends it before the next fold, ``--quick`` measures one fold of
each small set, ``--report`` nothing. ``--figures`` draws ``figure_4_1.png`` to ``figure_4_4.png``
anew instead, and writes what they show to ``figures.csv``.

* 4.1 and 4.4: the sets themselves; see `config` for what the paper leaves open.
* 4.2 and 4.3: artificial sets, a fifth of 5000 rows to test on, labels of some training rows
  swapped, λ = 0. Rows are drawn anew for each repeat.
* 4.5 to 4.7: five shuffled folds, four times, features in [-1, 1] beside a column of ones. λ is
  1e-3 for risks of moments, 1/n for the logistic loss, one over the root of the number of pairs for
  the pairwise hinge. Adam: batches of 200, of 20 for vowel and sonar, of 10 for colon.
* "F_n01, no ones" and "F_log, no ones" are without that column: the paper to the letter.
* The paper has 20 runs of each set. Large sets have fewer here, and of sets above 5000 rows slow
  methods have one repeat: `config.REPEATS` and `config.SLOW`.
* Times are CPU, in units of the frontier's fit for the same metric to the same rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np

from benchmarks.harness.data import Split
from benchmarks.harness.runner import Part, Study, quiet
from benchmarks.papers.ghanbari_2019 import figures, report
from benchmarks.papers.ghanbari_2019.config import (
    ARTIFICIAL,
    COLUMNS_OF_FILE,
    PAIRS,
    QUICK_SETS,
    REPEATS,
    Unit,
    exact_moments,
    planned,
    rows_of,
)
from benchmarks.papers.ghanbari_2019.methods import (
    Outcome,
    by_adam,
    by_estimator,
    by_moments,
    by_rows,
    estimator,
    penalty_of_rows,
)
from benchmarks.papers.ghanbari_2019.report import BASE, RECORD, Paper, Results

_BATCHES = {"colon": 10, "vowel": 20, "sonar": 20}


def outcome(unit: Unit, split: Split, metric: str, method: str) -> Outcome:
    """Fit one method."""
    rng = np.random.default_rng((unit.repeat, unit.fold))
    artificial = unit.name in ARTIFICIAL
    if method == "exact moments":
        return by_moments(split, metric, 0.0, exact_moments(unit.name))
    if method == "approximate moments":
        return by_moments(split, metric, 0.0)
    if method.endswith(", no ones"):
        split = split._replace(X=split.X[:, :-1], X_test=split.X_test[:, :-1])
        method = method.removesuffix(", no ones")
    if method == PAIRS[metric][0]:
        return by_moments(split, metric)
    if method == PAIRS[metric][1]:
        return by_rows(split, metric, 0.0 if artificial else penalty_of_rows(split.y, metric), rng)
    if method == "ADAM":
        return by_adam(split, _BATCHES.get(unit.name, 200), rng)
    return by_estimator(split, estimator(method, metric))


def measured(
    name: str, repeat: int, fold: int, pairs: list[tuple[str, str]]
) -> list[tuple[object, ...]]:
    """Fit each metric and method, and what times are relative to; take metrics of the test rows."""
    rows = described(name) if any(method == "file" for _, method in pairs) else []
    pairs = [pair for pair in pairs if pair[1] != "file"]
    unit = Unit(name, repeat, fold)
    split = unit.split()
    needed = dict.fromkeys((*pairs, *((metric, BASE) for metric, _ in pairs)))
    with quiet():  # solvers that stop early are part of the experiment
        outcomes = {pair: outcome(unit, split, *pair) for pair in needed}
    for metric, method in pairs:
        result, base = outcomes[metric, method], outcomes[metric, BASE].seconds
        value = f"{result.value(metric, split.y_test):.6f}"
        times = (f"{t / base:.4g}" for t in (result.seconds, result.moment_seconds))
        rows.append((name, metric, method, repeat, fold, value, result.iterations, *times))
    return rows


def described(name: str) -> list[tuple[object, ...]]:
    """Return what Table 4.4 says of a set: features and rows of the file, share of positives."""
    X, y = rows_of(name)
    values = zip(COLUMNS_OF_FILE, (X.shape[1], X.shape[0], y.mean()), strict=True)
    return [(name, column, "file", 0, 0, f"{value:.6f}", 0, "0", "0") for column, value in values]


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return all fits, or draw the figures instead."""
    if args.figures:
        figures.draw()
        return ()
    sets = args.sets or list(QUICK_SETS if args.quick else REPEATS)
    return planned(sets, quick=args.quick)


STUDY = Study(
    [Part(RECORD, plan, measured, together=3)],
    lambda _: report.lines(Results(), Paper()),
    quick="one fold of each small set",
    options={
        "--sets": {"nargs": "*", "choices": list(REPEATS)},
        "--minutes": None,
        "--figures": {"action": "store_true", "help": "draw the figures instead"},
    },
    report_path=report.REPORT,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
