"""Pairs that interact are crossed, from the rows of other folds."""

import numpy as np

from directrix.designs.structure import find_crosses
from directrix.fitting.training_rows import Rows
from directrix.tables.coding.prior import CellKinds

KINDS = [CellKinds(5, slice(1, 5), np.arange(4.0))] * 3


def problem(seed=0, n=600):
    """Return rows of which the first and the last column interact."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 5, (n, 3))
    positive = ((cells[:, 0] > 2) ^ (cells[:, 2] > 2)) & (rng.random(n) < 0.9)
    return Rows(cells, positive, np.ones(n), np.arange(n) % 3)


def crosses(rows=None, kept=(0, 1, 2), fold=1, most=9):
    rows = problem() if rows is None else rows
    return find_crosses(KINDS, rows, np.full(len(rows.X), 0.45), fold, kept, most)


def test_the_pair_that_interacts_is_crossed_where_it_does():
    (cross,) = crosses()
    assert cross.pair == (0, 2)
    for merged in cross.merged:
        assert merged[2] < merged[3]


def test_columns_that_are_not_kept_are_in_no_cross():
    assert crosses(kept=(0, 1)) == []


def test_there_are_no_more_crosses_than_allowed():
    assert crosses(most=0) == []


def test_labels_of_the_fold_are_not_looked_at():
    rows = problem()
    flipped = rows._replace(positive=rows.positive ^ (rows.fold == 1))
    for one, other in zip(crosses(rows), crosses(flipped), strict=True):
        assert one.pair == other.pair
        np.testing.assert_array_equal(one.merged[0], other.merged[0])
        np.testing.assert_array_equal(one.merged[1], other.merged[1])


def test_rows_of_weight_zero_and_units_of_weights_do_not_matter():
    rows = problem()
    (plain,) = crosses(rows)
    more = Rows(*(np.concatenate([part, part[:200]]) for part in rows[:4]))
    more.weight[:600] = 7.0
    more.weight[600:] = 0.0
    (cross,) = crosses(more)
    assert cross.pair == plain.pair
    np.testing.assert_array_equal(cross.merged, plain.merged)


def test_groups_of_alike_rows_are_as_certain_as_one_row_each():
    rows = problem(n=30)
    assert crosses(rows) == []
    copied = Rows(*(np.repeat(part, 20, axis=0) for part in rows[:4]))
    assert crosses(copied)
    assert crosses(copied._replace(group=np.repeat(np.arange(30), 20))) == []


def test_the_unit_of_weights_makes_no_rows():
    rows = problem(n=200)
    heavy = rows._replace(weight=3.0 * rows.weight)
    for one, other in zip(crosses(heavy), crosses(rows), strict=True):
        assert one.pair == other.pair
        np.testing.assert_array_equal(one.merged, other.merged)
