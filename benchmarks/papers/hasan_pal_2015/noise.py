"""Test errors of Beta-Bernoulli models beside logistic regression, with noise in the training rows.

``python -m benchmarks.papers.hasan_pal_2015.noise`` writes the mean test error of each method,
set and noise to ``noise.csv``, over five folds of four shuffles. Test rows are as they are. Noise
of the training rows:

* flipped: one label in ten;
* outliers: a tenth more rows, each feature uniform within ten deviations of its mean, with random
  labels (after Nguyen and Sanner 2013).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import load
from benchmarks.harness.record import Record
from benchmarks.harness.runner import Part, Study
from benchmarks.papers.hasan_pal_2015.models import plateau
from directrix._typing import AnyArray, FloatArray

RECORD = Record.beside(__file__, "method, set, noise, error", "noise, set")
SETS = ("breast", "heart", "liver-disorders", "diabetes")
NOISES = ("none", "flipped", "outliers")
METHODS: dict[str, Any] = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "weak": plateau("weak"),
    "empirical": plateau("empirical"),
    "learned": plateau("learned"),
    "robust": plateau(),
}


def noisy(
    X: FloatArray, y: AnyArray, noise: str, rng: np.random.Generator
) -> tuple[FloatArray, AnyArray]:
    """Return training rows with noise."""
    n = len(y) // 10
    if noise == "flipped":
        y = y.copy()
        y[rng.permutation(len(y))[:n]] ^= True
    if noise == "outliers":
        far = X.mean(axis=0) + X.std(axis=0) * rng.uniform(-10.0, 10.0, (n, X.shape[1]))
        X, y = np.vstack([X, far]), np.append(y, rng.random(n) < 0.5)
    return X, y


def measured(noise: str, name: str) -> list[tuple[object, ...]]:
    """Return the mean test error of each method."""
    X, y = load(name)
    rng = np.random.default_rng(0)
    by_fold: dict[str, list[float]] = {method: [] for method in METHODS}
    for train, test in RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0).split(X, y):
        rows = noisy(X[train], y[train], noise, rng)
        for method, classifier in METHODS.items():
            fitted = clone(classifier).fit(*rows)
            by_fold[method].append(1.0 - fitted.score(X[test], y[test]))
    return [(method, name, noise, f"{np.mean(of):.4f}") for method, of in by_fold.items()]


STUDY = Study([Part(RECORD, lambda _: product(NOISES, SETS), measured)])

if __name__ == "__main__":
    STUDY.main(__doc__)
