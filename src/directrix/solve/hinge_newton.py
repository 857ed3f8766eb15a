"""Newton's method for the hinge with a ridge: a support vector machine to any accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.solve.lbfgs import Callback, Path, Solution, warn_not_converged

_FIRST_WIDTH = 2.0
_NARROWING = 8.0
_MOST_STEPS = 60
# Share of the slope at the start that may be left after a line search, and its evaluations.
_SLOPE_LEFT, _MOST_TRIALS = 0.1, 50
_ROUNDING = 1e-15


def hinge_newton(
    X: Any,
    positive: AnyArray,
    start: FloatArray,
    *,
    ridge: float,
    weight: FloatArray | None = None,
    margin: float = 1.0,
    tol: float = 1e-6,
    max_levels: int = 16,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise the mean hinge loss with a ridge, by Newton steps on hinges with narrower corners.

    .. math:: J(w, b) = \frac{\sum_i \omega_i (m - y_i (x_i^\top w + b))_+}{\sum_i \omega_i}
              + \frac\lambda2 \|w\|^2

    The corner is replaced by a parabola of width κ. Newton's method ends at the minimum of this
    piecewise quadratic function after a few steps, and κ is then divided by eight. The slopes of
    the rounded hinge are a feasible point β of the dual,

    .. math:: D(\beta) = m \sum_i \beta_i
              - \frac{1}{2\lambda} \Big\| \sum_i \beta_i y_i x_i \Big\|^2, \qquad
              0 \le \beta_i \le \frac{\omega_i}{\sum_j \omega_j}, \quad \sum_i \beta_i y_i = 0,

    so that D(β) is a lower bound of J, returned as ``lower_bound``. The method stops when the gap
    is small. A step solves for the rows inside the corner only, in the end those on the margin.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    positive : array of bool of shape (n,)
    start : array of shape (d + 1,)
        Initial coefficients, intercept last.
    ridge : float
        λ, above zero; the intercept is not penalised.
    weight : array of shape (n,), optional
        ω; one by default.
    margin : float
        m, above which a row costs nothing.
    tol : float
        Gap between J and its lower bound at which to stop, relative to J.
    max_levels : int
        Largest number of widths.
    callback : callable, optional
        Called with the best coefficients and J after each width; return True to stop.

    Returns
    -------
    Solution
        Its ``dual`` has the coefficient :math:`a_i = \beta_i y_i / \lambda` of each row, with
        :math:`w = \sum_i a_i x_i`; rows beyond the margin have zero.
    """
    if not 0.0 < ridge < inf:
        msg = f"ridge must be above zero, not {ridge!r}: without it the dual has no bound"
        raise ValueError(msg)
    weight = np.ones(len(positive)) if weight is None else weight
    sign = np.where(positive, 1.0, -1.0)
    problem = _Problem(X, sign, weight / float(weight.sum()), ridge, margin)
    best = coef = np.array(start, dtype=np.float64)
    value, bound = problem.value(coef), -inf
    path, dual = Path(value, callback), np.zeros(len(sign))
    width, inside = _FIRST_WIDTH, None
    while value - bound > tol * abs(value) and path.n_iter < max_levels:
        coef, state = _minimize_rounded(problem, coef, width, inside)
        inside = state.inside
        current, level_bound = problem.value(coef), problem.lower_bound(state.beta)
        bound = max(bound, level_bound)
        if current < value or path.n_iter == 0:
            best, value, dual = coef, current, state.beta
        width /= _NARROWING
        if not path.record(best, value):
            break
    converged = value - bound <= tol * abs(value)
    solution = Solution(
        best,
        value,
        np.nan,
        path.n_iter,
        converged,
        tuple(path.values),
        bound,
        dual * sign / ridge,
    )
    if path.stopped:
        return solution
    return warn_not_converged(solution, "Newton's method", f"a gap of {value - bound:.1e}")


class _State(NamedTuple):
    """Slopes β and gradient of the rounded problem at some coefficients, and rows in the corner."""

    beta: FloatArray
    grad: FloatArray
    inside: AnyArray


