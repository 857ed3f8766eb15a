"""Cost of MomentClassifier and of what it does with a summary, relative to logistic regression.

``LogisticRegression`` is scikit-learn's, with its defaults. Rows are those of covtype,
standardised. Run ``python -m benchmarks.speed.moment_classifier``; ``--quick`` measures a tenth of
the rows and tracks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.linalg import cho_factor
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import load
from benchmarks.speed.ratio import Figure, ratios, run
from directrix import MomentClassifier, Moments
from directrix._typing import AnyArray, FloatArray
from directrix.frontier import Frontier, validated_shrinkage
from directrix.metrics import BalancedError, Cost, FPRAtRecall, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Metric
from directrix.moments.class_moments import oas, shrunk

ROUNDS = 5
FIT_MAY_COST = {"auc": 0.10, "error": 0.25}
TEN: tuple[str | Metric, ...] = (
    *("error", Cost(1, 20), BalancedError(), "auc", RecallAtFPR(0.01), FPRAtRecall(0.9)),
    *(PrecisionAtK(0.02), "prbep", "f1", "mcc"),
)
FEW_ROWS, WIDE, WIDE_ROWS, FOLDS = 20_000, 2000, 8000, 5


def fits(X: FloatArray, y: AnyArray) -> list[Figure]:
    """Measure fits to rows against a fit of logistic regression."""
    candidates = {metric: partial(MomentClassifier(metric).fit, X, y) for metric in FIT_MAY_COST}
    measured = ratios(partial(LogisticRegression().fit, X, y), candidates, rounds=ROUNDS)
    n, d = X.shape
    return [
        Figure(f"fit for {metric}, {n} x {d} / LogisticRegression", measured[metric], limit)
        for metric, limit in FIT_MAY_COST.items()
    ]


def short_fit(X: FloatArray, y: AnyArray) -> Callable[[], object]:
    """Return a fit of logistic regression to few of the rows."""
    few = np.random.default_rng(0).choice(len(y), FEW_ROWS, replace=False)
    return partial(LogisticRegression().fit, X[few], y[few])


def ten_metrics(X: FloatArray, y: AnyArray) -> list[Figure]:
    """Measure the best lines for ten metrics, from given moments."""
    moments = Moments.of(X, y)
    lines = {"lines": lambda: Frontier(moments).best_many(TEN)}
    measured = ratios(short_fit(X, y), lines, rounds=ROUNDS)
    what = f"ten metrics, d = {X.shape[1]}, given moments / LogisticRegression, {FEW_ROWS} rows"
    return [Figure(what, measured["lines"], 1.0)]


def wide(rng: np.random.Generator) -> list[Figure]:
    """Measure the best line for AUC of many features against one factorisation."""
    y = np.arange(WIDE_ROWS) % 4 == 0
    spread = np.where(y[:, None], np.geomspace(0.5, 2.0, WIDE), 1.0)
    mixing = np.eye(WIDE) + rng.standard_normal((WIDE, WIDE)) / np.sqrt(WIDE)
    X = (rng.standard_normal((WIDE_ROWS, WIDE)) * spread) @ mixing + 0.05 * y[:, None]
    moments = Moments.of(X, y)

    def least() -> object:
        standardized = moments.standardize().moments
        groups = standardized.positive, standardized.negative
        positive, negative = (shrunk(group, oas(group)) for group in groups)
        return negative, cho_factor(positive)

    measured = ratios(least, {"auc": lambda: Frontier(moments).best("auc")}, rounds=ROUNDS)
    what = f"auc, d = {WIDE}, given moments / shrinking and one Cholesky"
    return [Figure(what, measured["auc"], 1.5)]


def validation(rng: np.random.Generator, X: FloatArray, y: AnyArray) -> list[Figure]:
    """Measure the cross-validation of twenty shrinkages, from the summaries of folds."""
    moments = Moments.of(X, y, fold=rng.integers(0, FOLDS, len(y)))
    choice = {"choice": lambda: validated_shrinkage(moments, "auc")}
    measured = ratios(short_fit(X, y), choice, rounds=ROUNDS)
    what = f"20 shrinkages, {FOLDS} folds, auc, d = {X.shape[1]} / LogisticRegression, "
    return [Figure(f"{what}{FEW_ROWS} rows", measured["choice"], 4.0)]


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield all figures."""
    rng = np.random.default_rng(0)
    X, y = load("covtype")
    if quick:
        X, y = X[::10], y[::10]
    X = StandardScaler().fit_transform(X)
    yield from fits(X, y)
    yield from ten_metrics(X, y)
    yield from validation(rng, X, y)
    yield from wide(rng)


if __name__ == "__main__":
    run(__file__, __doc__, measure, "a tenth of the rows", checked=False)
