"""Gradient boosting of trees by scikit-learn: what a line cannot reach."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.rivals.base import Grid


def _trees(_: float) -> Any:
    return HistGradientBoostingClassifier(random_state=0)


hist = Grid(_trees, family="reference", probabilities=True)
