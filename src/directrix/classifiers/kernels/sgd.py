"""Stochastic gradient steps on the coefficients of a kernel expansion."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix.exceptions import find_stacklevel
from directrix.solve import Solution

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.losses import BetaBernoulli

_PASSES = 50
_MOST_EXPONENT = 700.0  # exponentials overflow beyond 709
_LEAST = 1e-290


def row_slope(score: float, positive: bool, loss: BetaBernoulli) -> float:  # noqa: FBT001
    """Return the slope of the loss of a single row, faster than with arrays of length one."""
    sign = 1.0 if positive else -1.0
    wrong = 1.0 / (1.0 + exp(min(loss.gamma * sign * score, _MOST_EXPONENT)))
    plateau = loss.prior_mean if positive else 1.0 - loss.prior_mean
    chance = loss.mixing * plateau + (1.0 - loss.mixing) * (1.0 - wrong)
    return -(1.0 - loss.mixing) * loss.gamma * sign * (1.0 - wrong) * wrong / max(chance, _LEAST)


def kernel_sgd(
    matrix: FloatArray,
    center_index: IntArray,
    positive: AnyArray,
    weight: FloatArray,
    loss: BetaBernoulli,
    *,
    alpha: float,
    rng: np.random.RandomState,
    passes: int = _PASSES,
) -> Solution:
    r"""Minimise a loss of rows plus α/2 aᵀKa, one row at a time.

    .. math:: a \leftarrow a - \eta_t \Big[ L'(s_i, y_i)\, K^{(i)}
              + \frac{\alpha}{\omega_i} a_i K^{(i)} \Big], \qquad
              b \leftarrow b - \eta_t L'(s_i, y_i), \qquad \eta_t = \frac{c}{\sqrt t}

    for a row i drawn with probability proportional to its weight ω (equal rows share a coefficient,
    and ω in the penalty is their total weight), with :math:`s = K a + b` and :math:`K^{(i)}` a
    column of K. It is the kernel SGD of Chuang 2017 (notes on CS229; the step 1/√t or a constant
    multiple), with its warning: the term of the penalty is multiplied by the number of rows to be
    unbiased, so that steps are unstable unless α is small. Here c is the longest step that the loss
    alone allows, :math:`4 / \max_i (1 + \|K^{(i)}\|^2)`. L-BFGS reaches a lower objective in less
    time.

    Parameters
    ----------
    matrix : array of shape (n, m)
        Kernels of the rows with the centers, which are the distinct rows.
    center_index : array of int of shape (n,)
        Index of each row's center.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    loss : BetaBernoulli
    alpha : float
        Strength of the penalty.
    rng : RandomState
    passes : int
        Number of steps, divided by the number of rows.

    Returns
    -------
    Solution
        Its ``coef`` is a, with b last.
    """
    n, total = len(positive), float(weight.sum())
    center_weight = np.bincount(center_index, weight)
    longest = float(np.einsum("ij,ij->i", matrix, matrix).max())
    first_step = 4.0 / (1.0 + longest) / max(loss.gamma, 1.0) ** 2
    if first_step * alpha * np.sqrt(longest) / float(center_weight.min()) > 1.0:
        warn(
            f"alpha={alpha:g} is large for solver='sgd': steps along the penalty are multiplied "
            "by the number of rows, and may be unstable. Give a smaller alpha, or "
            "solver='lbfgs'.",
            ConvergenceWarning,
            stacklevel=find_stacklevel(),
        )
    coef, intercept = np.zeros(matrix.shape[1]), 0.0

    def value() -> float:
        inner = matrix @ coef
        mean = loss.value_and_grad(positive, inner + intercept, weight)[0]
        # aᵀKa needs K a at the centers: that of any row with the center.
        at_centers = np.empty_like(coef)
        at_centers[center_index] = inner
        return float(mean + 0.5 * alpha / total * (coef @ at_centers))

    values = [value()]
    drawn = rng.choice(n, size=(passes, n), p=weight / total)
    step = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for pass_rows in drawn:
            for i in pass_rows:
                step += 1
                size, column = first_step / np.sqrt(step), matrix[i]
                slope = row_slope(float(column @ coef) + intercept, bool(positive[i]), loss)
                center = center_index[i]
                coef -= size * (slope + alpha / center_weight[center] * coef[center]) * column
                intercept -= size * slope
            values.append(value())
            if not values[-1] < 2.0 * values[0] + 1.0:
                msg = (
                    f"solver='sgd' diverged in pass {len(values) - 1}: alpha={alpha:g} is too "
                    "large for it. Give a smaller one, or solver='lbfgs'."
                )
                raise ValueError(msg)
    return Solution(
        np.append(coef, intercept),
        values[-1],
        np.nan,
        passes,
        converged=True,
        history=tuple(values),
    )
