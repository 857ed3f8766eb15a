"""Counts from moments: recovered exactly, or refused."""

import numpy as np
import pytest
from scipy import sparse

from directrix import Binner, Moments
from directrix.tables import BinCounts, LevelBins, NumberBins
from directrix.tables.binner import onehot, thermometer
from directrix.tables.counts.storage import cell_matrix, feature_matrix

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (200, 3)).astype(float)
Y = RNG.integers(0, 2, 200)
BINNER = Binner(min_rows=1).fit(X)
BINS = [
    NumberBins("a", "number", (1.0, 2.0, 3.0), (0.0, 1.0, 2.0, 3.0), (7.0, 8.0)),
    LevelBins("b", ("x", "y")),
    NumberBins("c", "number", (), (0.0,), (7.0,)),
    LevelBins("d", ("x", "y", "z"), (), (0, 0, 1)),
    NumberBins("e", "boolean", (0.5,), (0.0, 1.0)),
]


@pytest.mark.parametrize("encoding", ["thermometer", "onehot"])
def test_cells_of_features_of_cells_are_the_cells(encoding):
    features = feature_matrix(
        [(thermometer if encoding == "thermometer" else onehot)(b) for b in BINS]
    )
    n_cells = features.shape[1]
    cells = np.zeros((n_cells, 50), dtype=int)
    start = 0
    for bins in BINS:
        cells[start + RNG.integers(0, bins.n_cells, 50), range(50)] = 1
        start += bins.n_cells
    with_constant = np.vstack([features @ cells, np.ones(50, dtype=int)])
    back = cell_matrix(BINS, thermometer=encoding == "thermometer")
    np.testing.assert_array_equal(back @ with_constant, cells)


@pytest.mark.parametrize("weight", [1, 3, 10**6, 10**8])
def test_many_rows_are_recovered(weight):
    counts = BinCounts.of(BINNER, X, Y, np.full(200, weight))
    assert BinCounts.from_moments(counts.moments(), BINNER) == counts


def test_merged_moments_are_recovered():
    parts = [
        Moments.of(BINNER.transform(X[k::7]), Y[k::7], feature_names=BINNER.get_feature_names_out())
        for k in range(7)
    ]
    total = sum(parts[1:], parts[0]) - parts[3]
    kept = np.arange(200) % 7 != 3
    assert BinCounts.from_moments(total, BINNER) == BinCounts.of(BINNER, X[kept], Y[kept])


def test_classes_and_folds_are_kept():
    fold = RNG.integers(0, 3, 200)
    counts = BinCounts.of(BINNER, X, Y, fold=fold, classes=[0, 1, 2])
    again = BinCounts.from_moments(counts.moments(), BINNER)
    assert again == counts
    assert again.n_folds == 3
    assert again.classes.tolist() == [0, 1, 2]


def test_weights_that_are_not_whole_are_refused():
    counts = BinCounts.of(BINNER, X, Y, np.full(200, 0.3))
    with pytest.raises(ValueError, match="Weights must be whole numbers"):
        BinCounts.from_moments(counts.moments(), BINNER)


def test_beyond_the_digits_of_moments_nothing_is_recovered():
    counts = BinCounts.of(BINNER, X, Y, np.full(200, 2**40))
    with pytest.raises(ValueError, match="count the rows themselves"):
        BinCounts.from_moments(counts.moments(), BINNER)


def test_moments_of_something_else_are_refused():
    numbers = RNG.normal(size=(200, len(BINNER.get_feature_names_out())))
    with pytest.raises(ValueError, match="not those of whole numbers of rows"):
        BinCounts.from_moments(Moments.of(numbers, Y), BINNER)
    whole = sparse.csr_array(np.rint(numbers))
    with pytest.raises(ValueError, match="not those of the features of this binner"):
        BinCounts.from_moments(Moments.of(whole, Y), BINNER)
    with pytest.raises(ValueError, match="the moments are of 2 features"):
        BinCounts.from_moments(Moments.of(X[:, :2], Y), BINNER)
    named = Moments.of(numbers, Y, feature_names=[f"f{k}" for k in range(numbers.shape[1])])
    with pytest.raises(ValueError, match="a feature 'f0' where the binner has 'x0: missing'"):
        BinCounts.from_moments(named, BINNER)
    with pytest.raises(ValueError, match="moments of cell numbers do not tell counts"):
        BinCounts.from_moments(Moments.of(X, Y), Binner(encoding="ordinal").fit(X))
