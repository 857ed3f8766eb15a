"""Counting rows: labels, weights and folds are checked as those of Moments are."""

import numpy as np
import pytest

from directrix import Binner, Moments
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.moments import BinCounts
from directrix.tables import Table

X = np.random.default_rng(0).integers(0, 5, (30, 2)).astype(float)
Y = np.arange(30) % 2
BINNER = Binner(min_rows=1).fit(X)


@pytest.mark.parametrize(
    "arguments",
    [
        {"y": Y[:-1]},
        {"y": np.where(Y, np.nan, 0.0)},
        {"y": Y, "sample_weight": np.ones(3)},
        {"y": Y, "sample_weight": np.full(30, -1.0)},
        {"y": Y, "sample_weight": np.full(30, np.inf)},
        {"y": Y, "sample_weight": np.full(30, 1e-200)},
        {"y": Y, "fold": np.full(30, -1)},
        {"y": Y, "fold": Y + 0.5},
        {"y": Y, "classes": [0, 2]},
    ],
)
def test_what_moments_refuse_is_refused_in_the_same_words(arguments):
    with pytest.raises((ValueError, TypeError)) as expected:
        Moments.of(X, **arguments)
    with pytest.raises(expected.type) as caught:
        BinCounts.of(BINNER, X, **arguments)
    assert str(caught.value) == str(expected.value)


def test_rows_of_no_weight_are_ignored():
    weight = (np.arange(30) % 3).astype(float)
    y = np.where(weight, Y, 7)
    counts = BinCounts.of(BINNER, X, y, weight)
    kept = weight > 0
    assert counts == BinCounts.of(BINNER, X[kept], Y[kept], weight[kept])
    assert counts.classes.tolist() == [0, 1]


def test_no_rows_and_one_row():
    nothing = BinCounts.of(BINNER, X[:0], Y[:0])
    assert nothing == BinCounts.empty(BINNER)
    assert BinCounts.of(BINNER, X[:0], Y[:0], classes=[0, 1]).cells("x0").sum() == 0
    assert BinCounts.of(BINNER, X[:1], Y[:1]).cells(0).sum() == 1


def test_a_binner_must_be_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        BinCounts.of(Binner(), X, Y)


def test_columns_by_name_or_position():
    counts = BinCounts.of(BINNER, Table.of(X), Y)
    np.testing.assert_array_equal(counts.cells("x1"), counts.cells(1))
    for column in ("age", 2, -1, None):
        with pytest.raises(ColumnNotFoundError):
            counts.cells(column)


def test_large_whole_weights_stay_whole_and_larger_ones_become_real():
    most = BinCounts.of(BINNER, X, Y, np.full(30, 2.0**48))
    assert most.exact
    assert most.weight == 30 * 2**48
    assert isinstance(most.weight, int)
    assert not BinCounts.of(BINNER, X, Y, np.full(30, 2.0**60)).exact
