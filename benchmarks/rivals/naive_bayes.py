"""Gaussian naive Bayes: a quadratic score of independent features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.rivals.base import Grid
from directrix._typing import FloatArray


def _log_odds(model: Any, X: Any) -> FloatArray:
    joint = model.predict_joint_log_proba(X)
    return np.asarray(joint[:, 1] - joint[:, 0])


gaussian = Grid(lambda _: GaussianNB(), family="reference", probabilities=True, score=_log_odds)
