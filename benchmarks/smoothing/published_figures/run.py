"""Figures 1–4 of Zhang, Saha and Vishwanathan 2012: J and the test metric against CPU time.

``python -m benchmarks.smoothing.published_figures.run`` appends the problems that ``measured.csv``
lacks, then writes ``figures.md`` and ``figure_1.png`` to ``figure_4.png`` anew. ``--quick`` runs
some rows of a9a and writes nothing; ``--report`` measures nothing.

`benchmarks.smoothing.trajectories` has the same solvers at two fixed λ. Here, as in the paper (§4),
λ is the one that is best on validation rows: of 1e-1, 1e-2 … 1e-6, the first whose model (L-BFGS,
μ̂) has the greatest metric there. The paper splits as Teo et al. 2010, who are not at hand: here
validation and test rows are a fifth each, stratified, but for a9a, which has test rows of its own.
Of covtype 50,000 rows are taken, and each feature is divided by its greatest value.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from benchmarks.data import load
from benchmarks.smoothing.published_figures import record, report
from benchmarks.smoothing.published_figures.record import METHODS, Task
from benchmarks.smoothing.record import LOSSES, UNIT, Problem
from benchmarks.smoothing.trajectories import Part, runs_of, solve
from benchmarks.smoothing.trajectories import Task as Solvable

#: Sets of the paper's Table 1 in the data folder, by the paper's name.
SETS = {"adult9": "a9a", "web8": "w8a", "covertype": "covtype"}
RIDGES = tuple(10.0**-k for k in range(1, 7))
SECONDS, CHOICE_SECONDS = 8.0, 2.0
_QUICK_SECONDS, _QUICK_ROWS = 0.5, 3000
_COVTYPE_ROWS = 50_000


def parts_of(name: str) -> tuple[Part, Part, Part]:
    """Return the rows to train on, to choose λ on, and to test on."""
    X, y = load(SETS[name])
    if name == "covertype":
        X, _, y, _ = train_test_split(X, y, train_size=_COVTYPE_ROWS, stratify=y, random_state=0)
        X = X / np.maximum(np.abs(X).max(axis=0), 1.0)
    X = sparse.csr_array(X)
    if name == "adult9":
        X_test, y_test = load(f"{SETS[name]}.test")
        test = Part(sparse.csr_array(X_test), y_test)
        test.X.resize((len(y_test), X.shape[1]))  # its last columns may hold no value
        share = 0.2
    else:
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
        test, share = Part(X_test, y_test), 0.25
    X, X_other, y, y_other = train_test_split(X, y, test_size=share, stratify=y, random_state=2)
    return Part(X, y), Part(X_other, y_other), test


def choices_of(task: Task, train: Part, validation: Part, seconds: float) -> dict[float, float]:
    """Return the metric of validation rows for every λ."""
    metrics = {}
    for ridge in RIDGES:
        own = Solvable(Problem(*task, ridge), train, validation)
        watch, _ = solve(own, UNIT, seconds)
        scores = validation.X @ watch.noted[-1][2][:-1]
        metrics[ridge] = own.metric.score(validation.y, scores)
    return metrics


def best_of(metrics: dict[float, float]) -> float:
    """Return the first λ with the greatest metric."""
    return max(metrics, key=metrics.__getitem__)


def measure() -> None:
    """Measure what the files lack."""
    choices, known = record.read_choices(), record.read()
    for name in SETS:
        left = [task for loss in LOSSES if (task := Task(name, loss)) not in known]
        if not left:
            continue
        train, validation, test = parts_of(name)
        for task in left:
            if task not in choices:
                choices[task] = choices_of(task, train, validation, CHOICE_SECONDS)
                record.append_choices(task, choices[task])
            ridge = best_of(choices[task])
            runs = runs_of(Problem(*task, ridge), (train, test), METHODS, SECONDS)
            record.append(task, ridge, runs)


def quick() -> list[str]:
    """Return the report on some rows of one set."""
    train, validation, test = (
        Part(part.X[:_QUICK_ROWS], part.y[:_QUICK_ROWS]) for part in parts_of("adult9")
    )
    curves = {}
    for loss in LOSSES:
        task = Task("adult9", loss)
        ridge = best_of(choices_of(task, train, validation, _QUICK_SECONDS))
        runs = runs_of(Problem(*task, ridge), (train, test), METHODS, _QUICK_SECONDS)
        curves[task] = {method: own.points for method, own in runs.items()}
    return report.sentences(curves)


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half a minute; writes nothing")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that stop early are what is measured
        if arguments.quick:
            print("\n".join(quick()))
            return
        if not arguments.report:
            measure()
    report.write()


if __name__ == "__main__":
    main()
