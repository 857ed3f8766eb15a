"""Training errors of vertex search and SLA on four UCI sets, beside the published ones.

``python -m benchmarks.studies.training_error`` writes one row for each method, set and seed to
``training_error.csv`` and prints best, median and worst. Features are standardised and a constant
appended; a margin of zero is an error.

* vertex search: from logistic regression with C = 1e4, one processor second for each seed.
* SLA: the sigmoid loss and the constants of Hasan and Pal 2015, appendix A. Seed 0 starts from a
  linear SVM with C = 1, as published; the others from the SVM plus Gaussian noise of half its
  length. The iterate with the fewest errors is kept.
* published: SLA of Nguyen and Sanner 2013, as quoted by Hasan and Pal 2015, Table 1.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from benchmarks.harness.data import load
from benchmarks.harness.record import Record, Row, numbers, select
from benchmarks.harness.runner import Part, Study
from directrix._typing import FloatArray
from directrix.linear.lbfgs import Objective
from directrix.papers.hasan_pal_2015.continuation import sla
from directrix.papers.hasan_pal_2015.vertex import vertex_search

PUBLISHED = {"breast": 13, "heart": 27, "liver-disorders": 89, "diabetes": 156}
SEEDS, SECONDS = range(20), 1.0


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


@cache
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


def errors(method: str, name: str, seed: int) -> float:
    """Return the training errors of a method."""
    data = problem(name)
    return data.errors(METHODS[method](data, seed))


def measured(name: str, method: str, seed: int) -> list[tuple[object, ...]]:
    """Return a row of the record."""
    return [(method, name, seed, f"{errors(method, name, seed):.0f}")]


def summary(rows: list[Row]) -> list[str]:
    """Return best, median and worst of what the file says, and sums of medians."""
    text = [f"{'':<14} " + " ".join(f"{name:>18}" for name in PUBLISHED) + "   sum of medians"]
    for method in METHODS:
        found = [numbers(select(rows, method=method, set=name), "errors") for name in PUBLISHED]
        cells = (f"{of.min():g} / {np.median(of):g} / {of.max():g}" for of in found)
        total = sum(float(np.median(of)) for of in found)
        text.append(f"{method:<14} " + " ".join(f"{c:>18}" for c in cells) + f" {total:>16g}")
    unperturbed = [
        int(numbers(select(rows, method="SLA", set=name, seed=0), "errors")[0])
        for name in PUBLISHED
    ]
    for title, counts in (("SLA, seed 0", unperturbed), ("published SLA", PUBLISHED.values())):
        text.append(f"{title:<14} " + " ".join(f"{c:>18}" for c in counts) + f" {sum(counts):>16}")
    return text


RECORD = Record.beside(__file__, "method, set, seed, errors", "set, method, seed")
STUDY = Study([Part(RECORD, lambda _: product(PUBLISHED, METHODS, SEEDS), measured)])

if __name__ == "__main__":
    STUDY.main(__doc__)
    print("\n".join(summary(RECORD.rows())))
