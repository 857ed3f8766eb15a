"""Solvers by name: what each needs of a loss, and how it is given an objective of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.losses import Loss, Ramp, ZeroOne
from directrix.losses.margin import MarginLoss
from directrix.metrics import Error, resolve_loss
from directrix.moments.row_hash import row_hash
from directrix.moments.row_keys import copy_keys, copy_numbers, hash_with_label, stratified_folds
from directrix.moments.rows import as_rows
from directrix.objectives import DataObjective
from directrix.solve import bundle, cccp, descent, lbfgs, nesterov, sla, slam, vertex_search

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.metrics import Metric
    from directrix.solve import Callback, Solution

    Run = Callable[[DataObjective, FloatArray, np.random.Generator, Callback | None], Solution]

_RIDGES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
_HELD_OUT = 5


@dataclass(frozen=True)
class Solver:
    """A way to minimise a loss of rows.

    Parameters
    ----------
    run : callable
        Of an objective, a start, a random generator and a callback.
    fits : callable
        Whether it can minimise a loss.
    needs : str
        What it needs, in words.
    """

    run: Run
    fits: Callable[[Loss], bool]
    needs: str


def _plain(solve: Callable[..., Solution]) -> Run:
    """Return how a solver that wants value and gradient alone is run."""
    return lambda objective, start, _, callback: solve(objective, start, callback=callback)


def _bundle(
    objective: DataObjective, start: FloatArray, _: Any, callback: Callback | None
) -> Solution:
    if objective.ridge <= 0:
        msg = "solver='bundle' needs a ridge: give alpha above zero"
        raise ValueError(msg)
    risk = replace(objective, loss=objective.loss.sharpen(inf), ridge=0.0)
    held = None
    if risk.loss.shift_invariant:
        # Nothing bounds the intercept; held at zero, it costs nothing and does not run away.
        held, start = np.ones(len(start), dtype=bool), np.append(start[:-1], 0.0)
    return bundle(risk, start, ridge=objective.ridge, penalised=held, callback=callback)


def _cccp(
    objective: DataObjective, start: FloatArray, _: Any, callback: Callback | None
) -> Solution:
    loss = objective.loss
    if not isinstance(loss, Ramp):  # said by `fits` already; for the type checker
        raise TypeError
    convex, concave = (
        replace(objective, loss=_Scaled(part, loss.gamma), ridge=ridge)
        for part, ridge in zip(loss.parts(), (objective.ridge, 0.0), strict=True)
    )
    return cccp(convex, concave, start, callback=callback)


@dataclass(frozen=True)
class _Scaled(Loss):
    """A loss of γ times the scores."""

    of: Loss
    gamma: float

    def value_and_grad(self, positive: Any, scores: Any, weight: Any) -> tuple[float, FloatArray]:
        value, slope = self.of.value_and_grad(positive, self.gamma * scores, weight)
        return value, self.gamma * slope

    def sharpen(self, level: float) -> Loss:
        return replace(self, of=self.of.sharpen(level))


def _sla(
    objective: DataObjective, start: FloatArray, _: Any, callback: Callback | None
) -> Solution:
    return sla(
        objective.sharpened,
        start,
        probe=partial(_probe, objective),
        exact=_errors(objective),
        callback=callback,
    )


def _slam(
    objective: DataObjective, start: FloatArray, _: Any, callback: Callback | None
) -> Solution:
    hashes = hash_with_label(row_hash(as_rows(objective.X)), objective.positive)
    keys = copy_keys(hashes, copy_numbers(hashes, objective.weight))
    held_out = stratified_folds(keys, objective.positive, _HELD_OUT) == 0
    seen, other = (
        replace(
            objective,
            X=objective.X[own],
            positive=objective.positive[own],
            weight=objective.weight[own],
        )
        for own in (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    )
    tuned = slam(
        lambda gamma, ridge: replace(seen.sharpened(gamma), ridge=ridge),
        np.zeros_like(start),
        validate=_errors(other),
        ridges=_RIDGES,
        probe=lambda ridge: partial(_probe, replace(seen, ridge=ridge)),
        exact=_errors(seen),
    )
    return _again(tuned, objective, callback)


def _again(tuned: Any, objective: DataObjective, callback: Callback | None) -> Solution:
    """Return SLA on all rows, with the parameters that held-out rows chose."""
    whole = replace(objective, ridge=tuned.ridge)
    return sla(
        whole.sharpened,
        tuned.start,
        gamma_min=tuned.gamma_min,
        gamma_max=tuned.gamma_max,
        growth=tuned.growth,
        probe=partial(_probe, whole),
        exact=_errors(whole),
        callback=callback,
    )


def _errors(objective: DataObjective) -> Callable[[FloatArray], float]:
    """Return what counts the error of a line on the rows of an objective."""
    exact = replace(objective, loss=ZeroOne(), ridge=0.0)
    return lambda coef: exact(coef)[0]


def _probe(
    objective: DataObjective,
    coef: FloatArray,
    coordinate: int,
    offsets: FloatArray,
    gamma: float,
) -> FloatArray:
    """Return the objective where one coefficient is moved by each of many offsets."""
    loss = objective.loss.sharpen(gamma)
    scores = objective.scores(coef)
    d = objective.X.shape[1]
    column = np.ones(len(scores)) if coordinate == d else _column(objective.X, coordinate)
    sign = np.where(objective.positive, 1.0, -1.0)
    moved = (sign * scores)[:, None] + (sign * column)[:, None] * offsets
    if isinstance(loss, MarginLoss):
        share = objective.weight / objective.weight.sum()
        values = share @ loss.of_margin(moved)[0]
    else:
        values = np.array(
            [
                loss.value_and_grad(objective.positive, sign * each, objective.weight)[0]
                for each in moved.T
            ]
        )
    squares = coef[:-1] @ coef[:-1] + np.zeros_like(offsets)
    if coordinate < d:
        squares += (coef[coordinate] + offsets) ** 2 - coef[coordinate] ** 2
    total: FloatArray = values + 0.5 * objective.ridge * squares
    return total


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

    def seen(coef: FloatArray, errors: float) -> bool:
        return callback is not None and bool(callback(coef, errors / total))

    found = vertex_search(rows, start, weight=objective.weight, rng=rng, callback=seen)
    # The search adds weights up; the objective is a share of them.
    history = tuple(errors / total for errors in found.history)
    return found._replace(value=found.value / total, history=history)


def _descends(loss: Loss) -> bool:
    return not isinstance(loss, ZeroOne)


def _smooths_the_error(loss: Loss) -> bool:
    return loss.tight and hasattr(loss, "gamma") and not isinstance(loss, Ramp)


SOLVERS: dict[str, Solver] = {
    "lbfgs": Solver(_plain(lbfgs), _descends, "a loss with a slope"),
    "nesterov": Solver(_plain(nesterov), lambda loss: loss.convex, "a convex loss"),
    "bundle": Solver(
        _bundle, lambda loss: loss.convex and loss.exact, "a convex loss that is not binned"
    ),
    "descent": Solver(_plain(descent), _descends, "a loss with a slope"),
    "sla": Solver(_sla, _smooths_the_error, "a loss that sharpens to the error, as 'sigmoid'"),
    "slam": Solver(_slam, _smooths_the_error, "a loss that sharpens to the error, as 'sigmoid'"),
    "cccp": Solver(_cccp, lambda loss: isinstance(loss, Ramp), "a Ramp"),
    "vertex": Solver(_vertex, lambda loss: isinstance(loss, ZeroOne), "loss='zero_one'"),
}


def solver_for(name: str, loss: Loss) -> Solver:
    """Return the solver of this name, or say why there is none or it cannot take this loss."""
    if name not in SOLVERS:
        msg = f"no solver named {name!r}: give one of {', '.join(map(repr, SOLVERS))}"
        raise ValueError(msg)
    solver = SOLVERS[name]
    if not solver.fits(loss):
        able = ", ".join(repr(other) for other, row in SOLVERS.items() if row.fits(loss))
        msg = f"solver={name!r} needs {solver.needs}; for {loss!r} give one of {able}"
        raise ValueError(msg)
    return solver


def keeps_intercept(loss: str | Loss | None, metric: Metric) -> bool:
    """Tell whether the loss is the metric itself, so that its minimum includes the intercept.

    Other losses are near a metric or above it, and a metric with a limit needs rows that the line
    has not seen: held-out rows then set the threshold.
    """
    if loss is None or not isinstance(metric, Error):
        return False
    return isinstance(resolve_loss(loss, metric), ZeroOne)