@dataclass(frozen=True)
class _Problem:
    """Rows with signs ±1, shares of their weights, a ridge and a margin."""

    X: Any
    sign: FloatArray
    share: FloatArray
    ridge: float
    margin: float

    def shortfall(self, coef: FloatArray) -> FloatArray:
        """Return by how much each row is short of the margin."""
        short: FloatArray = self.margin - self.sign * (self.X @ coef[:-1] + coef[-1])
        return short

    def value(self, coef: FloatArray) -> float:
        """Return the objective with the hinge itself."""
        loss = float(self.share @ np.maximum(self.shortfall(coef), 0.0))
        return loss + 0.5 * self.ridge * float(coef[:-1] @ coef[:-1])

    def state(self, coef: FloatArray, width: float, inside: AnyArray | None = None) -> _State:
        """Return slopes and gradient with a corner of this width.

        ``inside`` are the indices of rows to treat as inside the corner, wherever they are.
        """
        short = self.shortfall(coef)
        beta = self.slopes(short, width)
        if inside is None:
            inside = np.flatnonzero((short > 0.0) & (short < width))
        else:
            beta[inside] = (self.share * short)[inside] / width
        signed = self.sign * beta
        grad = np.append(self.ridge * coef[:-1] - self.X.T @ signed, -signed.sum())
        return _State(beta, grad, inside)

    def rounded_value(self, coef: FloatArray, width: float) -> float:
        """Return the objective with a corner of this width."""
        short = self.shortfall(coef)
        slope = np.clip(short / width, 0.0, 1.0)
        loss = float(self.share @ (slope * (short - 0.5 * width * slope)))
        return loss + 0.5 * self.ridge * float(coef[:-1] @ coef[:-1])

    def slopes(self, short: FloatArray, width: float) -> FloatArray:
        """Return β: the slope of the rounded hinge of each row, times its share."""
        return self.share * np.clip(short / width, 0.0, 1.0)

    def lower_bound(self, beta: FloatArray) -> float:
        """Return the value of a feasible point of the dual next to β."""
        sums = {side: float(beta[self.sign == side].sum()) for side in (1.0, -1.0)}
        least = min(sums.values())
        factor = {side: least / total if total else 0.0 for side, total in sums.items()}
        beta = beta * np.where(self.sign > 0, factor[1.0], factor[-1.0])
        direction = self.X.T @ (self.sign * beta)
        return self.margin * float(beta.sum()) - float(direction @ direction) / (2.0 * self.ridge)

    def newton_step(self, state: _State, width: float) -> FloatArray:
        """Return the Newton step, with only the rows inside the corner in its system.

        With many such rows the system is one of the coefficients, with few one of the rows.
        """
        rows, grad = state.inside, state.grad
        if not len(rows):
            return np.append(-grad[:-1] / self.ridge, -grad[-1])
        inside, curvature = self.X[rows], self.share[rows] / width
        by_rows = inside.shape[0] <= inside.shape[1]
        return (self._step_by_rows if by_rows else self._step_by_features)(inside, curvature, grad)

    def _step_by_features(self, inside: Any, curvature: FloatArray, grad: FloatArray) -> FloatArray:
        """Solve (XᵀCX + Λ) δ = −∇, where Λ has the ridge, and zero for the intercept."""
        d = inside.shape[1]
        across = inside.T @ curvature
        system = np.empty((d + 1, d + 1))
        system[:d, :d] = _dense(inside.T @ (sparse.diags_array(curvature) @ inside))
        system[np.arange(d), np.arange(d)] += self.ridge
        system[:d, d] = system[d, :d] = across
        system[d, d] = curvature.sum()
        return np.asarray(np.linalg.solve(system, -grad), dtype=np.float64)

    def _step_by_rows(self, inside: Any, curvature: FloatArray, grad: FloatArray) -> FloatArray:
        """Solve for v = CXδ instead, one number for each row, with δ = −(∇ + Xᵀv) / λ."""
        k = inside.shape[0]
        system = np.zeros((k + 1, k + 1))
        system[:k, :k] = _dense(inside @ inside.T) / self.ridge
        system[np.arange(k), np.arange(k)] += 1.0 / curvature
        system[:k, k], system[k, :k] = -1.0, 1.0
        right_side = np.append(-(inside @ grad[:-1]) / self.ridge, -grad[-1])
        solved = np.linalg.solve(system, right_side)
        return np.append(-(grad[:-1] + inside.T @ solved[:k]) / self.ridge, solved[k])

    def line_search(self, coef: FloatArray, step: FloatArray, width: float) -> float:
        """Return the length of a step at which the slope along it is nearly zero."""
        short, change = self.shortfall(coef), self.sign * (self.X @ step[:-1] + step[-1])
        across, along = float(coef[:-1] @ step[:-1]), float(step[:-1] @ step[:-1])

        def slope(length: float) -> float:
            beta = self.slopes(short - length * change, width)
            return self.ridge * (across + length * along) - float(beta @ change)

        first = slope(0.0)
        low, high, length = 0.0, inf, 1.0
        for _ in range(_MOST_TRIALS):
            here = slope(length)
            if abs(here) <= _SLOPE_LEFT * abs(first):
                break
            low, high = (length, high) if here < 0 else (low, length)
            length = 2.0 * length if high == inf else 0.5 * (low + high)
        return length


def _dense(matrix: Any) -> FloatArray:
    dense: FloatArray = matrix.toarray() if sparse.issparse(matrix) else matrix
    return dense


def _minimize_rounded(
    problem: _Problem, coef: FloatArray, width: float, inside: AnyArray | None
) -> tuple[FloatArray, _State]:
    """Return the minimum with a rounded corner, and slopes and gradient there.

    ``coef``, of shape (d + 1,), is the minimum with a wider corner, and ``inside`` are the indices
    of the rows inside that corner. The first step assumes that they stay inside: they all move,
    since the corner is narrower, and without the assumption most would leave it at first.
    """
    if inside is not None:
        step = problem.newton_step(problem.state(coef, width, inside), width)
        if problem.rounded_value(coef + step, width) < problem.rounded_value(coef, width):
            coef = coef + step
    state = problem.state(coef, width)
    for _ in range(_MOST_STEPS):
        step = problem.newton_step(state, width)
        decrease = -float(step @ state.grad)
        last = decrease <= _ROUNDING
        # The last step no longer lowers the value, but doubles the digits of the coefficients.
        coef = coef + (1.0 if last else problem.line_search(coef, step, width)) * step
        state = problem.state(coef, width)
        if last:
            break
    return coef, state
