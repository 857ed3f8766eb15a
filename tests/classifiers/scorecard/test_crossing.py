"""Pairs that interact are crossed first, from the rows of other folds."""

import numpy as np

from directrix.designs.structure import Crossed
from directrix.fitting.training_rows import TrainingRows
from directrix.tables.coding.prior import CellKinds


def problem(seed=0, n=600):
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 5, (n, 3))
    positive = ((cells[:, 0] > 2) ^ (cells[:, 2] > 2)) & (rng.random(n) < 0.9)
    kinds = [CellKinds(5, slice(1, 5), np.arange(4.0))] * 3
    return kinds, cells, positive, np.arange(n) % 3


def crossed(kept=(0, 1, 2), *, flip=False, fold=1):
    kinds, cells, positive, folds = problem()
    if flip:
        positive = np.where(folds == fold, ~positive, positive)
    rows = TrainingRows(cells, positive, np.ones(len(cells)), folds)
    return Crossed.of(kinds, rows, np.full(len(cells), 0.45), 4, fold, kept)


def test_the_pair_that_interacts_comes_first():
    assert crossed().pairs[0] == (0, 2)


def test_columns_that_are_not_kept_are_in_no_pair():
    assert crossed(kept=(0, 1)).pairs == [(0, 1)]


def test_labels_of_the_fold_are_not_looked_at():
    plain, flipped = crossed(), crossed(flip=True)
    assert plain.pairs == flipped.pairs
    for one, other in zip(plain.columns, flipped.columns, strict=True):
        np.testing.assert_array_equal(one.basis, other.basis)
