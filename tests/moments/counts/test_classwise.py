"""What counts say about themselves."""

import numpy as np
import pytest

from directrix import Binner
from directrix.moments import BinCounts
from directrix.moments.counts.bin_counts import column_position

X = np.arange(12.0).reshape(6, 2)
Y = [0, 1, 1, 0, 1, 2]
BINNER = Binner(min_rows=1, max_bins=3).fit(X)


def test_the_representation_tells_rows_cells_classes_and_folds():
    counts = BinCounts.of(BINNER, X, Y, fold=[0, 0, 1, 1, 0, 1])
    assert repr(counts) == (
        "<BinCounts: 6 rows; 2 columns; 8 cells; classes {0: 2, 1: 3, 2: 1}; 2 folds>"
    )
    weighted = BinCounts.of(BINNER, X, Y, np.full(6, 1000))
    assert repr(weighted).endswith("2: 1}; weight 6,000>")
    real = BinCounts.of(BINNER, X, Y, np.full(6, 0.25))
    assert repr(real).endswith("; weight 1.5>")


def test_the_binner_gives_the_same_cells():
    counts = BinCounts.of(BINNER, X, Y)
    np.testing.assert_array_equal(counts.binner.cells(X), BINNER.cells(X))
    assert counts.binner.bins_ == BINNER.bins_
    counts.binner.fit(X + 100)  # another one each time
    assert counts.bins == BINNER.bins_


def test_positions_and_names():
    assert column_position(BINNER.bins_, "x1") == 1
    assert column_position(BINNER.bins_, np.int64(0)) == 0
    counts = BinCounts.of(BINNER, X, Y)
    assert counts.starts.tolist() == [0, 4, 8]
    assert counts.n_cells == 8


def test_a_fold_or_class_that_is_not_there():
    counts = BinCounts.of(BINNER, X, Y, fold=[0] * 6)
    assert counts.without_fold(0).count == 0
    with pytest.raises(ValueError, match="there is no fold 1: this summary has 1 folds"):
        counts.without_fold(1)
    with pytest.raises(ValueError, match="has 0 folds"):
        counts.unfolded().without_fold(0)
    with pytest.raises(ValueError, match=r"no class 5; the classes are \[0, 1, 2\]"):
        counts.pair(0, 1, 5)
    assert BinCounts.empty(BINNER).pair(0, 1).shape == (0, 4, 4)
    assert BinCounts.empty(BINNER).class_moments().weight == 0


def test_one_class_against_the_rest():
    counts = BinCounts.of(BINNER, X, Y, fold=[0, 1] * 3)
    for label in (0, 1, 2):
        expected = BinCounts.of(BINNER, X, np.array(Y) == label, fold=[0, 1] * 3)
        assert counts.one_vs_rest(label) == expected


def test_moments_of_very_many_features_are_refused():
    wide = np.random.default_rng(0).normal(size=(40, 400))
    counts = BinCounts.of(Binner(min_rows=1).fit(wide), wide, np.arange(40) % 2)
    with pytest.raises(ValueError, match="merge bins or drop columns with `rebin`"):
        counts.moments()
    with pytest.raises(ValueError, match="encoding must be thermometer or onehot"):
        counts.moments("ordinal")
    assert counts.class_moments(1).second.shape == (counts.n_cells,) * 2
