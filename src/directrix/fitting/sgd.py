"""Stochastic gradient descent for linear models and for kernel expansions, with any row loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from directrix._typing import FloatArray, IntArray
from directrix.exceptions import find_stacklevel, is_silenced
from directrix.linear.loss import Loss
from directrix.linear.objectives import DataObjective
from directrix.solve import Callback, Solution

#: Passes over the rows, each of as many steps as there are rows.
_PASSES = 50
# Scores on which the steepness of a loss is measured, and the steepness of the logistic loss.
_SCORES = np.linspace(-1.0, 1.0, 9)
_LEAST_STEEPNESS = 0.25


def row_slope(score: float, positive: bool, loss: Loss) -> float:  # noqa: FBT001
    """Return the slope of the loss of a single row."""
    one = np.ones(1)
    return float(loss.value_and_grad(one == positive, np.array([score]), one)[1][0])


def steepness(loss: Loss) -> float:
    r"""Return how much the slope of a loss changes per unit of the score, between −1 and 1.

    .. math:: \max\Big(\tfrac14,\ \tfrac12 \big(\max_{|s| \le 1} L'(s) - \min_{|s| \le 1} L'(s)
              \big)\Big)

    One quarter is the largest curvature of the logistic loss; of the hinge it is one half.
    """
    n = len(_SCORES)
    slopes = [
        n * loss.value_and_grad(np.full(n, side), _SCORES, np.ones(n))[1] for side in (True, False)
    ]
    return max(_LEAST_STEEPNESS, *(float(np.ptp(side)) / 2.0 for side in slopes))


def linear_sgd(
    objective: DataObjective,
    rng: Any,
    *,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a mean loss of rows with a ridge, one row at a time.

    .. math:: w \leftarrow w - \eta_t \big[ L'(s_i, y_i)\, x_i + \lambda w \big], \qquad
              b \leftarrow b - \eta_t L'(s_i, y_i), \qquad \eta_t = \frac{c}{\sqrt t}

    for a row i drawn with probability proportional to its weight, with
    :math:`s_i = w^\top x_i + b`: Chuang 2017 (notes on CS229), there for the logistic loss. The
    first step is :math:`c = 1 / (\lambda + L \max_i (1 + \|x_i\|^2))` with L the `steepness` of the
    loss. It starts from zero.

    The loss of ``objective`` must be a mean over rows. A pass is as many steps as there are rows.
    ``callback`` is called with coefficients and objective after each pass; return True to stop.
    """
    X, positive, loss = objective.X, objective.positive, objective.loss
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    steep = steepness(loss) * (1.0 + float(np.max(squares)))
    first_step = 1.0 / (objective.ridge + steep)
    coef = np.zeros(X.shape[1] + 1)
    row_of = _row_reader(X)

    def step(i: int, size: float) -> None:
        columns, values = row_of(i)
        slope = row_slope(float(coef[columns] @ values + coef[-1]), bool(positive[i]), loss)
        coef[:-1] *= 1.0 - size * objective.ridge
        coef[columns] -= size * slope * values
        coef[-1] -= size * slope

    return _descend(
        step,
        lambda: (coef.copy(), objective(coef)[0]),
        objective.weight,
        first_step,
        rng=rng,
        callback=callback,
    )


