r"""Adam on the logistic loss with a ridge, as in Ghanbari, Li and Scheinberg 2019, §4.

.. math:: \min_w \frac1n \sum_i \log(1 + e^{-y_i w \cdot x_i}) + \lambda \|w\|^2

Steps of 0.001, :math:`\beta` of 0.9 and 0.999, :math:`\epsilon` of 1e-8, 500 epochs.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray

EPOCHS, RATE, BETAS, EPSILON = 500, 1e-3, (0.9, 0.999), 1e-8


def adam(
    X: FloatArray, y: AnyArray, penalty: float, batch_size: int, rng: np.random.Generator
) -> FloatArray:
    """Return coefficients; the start is small and random."""
    coef = 0.01 * rng.standard_normal(X.shape[1])
    mean, square = np.zeros((2, X.shape[1]))
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(y))
        rows, labels = X[order], y[order].astype(float)
        for first in range(0, len(y), batch_size):
            own = rows[first : first + batch_size]
            slope = (expit(own @ coef) - labels[first : first + batch_size]) / len(own)
            grad = slope @ own + 2.0 * penalty * coef
            step += 1
            mean = BETAS[0] * mean + (1.0 - BETAS[0]) * grad
            square = BETAS[1] * square + (1.0 - BETAS[1]) * grad**2
            rate = RATE * np.sqrt(1.0 - BETAS[1] ** step) / (1.0 - BETAS[0] ** step)
            coef = coef - rate * mean / (np.sqrt(square) + EPSILON)
    return coef
