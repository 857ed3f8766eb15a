"""Adam on the logistic loss, the rival of Ghanbari and Scheinberg (2018), in NumPy."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit

from benchmarks.rivals.base import Grid
from directrix._typing import AnyArray, FloatArray

_EPOCHS, _BATCH, _BETAS = 20, 64, (0.9, 0.999)


class _Adam:
    """Steps of a learning rate, with Kingma and Ba's averages of gradients and their squares."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        rng = np.random.default_rng(0)
        X = np.column_stack([X, np.ones(len(X))])
        line, mean, square = np.zeros((3, X.shape[1]))
        step = 0
        for _ in range(_EPOCHS):
            order = rng.permutation(len(y))
            for batch in np.array_split(order, max(1, len(y) // _BATCH)):
                step += 1
                grad = X[batch].T @ (expit(X[batch] @ line) - y[batch]) / len(batch)
                mean = _BETAS[0] * mean + (1 - _BETAS[0]) * grad
                square = _BETAS[1] * square + (1 - _BETAS[1]) * grad**2
                unbiased = mean / (1 - _BETAS[0] ** step), square / (1 - _BETAS[1] ** step)
                line = line - self.rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        self.line = line
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.line[:-1] + self.line[-1])


logistic = Grid(_Adam, (0.001, 0.01), probabilities=True)
