"""Training errors of vertex search and SLA on four UCI sets, beside the published ones.

``python -m benchmarks.studies.training_error`` writes one row for each method, set and seed to
``training_error.csv`` and prints best, median and worst; ``--certify breast`` proves a lower bound
instead. Features are standardised and a constant appended; a margin of zero is an error.

* vertex search: from logistic regression with C = 1e4, one processor second for each seed.
* SLA: the sigmoid loss and the constants of Hasan and Pal 2015, appendix A. Seed 0 starts from a
  linear SVM with C = 1, as published; the others from the SVM plus Gaussian noise of half its
  length. The iterate with the fewest errors is kept.
* published: SLA of Nguyen and Sanner 2013, as quoted by Hasan and Pal 2015, Table 1.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from benchmarks.harness.data import load
from benchmarks.harness.record import Record
from directrix._typing import FloatArray
from directrix.solve import Objective, sla, vertex_search, zero_one_lower_bound

RECORD = Record(Path(__file__).with_suffix(".csv"), ("method", "set", "seed", "errors"))
PUBLISHED = {"breast": 13, "heart": 27, "liver-disorders": 89, "diabetes": 156}
SEEDS = range(20)
SECONDS = 1.0


class Problem(NamedTuple):
    """Rows times their labels, with the starts."""

    rows: FloatArray
    logistic: FloatArray
    svm: FloatArray

    def errors(self, coef: FloatArray) -> float:
        """Return how many rows have a margin of zero or less."""
        return float((self.rows @ coef <= 0).sum())

    def sigmoid(self, gamma: float) -> Objective:
        """Return the sum of sigmoid losses."""

        def objective(coef: FloatArray) -> tuple[float, FloatArray]:
            wrong = expit(-gamma * (self.rows @ coef))
            return float(wrong.sum()), -gamma * ((wrong * (1.0 - wrong)) @ self.rows)

        return objective

    def probe(
        self, coef: FloatArray, coordinate: int, offsets: FloatArray, gamma: float
    ) -> FloatArray:
        """Return the sum of sigmoid losses at many values of one coefficient."""
        margins = (self.rows @ coef)[:, np.newaxis] + np.outer(self.rows[:, coordinate], offsets)
        total: FloatArray = expit(-gamma * margins).sum(axis=0)
        return total


def problem(name: str) -> Problem:
    """Return a set, standardised."""
    X, y = load(name)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = np.where(y, 1.0, -1.0)[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])
    models = (
        LogisticRegression(C=1e4, max_iter=5000).fit(X, y),
        SVC(kernel="linear", C=1.0).fit(X, y),
    )
    return Problem(rows, *(np.append(model.coef_, model.intercept_) for model in models))


def by_vertices(problem: Problem, seed: int) -> FloatArray:
    """Return the line of vertex search."""
    return vertex_search(
        problem.rows, problem.logistic, max_steps=10**9, seconds=SECONDS, rng=seed
    ).coef


def by_sla(problem: Problem, seed: int) -> FloatArray:
    """Return the line of SLA."""
    start = problem.svm
    if seed:
        noise = np.random.default_rng(seed).standard_normal(len(start)) / np.sqrt(len(start))
        start = start + 0.5 * np.linalg.norm(start) * noise
    return sla(problem.sigmoid, start, probe=problem.probe, exact=problem.errors).coef


METHODS = {"vertex search": by_vertices, "SLA": by_sla}


def run() -> None:
    """Measure all, and write the file."""
    rows = []
    for name in PUBLISHED:
        data = problem(name)
        for method, make in METHODS.items():
            for seed in SEEDS:
                errors = data.errors(make(data, seed))
                rows.append((method, name, seed, f"{errors:.0f}"))
    RECORD.write(rows)


def report() -> None:
    """Print best, median and worst of what the file says."""
    rows = RECORD.rows()
    print(f"{'':<14}", *(f"{name:>18}" for name in PUBLISHED), f"{'sum of medians':>16}")
    for method in METHODS:
        cells, total = [], 0.0
        for name in PUBLISHED:
            of_set = [r for r in rows if r["method"] == method and r["set"] == name]
            errors = np.array([int(r["errors"]) for r in of_set])
            total += float(np.median(errors))
            cells.append(f"{errors.min()} / {np.median(errors):g} / {errors.max()}")
        print(f"{method:<14}", *(f"{cell:>18}" for cell in cells), f"{total:>16g}")
    unperturbed = [
        next(r["errors"] for r in rows if (r["method"], r["set"], r["seed"]) == ("SLA", name, "0"))
        for name in PUBLISHED
    ]
    for title, counts in (("SLA, seed 0", unperturbed), ("published SLA", PUBLISHED.values())):
        cells = [f"{count:>18}" for count in counts]
        print(f"{title:<14}", *cells, f"{sum(int(count) for count in counts):>16}")


def certify(name: str, seconds: float) -> None:
    """Print a lower bound of the errors, from the features as they are."""
    least = int(min(vertex_value(name, seed) for seed in range(3)))
    X, y = load(name)
    rows = np.where(y, 1.0, -1.0)[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])
    began = process_time()
    proof = zero_one_lower_bound(rows, upper=least, seconds=seconds)
    print(
        f"{name}: {least} errors found, at least {proof.lower_bound:.0f} proved with "
        f"{proof.n_sets} sets in {process_time() - began:.0f} processor seconds"
    )


def vertex_value(name: str, seed: int) -> float:
    """Return the errors of vertex search."""
    data = problem(name)
    return data.errors(by_vertices(data, seed))


def main() -> None:
    """Run and report, or certify."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certify", metavar="SET", choices=sorted(PUBLISHED))
    parser.add_argument("--seconds", type=float, default=180.0, help="of a certificate")
    arguments = parser.parse_args()
    if arguments.certify:
        certify(arguments.certify, arguments.seconds)
    else:
        run()
        report()


if __name__ == "__main__":
    main()
