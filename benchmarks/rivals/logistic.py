"""Logistic regression by scikit-learn: as it is, tuned, tuned with classes of equal weight."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Grid, Metrics, Rival, Scores, standardized

PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


class Default(Rival):
    """With C = 1 and the threshold at probability one half, whatever the metric."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once."""
        train, test = standardized(train, test)
        scores = LogisticRegression().fit(*train).decision_function(test.X)
        return dict.fromkeys(metrics, np.asarray(scores))


def _newton(C: float, class_weight: str | None = None) -> LogisticRegression:
    # It reaches its optimum, which "lbfgs" does not always.
    return LogisticRegression(C=C, solver="newton-cholesky", class_weight=class_weight)


tuned = Grid(_newton, PENALTIES, probabilities=True)
balanced = Grid(lambda C: _newton(C, "balanced"), PENALTIES, probabilities=True)
