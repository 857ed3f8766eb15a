"""SMOTE of imbalanced-learn, then logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.rivals.base import Grid


class _Resampled(LogisticRegression):
    """Logistic regression of rows to which others, between those of the rarer class, are added."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        from imblearn.over_sampling import SMOTE  # noqa: PLC0415 - optional

        rarer = int(min(np.bincount(y.astype(int))))
        if rarer > 1:  # a single row has no neighbour
            X, y = SMOTE(k_neighbors=min(5, rarer - 1), random_state=0).fit_resample(X, y)
        return super().fit(X, y, sample_weight)


logistic = Grid(lambda C: _Resampled(C=C), (0.01, 1.0, 100.0), needs="imblearn")
