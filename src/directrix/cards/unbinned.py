"""Logistic regression without bins, on the same held-out rows as a card: what a card is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.cards.basis import Basis, as_dense
from directrix.cards.likelihood import Features, Likelihood, Problem, fold_losses
from directrix.cards.prior import CellKinds, cell_weights, straight_basis
from directrix.fit.training_rows import Rows

#: Ridges, as shares of the rows, of which held-out log loss chooses one.
_RIDGES = (0.3, 0.03, 0.003, 0.0003)
#: Penalty of a column that is not looked at.
_NONE = 1e10


def unbinned_scores(
    rows: Rows, kinds: Sequence[CellKinds], passed: Mapping[int | None, AnyArray] | None = None
) -> FloatArray:
    """Return held-out log-odds of rows with cells as features.

    A number is the mean of its bin, so that missing values and long tails do it no harm. ``passed``
    says which columns are looked at without each fold; by default all of them.
    """
    if passed is not None:
        index = np.flatnonzero(np.logical_or.reduce(list(passed.values())))
        rows = rows._replace(X=rows.X[:, index])
        kinds = [kinds[k] for k in index.tolist()]
        passed = {without: each[index] for without, each in passed.items()}
    columns = [
        straight_basis(of_column, cell_weights(of_column, cells, rows.weight))
        for of_column, cells in zip(kinds, rows.X.T, strict=True)
    ]
    basis = Basis.from_columns([as_dense(matrix) for matrix in columns])
    features = Features(basis.rows(rows.X))
    weight = rows.weight / rows.weight.mean()
    likelihood = Likelihood(features, basis.block, basis.signs, rows.positive, weight, rows.fold)
    grams = likelihood.grams(likelihood.curvature(np.zeros(len(weight))))
    start, folds = np.zeros(len(basis.block)), range(likelihood.n_folds)
    problems = []
    for ridge in _RIDGES:
        penalty = np.where(basis.block < 0, 0.0, ridge * float(weight.sum()))
        for k in folds:
            kept = True if passed is None else np.append(passed[k], True)[basis.block]
            problems.append(Problem(k, np.where(kept, penalty, _NONE), grams[k], start))
    coef = likelihood.descend(problems).reshape(len(start), len(_RIDGES), len(folds))
    every = [likelihood.held_out(coef[:, k]) for k in range(len(_RIDGES))]
    assert rows.fold is not None  # noqa: S101 - there are held-out rows
    of_rows = rows.positive, rows.weight, rows.fold
    return every[int(np.argmin([fold_losses(each, *of_rows).mean() for each in every]))]
