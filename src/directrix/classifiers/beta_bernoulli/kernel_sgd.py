"""Stochastic gradient steps on the coefficients of a kernel expansion."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from directrix.solve import Solution

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.losses.beta_bernoulli import BetaBernoulli

_PASSES = 50
_FAR = 700.0  # whose exponential is a number
_LEAST = 1e-290


def slope_of(score: float, positive: bool, loss: BetaBernoulli) -> float:  # noqa: FBT001
    """Return the slope of one row's loss: that of the loss itself, without arrays of length one."""
    sign = 1.0 if positive else -1.0
    wrong = 1.0 / (1.0 + exp(min(loss.gamma * sign * score, _FAR)))
    plateau = loss.prior_mean if positive else 1.0 - loss.prior_mean
    chance = loss.mixing * plateau + (1.0 - loss.mixing) * (1.0 - wrong)
    return -(1.0 - loss.mixing) * loss.gamma * sign * (1.0 - wrong) * wrong / max(chance, _LEAST)


def kernel_sgd(
    matrix: FloatArray,
    center_of: IntArray,
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

    for a row i drawn by its weight ω (rows that are equal have one coefficient, and ω is theirs
    together there), with :math:`s = K a + b` and :math:`K^{(i)}` a column of K.
    It is the kernel SGD of Chuang 2017 (notes on CS229; the step 1/√t or a constant multiple),
    with its warning: the term of the penalty is multiplied by the number of rows to be unbiased,
    so that steps are unstable unless α is small. Here c is the longest step that the loss alone
    allows, :math:`4 / \max_i (1 + \|K^{(i)}\|^2)`. L-BFGS gets lower in less time.

    Parameters
    ----------
    matrix : array of shape (n, m)
        Kernels of the rows with the centers, which are the rows without repetition.
    center_of : array of int of shape (n,)
        Place of each row's center.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    loss : BetaBernoulli
    alpha : float
    rng : RandomState
    passes : int
        Steps for each row.

    Returns
    -------
    Solution
        Its ``coef`` is a, and b last.
    """
    n, total = len(positive), float(weight.sum())
    shared = np.bincount(center_of, weight)
    lengths = np.einsum("ij,ij->i", matrix, matrix)
    most = float(lengths.max())
    first = 4.0 / (1.0 + most) / max(loss.gamma, 1.0) ** 2
    if first * alpha * np.sqrt(most) / float(shared.min()) > 1.0:
        warn(
            f"alpha={alpha:g} is large for solver='sgd': steps along the penalty are multiplied "
            "by the number of rows, and may be unstable. Give a smaller alpha, or "
            "solver='lbfgs'.",
            ConvergenceWarning,
            stacklevel=4,
        )
    coef, intercept = np.zeros(matrix.shape[1]), 0.0

    def value() -> float:
        inner = matrix @ coef
        mean = loss.value_and_grad(positive, inner + intercept, weight)[0]
        # Of each center one row: K a at the centers, for aᵀKa.
        at_centers = np.empty_like(coef)
        at_centers[center_of] = inner
        return float(mean + 0.5 * alpha / total * (coef @ at_centers))

    values = [value()]
    drawn = rng.choice(n, size=(passes, n), p=weight / total)
    step = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for one_pass in drawn:
            for i in one_pass:
                step += 1
                size, column = first / np.sqrt(step), matrix[i]
                slope = slope_of(float(column @ coef) + intercept, bool(positive[i]), loss)
                own = center_of[i]
                coef -= size * (slope + alpha / shared[own] * coef[own]) * column
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
