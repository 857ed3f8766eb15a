"""Solvers by name, and how they are run on an objective of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import FloatArray
from directrix.fitting.sgd import kernel_sgd, linear_sgd
from directrix.linear import ZeroOne
from directrix.linear.loss import Loss
from directrix.linear.objectives import DataObjective
from directrix.linear.table import metric_for, resolve_loss
from directrix.metrics.base import Metric
from directrix.rows.keys import copy_keys, copy_numbers, hash_with_label, row_hash, stratified_folds
from directrix.rows.rows import as_rows
from directrix.solve import (
    Callback,
    Solution,
    Tuned,
    bundle,
    descent,
    lbfgs,
    nesterov,
    sharpness_levels,
    sla,
    slam,
    vertex_search,
)

Run = Callable[[DataObjective, FloatArray, np.random.Generator, Callback | None], Solution]

_RIDGES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
_HELD_OUT = 5
#: Sharpnesses of the loss that SLAM minimises for its start.
START_GAMMAS = (1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Solver:
    """A way to minimise a loss of rows; `Loss.solvers` says which losses it can minimise.

    ``run`` minimises an objective, given a start, a random generator and a callback. ``needs`` are
    the losses that it can minimise, in words.
    """

    run: Run
    needs: str


def _plain(solve: Callable[..., Solution]) -> Run:
    """Return the ``run`` of a solver that uses only the value and the gradient."""
    return lambda objective, start, _, callback: solve(objective, start, callback=callback)


def _bundle(
    objective: DataObjective, start: FloatArray, _: Any, callback: Callback | None
) -> Solution:
    if objective.ridge <= 0:
        msg = "solver='bundle' needs a ridge: give alpha above zero"
        raise ValueError(msg)
    risk = replace(objective, loss=objective.loss.sharpen(inf), ridge=0.0)
    penalised = None
    if risk.loss.shift_invariant:
        # Nothing bounds the intercept: penalised too, it stays at zero, where it costs nothing.
        penalised, start = np.ones(len(start), dtype=bool), np.append(start[:-1], 0.0)
    return bundle(risk, start, ridge=objective.ridge, penalised=penalised, callback=callback)


def _sgd(
    objective: DataObjective, _: FloatArray, rng: np.random.Generator, callback: Callback | None
) -> Solution:
    return linear_sgd(objective, rng, callback=callback)


def _kernel_sgd(
    objective: DataObjective, _: FloatArray, rng: np.random.Generator, callback: Callback | None
) -> Solution:
    """Run stochastic gradients in the coefficients of the rows, whose kernels are XXᵀ."""
    X = objective.X

    def in_coordinates(point: FloatArray) -> FloatArray:
        return np.append(X.T @ point[:-1], point[-1])

    def report(point: FloatArray, value: float) -> bool:
        return callback is not None and bool(callback(in_coordinates(point), value))

    solution = kernel_sgd(
        replace(objective, X=X @ X.T),
        np.arange(len(X)),
        rng,
        alpha=objective.ridge,
        callback=report,
    )
    return solution._replace(coef=in_coordinates(solution.coef), dual=solution.coef[:-1])


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
    objective: DataObjective,
    start: FloatArray,
    *,
    gammas: Sequence[float] = START_GAMMAS,
    run: Callable[..., Any] | None = None,
    callback: Callback | None = None,
) -> Searched:
    """Search for the least error by SLA with the paper's constants, or by SLAM.

    The loss of ``objective`` sharpens to the error. SLAM replaces its ridge. ``start`` has the
    initial coefficients of SLA; SLAM has starts of its own. ``gammas`` are the sharpnesses of the
    loss that SLAM minimises for its start. ``run`` is the search that takes the place of SLA: it
    takes objective, start and the constants of the path, and returns a solution. ``callback`` is
    called by SLA.
    """
    constants: dict[str, Any] = {}
    if name == "slam":
        tuned = _tune(objective, gammas, run or _sla)
        objective, start = replace(objective, ridge=tuned.ridge), tuned.start
        constants = {key: getattr(tuned, key) for key in ("gamma_min", "gamma_max", "growth")}
    gamma = sharpness_levels(**constants)[-1]
    run = run or partial(_sla, callback=callback)
    return Searched(run(objective, start, **constants), gamma, objective.ridge)


def _sla(
    objective: DataObjective,
    start: FloatArray,
    *,
    callback: Callback | None = None,
    **constants: Any,
) -> Solution:
    # Each probe reads one column.
    by_column = replace(objective, X=objective.X.tocsc()) if _is_sparse(objective) else objective
    return sla(
        objective.sharpened,
        start,
        probe=partial(probe_values, by_column),
        exact=_error_rate(objective),
        callback=callback,
        **constants,
    )


def _search(name: str) -> Run:
    """Return the ``run`` of SLA or SLAM."""
    return lambda objective, start, _, callback: (
        search_errors(name, objective, start, callback=callback).solution
    )


def _tune(objective: DataObjective, gammas: Sequence[float], run: Callable[..., Any]) -> Tuned:
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


def _error_rate(objective: DataObjective) -> Callable[[FloatArray], float]:
    """Return a function from coefficients to the error rate on the rows of an objective."""
    exact = replace(objective, loss=ZeroOne(), ridge=0.0)
    return lambda coef: exact(coef)[0]


def probe_values(
    objective: DataObjective,
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
        column = np.ones(len(scores)) if coordinate == d else _column(objective.X, coordinate)
        moved = scores[:, None] + column[:, None] * offsets
        values = loss.values(objective.positive, moved, objective.weight)
    squares = coef[:-1] @ coef[:-1] + np.zeros_like(offsets)
    if coordinate < d:
        squares += (coef[coordinate] + offsets) ** 2 - coef[coordinate] ** 2
    return values + 0.5 * objective.ridge * squares


def _sparse_probe(
    objective: DataObjective,
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


def _is_sparse(objective: DataObjective) -> bool:
    return bool(sparse.issparse(objective.X))


def _column(X: Any, index: int) -> FloatArray:
    column = X[:, [index]]
    values: FloatArray = (column.toarray() if sparse.issparse(column) else column)[:, 0]
    return values


def _vertex(
    objective: DataObjective,
    start: FloatArray,
    rng: np.random.Generator,
    callback: Callback | None,
) -> Solution:
    X = objective.X.toarray() if sparse.issparse(objective.X) else objective.X
    rows = np.column_stack([X, np.ones(len(X))])
    rows *= np.where(objective.positive, 1.0, -1.0)[:, None]
    total = float(objective.weight.sum())

    def report(coef: FloatArray, errors: float) -> bool:
        return callback is not None and bool(callback(coef, errors / total))

    solution = vertex_search(rows, start, weight=objective.weight, rng=rng, callback=report)
    # The search sums weights; the objective is their share.
    history = tuple(errors / total for errors in solution.history)
    return solution._replace(value=solution.value / total, history=history)


SOLVERS: dict[str, Solver] = {
    "lbfgs": Solver(_plain(lbfgs), "a loss with a slope"),
    "nesterov": Solver(_plain(nesterov), "a convex loss"),
    "bundle": Solver(_bundle, "a convex loss that is not binned"),
    "descent": Solver(_plain(descent), "a loss with a slope"),
    "sla": Solver(_search("sla"), "a loss that sharpens to the error, as 'sigmoid'"),
    "slam": Solver(_search("slam"), "a loss that sharpens to the error, as 'sigmoid'"),
    "vertex": Solver(_vertex, "loss='zero_one'"),
    "sgd": Solver(_sgd, "a loss that is a mean over rows, with a slope"),
}
#: Solvers that are others in the coordinates of a kernel expansion.
_KERNEL_SOLVERS: dict[str, Solver] = {"sgd": replace(SOLVERS["sgd"], run=_kernel_sgd)}


def solver_for(name: str, loss: Loss, *, kernel: bool = False) -> Solver:
    """Return a solver by name; raise ValueError if there is none or it cannot take the loss.

    The ``name`` "auto" is the first solver that the loss names. ``kernel`` says whether features
    are the coordinates of a kernel expansion.
    """
    if name == "auto":
        name = loss.solvers[0]
    if name not in SOLVERS:
        msg = f"no solver named {name!r}: give 'auto' or one of {', '.join(map(repr, SOLVERS))}"
        raise ValueError(msg)
    solver = _KERNEL_SOLVERS.get(name, SOLVERS[name]) if kernel else SOLVERS[name]
    if name not in loss.solvers:
        able = ", ".join(repr(other) for other in SOLVERS if other in loss.solvers)
        msg = f"solver={name!r} needs {solver.needs}; for {loss!r} give one of {able}"
        raise ValueError(msg)
    return solver


def keeps_intercept(loss: str | Loss | None, metric: Metric) -> bool:
    """Return whether the loss is the metric itself, so that its minimum includes the intercept.

    For other losses, which are near the metric or above it, held-out rows set the threshold.
    """
    if loss is None:
        return False
    resolved = resolve_loss(loss)
    return resolved.fixes_intercept and metric_for(resolved) == metric