def kernel_sgd(
    objective: DataObjective,
    center_index: IntArray,
    rng: Any,
    *,
    alpha: float,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a mean loss of rows plus λ/2 aᵀKa, one row at a time.

    .. math:: a \leftarrow a - \eta_t \Big[ L'(s_i, y_i)\, K^{(i)}
              + \frac{\lambda}{\omega_i} a_i K^{(i)} \Big], \qquad
              b \leftarrow b - \eta_t L'(s_i, y_i), \qquad \eta_t = \frac{c}{\sqrt t}

    for a row i drawn with probability proportional to its weight, with ω the shares of the weights
    (equal rows share a coefficient, and ω in the penalty is their total; with n equal weights the
    factor is the notes' nλ), :math:`s = K a + b` and :math:`K^{(i)}` a column of K. It is the
    kernel SGD of Chuang 2017 (notes on CS229; the step 1/√t or a constant multiple), with its
    warning: the term of the penalty is multiplied by the number of rows to be unbiased, so that
    steps are unstable unless λ is small. Here c is the longest step that the loss alone allows,
    :math:`1 / (L \max_i (1 + \|K^{(i)}\|^2))` with L the `steepness` of the loss. The exact solvers
    reach a lower objective in less time.

    ``X`` of the objective are the kernels of the rows with the centers, which are the distinct
    rows; its ``ridge`` is λ, and its loss must be a mean over rows. ``center_index`` is the index
    of each row's center. ``alpha`` is the strength of the penalty in the units of the classifier,
    for messages. A pass is as many steps as there are rows. ``callback`` is called with a and b,
    and with the objective after each pass; return True to stop. ``coef`` of the result is a, with b
    last.
    """
    matrix, positive, weight = objective.X, objective.positive, objective.weight
    loss, ridge = objective.loss, objective.ridge
    share = weight / float(weight.sum())
    penalty = ridge / np.bincount(center_index, share)
    longest = float(np.einsum("ij,ij->i", matrix, matrix).max())
    first_step = 1.0 / (steepness(loss) * (1.0 + longest))
    unstable = first_step * float(penalty.max()) * np.sqrt(longest) > 1.0
    if unstable and not is_silenced(ConvergenceWarning):
        warn(
            f"alpha={alpha:g} is large for solver='sgd': steps along the penalty are multiplied "
            "by the number of rows, and may be unstable. Give a smaller alpha, or another solver.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    coef = np.zeros(matrix.shape[1] + 1)

    def step(i: int, size: float) -> None:
        column, center = matrix[i], center_index[i]
        slope = row_slope(float(column @ coef[:-1] + coef[-1]), bool(positive[i]), loss)
        coef[:-1] -= size * (slope + penalty[center] * coef[center]) * column
        coef[-1] -= size * slope

    def result() -> tuple[FloatArray, float]:
        inner = matrix @ coef[:-1]
        mean = loss.value_and_grad(positive, inner + coef[-1], weight)[0]
        # aᵀKa needs K a at the centers: that of any row with the center.
        at_centers = np.empty(len(coef) - 1)
        at_centers[center_index] = inner
        return coef.copy(), float(mean + 0.5 * ridge * (coef[:-1] @ at_centers))

    return _descend(
        step,
        result,
        weight,
        first_step,
        rng=rng,
        callback=callback,
        remedy=f"alpha={alpha:g} is too large for it. Give a smaller one, or another solver.",
    )


def _row_reader(X: Any) -> Callable[[int], tuple[Any, FloatArray]]:
    """Return a function from a row's index to its columns and their values."""
    if not sparse.issparse(X):
        every = slice(0, X.shape[1])
        return lambda i: (every, X[i])
    starts, columns, data = X.indptr, X.indices, X.data

    def read(i: int) -> tuple[Any, FloatArray]:
        entries = slice(starts[i], starts[i + 1])
        return columns[entries], data[entries]

    return read


def _descend(
    step: Callable[[int, float], None],
    result: Callable[[], tuple[FloatArray, float]],
    weight: FloatArray,
    first_step: float,
    *,
    rng: Any,
    callback: Callback | None,
    remedy: str = "Standardise the features, or give another solver.",
) -> Solution:
    """Take steps for rows drawn by weight, and report after each pass.

    ``step`` takes the index of a row and a step size, and changes the coefficients. ``result``
    returns a copy of the coefficients, and the objective. ``remedy`` is what to do if the objective
    grows beyond bounds.
    """
    n = len(weight)
    coef, value = result()
    values, taken = [value], 0
    chance = weight / float(weight.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(_PASSES):
            for i in rng.choice(n, size=n, p=chance):
                taken += 1
                step(i, first_step / np.sqrt(taken))
            coef, value = result()
            values.append(value)
            if not value < 2.0 * values[0] + 1.0:
                msg = f"solver='sgd' diverged in pass {len(values) - 1}: {remedy}"
                raise ValueError(msg)
            if callback is not None and callback(coef, value):
                break
    return Solution(coef, value, np.nan, len(values) - 1, converged=True, history=tuple(values))
