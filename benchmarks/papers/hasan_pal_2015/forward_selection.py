"""A sparse kernel machine by forward selection, to see how few support vectors there could be."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.classifiers.beta_bernoulli.plateaus import loss_of
from directrix.classifiers.beta_bernoulli.sparse_prior import PenalizedInterceptObjective
from directrix.losses.beta_bernoulli import BetaBernoulli
from directrix.solve import lbfgs

_FIRST = 20
_GROWTH = 0.15
_ENOUGH = {"tol": 1e-6, "ftol": 1e-10, "max_iter": 2000}


class Machine(NamedTuple):
    """A function of kernels of rows, and the objective that it reaches."""

    support: IntArray
    coef: FloatArray
    intercept: float
    value: float

    def scores(self, kernels: FloatArray) -> FloatArray:
        """Return the scores of rows whose kernels with all training rows are given."""
        scores: FloatArray = kernels[:, self.support] @ self.coef + self.intercept
        return scores


def select_forward(
    matrix: FloatArray, positive: AnyArray, alpha: float, tolerance: float
) -> Machine:
    r"""Add rows until the objective is near the one of all rows.

    .. math:: F(S) = \min_{a, b}\ \sum_i L(K_{iS}\, a + b) + \frac\alpha2 a^\top K_{SS}\, a,
              \qquad F(S) - F(\text{all}) \le \varepsilon\, (F(\emptyset) - F(\text{all}))

    A block of rows is added at a time, those along whose kernels the loss falls the most:
    :math:`|(K L')_j| / \sqrt{K_{jj}}`. Unlike the mixture prior on the coefficients, the penalty is
    the norm of the function whatever S is.
    """
    whole = _fitted(matrix, positive, alpha, np.arange(len(matrix)))
    now = _fitted(matrix, positive, alpha, np.arange(0))
    most = whole.value + tolerance * (now.value - whole.value)
    robust = loss_of((0.15, 0.7), positive, np.ones(len(matrix)), positive)
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))  # rows without a word
    while now.value > most and len(now.support) < len(matrix):
        scores = now.scores(matrix)
        _, slope = robust.value_and_grad(positive, scores, np.ones(len(matrix)))
        steepness = np.abs(matrix @ slope) / size
        steepness[now.support] = -1.0
        block = max(_FIRST, int(_GROWTH * len(now.support)))
        block = min(block, len(matrix) - len(now.support))
        others = np.argsort(-steepness, kind="stable")[:block]
        now = _fitted(matrix, positive, alpha, np.append(now.support, others), now)
    return now


def _fitted(
    matrix: FloatArray,
    positive: AnyArray,
    alpha: float,
    support: IntArray,
    start: Machine | None = None,
) -> Machine:
    """Return the best function on some rows, from a smaller one's, or else from a logistic one."""
    size, vectors = linalg.eigh(matrix[np.ix_(support, support)]) if len(support) else _NOTHING
    positive_size = size > 1e-10 * size.max(initial=0.0)
    root, vectors = np.sqrt(size[positive_size]), vectors[:, positive_size]
    weight = np.ones(len(matrix))
    loss = BetaBernoulli(mixing=0.0)
    X = matrix[:, support] @ (vectors / root)
    objective = PenalizedInterceptObjective(X, positive, weight, loss, alpha / len(matrix))
    if start is None:
        begin = lbfgs(objective, np.zeros(X.shape[1] + 1), **_ENOUGH).coef
    else:
        coef = np.append(start.coef, np.zeros(len(support) - len(start.coef)))
        begin = np.append((vectors * root).T @ coef, start.intercept)
    objective = replace(objective, loss=loss_of((0.15, 0.7), positive, weight, weight))
    solution = lbfgs(objective, begin, **_ENOUGH)
    *coef, intercept = solution.coef
    return Machine(support, (vectors / root) @ coef, float(intercept), solution.value)


_NOTHING = (np.empty(0), np.empty((0, 0)))
