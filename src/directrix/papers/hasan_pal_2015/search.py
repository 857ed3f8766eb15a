"""SLA and SLAM on rows: probes of one coefficient, and constants that held-out rows choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import FloatArray
from directrix.linear.lbfgs import Solution
from directrix.linear.loss import Loss
from directrix.linear.objectives import DataObjective
from directrix.papers.hasan_pal_2015.continuation import Tuned, sharpness_levels, sla, slam
from directrix.papers.hasan_pal_2015.losses import ZeroOne
from directrix.rows.keys import copy_keys, copy_numbers, hash_with_label, row_hash, stratified_folds
from directrix.rows.rows import as_rows

_RIDGES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
_HELD_OUT = 5
#: Sharpnesses of the loss that SLAM minimises for its start.
START_GAMMAS = (1.0, 2.0, 4.0, 8.0)
_INTERCEPT_PENALTY = 1e-8


@dataclass(frozen=True)
class ConstantObjective(DataObjective):
    """A loss of a linear model whose last feature is a constant: 0 is no intercept."""

    constant: float = 1.0

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        value, grad = super().__call__(coef)
        grad[-1] *= self.constant
        return value, grad

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return the score of each row."""
        scores: FloatArray = self.X @ coef[:-1] + self.constant * coef[-1]
        return scores


@dataclass(frozen=True)
class PenalizedInterceptObjective(ConstantObjective):
    r"""A loss of a linear model with a ridge, and a tiny penalty of the intercept.

    .. math:: F(w, b) = L(X w + b) + \frac{\lambda}{2} \|w\|^2 + \frac{10^{-8}}{2} b^2

    If a class has a smaller share than its plateau allows for, a loss with plateaus decreases with
    the intercept for ever. With the penalty the intercept is then about 15; otherwise the penalty
    moves it by a few times 1e-7.
    """

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef``, intercept last."""
        value, grad = super().__call__(coef)
        grad[-1] += _INTERCEPT_PENALTY * coef[-1]
        return value + 0.5 * _INTERCEPT_PENALTY * float(coef[-1]) ** 2, grad


class Searched(NamedTuple):
    """Result of `search_errors`.

    ``solution`` is the result of the search. ``gamma`` is the last sharpness of the path of SLA,
    relative to that of the loss. ``ridge`` is, with SLAM, the one that held-out rows chose.
    """

    solution: Any
    gamma: float
    ridge: float


def search_errors(
    name: str,
    objective: ConstantObjective,
    start: FloatArray,
    *,
    gammas: Sequence[float] = START_GAMMAS,
    run: Callable[..., Any] | None = None,
) -> Searched:
    """Search for the least error by SLA with the paper's constants, or by SLAM.

    The loss of ``objective`` sharpens to the error. SLAM replaces its ridge. ``start`` has the
    initial coefficients of SLA; SLAM has starts of its own. ``gammas`` are the sharpnesses of the
    loss that SLAM minimises for its start. ``run`` is the search that takes the place of SLA: it
    takes objective, start and the constants of the path, and returns a solution.
    """
    constants: dict[str, Any] = {}
    if name == "slam":
        tuned = _tune(objective, gammas, run or _sla)
        objective, start = replace(objective, ridge=tuned.ridge), tuned.start
        constants = {key: getattr(tuned, key) for key in ("gamma_min", "gamma_max", "growth")}
    gamma = sharpness_levels(**constants)[-1]
    run = run or _sla
    return Searched(run(objective, start, **constants), gamma, objective.ridge)


def _sla(objective: ConstantObjective, start: FloatArray, **constants: Any) -> Solution:
    # Each probe reads one column.
    by_column = replace(objective, X=objective.X.tocsc()) if _is_sparse(objective) else objective
    return sla(
        objective.sharpened,
        start,
        probe=partial(probe_values, by_column),
        exact=_error_rate(objective),
        **constants,
    )


def _tune(objective: ConstantObjective, gammas: Sequence[float], run: Callable[..., Any]) -> Tuned:
    """Return the constants of SLA and the ridge that rows held out choose."""
    hashes = hash_with_label(row_hash(as_rows(objective.X)), objective.positive)
    keys = copy_keys(hashes, copy_numbers(hashes, objective.weight))
    held_out = stratified_folds(keys, objective.positive, _HELD_OUT) == 0
    training, validation = (
        replace(
            objective,
            X=objective.X[rows],
            positive=objective.positive[rows],
            weight=objective.weight[rows],
        )
        for rows in (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    )
    return slam(
        lambda gamma, ridge: replace(training.sharpened(gamma), ridge=ridge),
        np.zeros(objective.X.shape[1] + 1),
        validate=_error_rate(validation),
        ridges=_RIDGES,
        gammas=gammas,
        search=lambda ridge, start, **constants: run(
            replace(training, ridge=ridge), start, **constants
        ),
    )


def _error_rate(objective: ConstantObjective) -> Callable[[FloatArray], float]:
    """Return a function from coefficients to the error rate on the rows of an objective."""
    exact = replace(objective, loss=ZeroOne(), ridge=0.0)
    return lambda coef: exact(coef)[0]


def probe_values(
    objective: ConstantObjective,
    coef: FloatArray,
    coordinate: int,
    offsets: FloatArray,
    gamma: float,
) -> FloatArray:
    """Return the objective with one coefficient moved, for many offsets."""
    loss = objective.loss.sharpen(gamma)
    scores = objective.scores(coef)
    d = objective.X.shape[1]
    if coordinate < d and loss.separable and _is_sparse(objective):
        values = _sparse_probe(objective, loss, scores, coordinate, offsets)
    else:
        constant = np.full(len(scores), objective.constant)
        column = constant if coordinate == d else _column(objective.X, coordinate)
        moved = scores[:, None] + column[:, None] * offsets
        values = loss.values(objective.positive, moved, objective.weight)
    squares = coef[:-1] @ coef[:-1] + np.zeros_like(offsets)
    if coordinate < d:
        squares += (coef[coordinate] + offsets) ** 2 - coef[coordinate] ** 2
    return values + 0.5 * objective.ridge * squares


def _sparse_probe(
    objective: ConstantObjective,
    loss: Loss,
    scores: FloatArray,
    coordinate: int,
    offsets: FloatArray,
) -> FloatArray:
    """Return the loss for many offsets of one coefficient, from the rows whose scores it changes.

    A mean over rows changes by the share of those rows times the change of their own mean.
    """
    column = objective.X[:, [coordinate]].tocoo()
    rows, entries = column.coords[0], column.data
    positive, weight = objective.positive, objective.weight
    unmoved = loss.values(positive, scores[:, None], weight)[0]
    share = weight[rows].sum() / weight.sum()
    if share == 0.0:
        return np.full(len(offsets), unmoved)
    moved = scores[rows, None] + entries[:, None] * np.append(0.0, offsets)
    means = loss.values(positive[rows], moved, weight[rows])
    values: FloatArray = unmoved + share * (means[1:] - means[0])
    return values


def _is_sparse(objective: ConstantObjective) -> bool:
    return bool(sparse.issparse(objective.X))


def _column(X: Any, index: int) -> FloatArray:
    column = X[:, [index]]
    values: FloatArray = (column.toarray() if sparse.issparse(column) else column)[:, 0]
    return values
