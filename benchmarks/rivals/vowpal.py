"""Vowpal Wabbit: its online logistic regression, several passes over the rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from benchmarks.rivals.base import Grid
from directrix._typing import AnyArray, FloatArray

_PASSES = 5


class _Vowpal:
    """Examples are given in shuffled order; features by number, the constant by the program."""

    def __init__(self, l2: float) -> None:
        self.l2 = l2

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        from vowpalwabbit import Workspace  # noqa: PLC0415 - optional

        self.model = Workspace(f"--loss_function logistic --l2 {self.l2} --quiet -b 18")
        lines = [
            f"{1 if positive else -1} | {text}"
            for positive, text in zip(y, self._texts(X), strict=True)
        ]
        rng = check_random_state(0)
        for _ in range(_PASSES):
            for k in rng.permutation(len(lines)):
                self.model.learn(lines[k])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.array([self.model.predict(f"| {text}") for text in self._texts(X)])

    @staticmethod
    def _texts(X: FloatArray) -> list[str]:
        return [" ".join(f"{j}:{value:.6g}" for j, value in enumerate(row)) for row in X]


logistic = Grid(_Vowpal, (0.0,), needs="vowpalwabbit", probabilities=True)
