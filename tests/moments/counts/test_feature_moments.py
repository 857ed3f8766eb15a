"""Moments of features from counts, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from directrix.moments.counts.pair_counts import PairCounts, count_pairs
from directrix.moments.counts.storage import (
    cell_moments,
    feature_matrix,
    feature_moments,
    symmetric,
)
from directrix.tables import LevelBins, NumberBins
from directrix.tables.binner import onehot, sparse_features, thermometer

BINS = [
    NumberBins("age", "number", (18.0, 65.0), (10.0, 40.0, 70.0), (-1.0,)),
    LevelBins("town", ("Paris", "Rome")),
]
SIZES = [bins.n_cells for bins in BINS]


def counts_of(n=40, factor=1, weight=None):
    rng = np.random.default_rng(0)
    cells = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    weight = factor * rng.integers(1, 5, n) if weight is None else weight(rng, n)
    return cells, weight, count_pairs(cells, SIZES, np.zeros(n, np.int64), 1, weight)[0]


@pytest.mark.parametrize("runs_of", [thermometer, onehot])
def test_the_matrix_gives_the_features_of_cells(runs_of):
    cells, _, _ = counts_of()
    runs = [runs_of(bins) for bins in BINS]
    indicators = np.hstack([np.eye(size)[cells[:, k]] for k, size in enumerate(SIZES)])
    np.testing.assert_array_equal(
        indicators @ feature_matrix(runs).toarray().T, sparse_features(runs, cells).toarray()
    )


@pytest.mark.parametrize("factor", [1, 2**20 + 1, 2**46])
@pytest.mark.parametrize("runs_of", [thermometer, onehot])
def test_moments_are_exact_to_the_last_digits(runs_of, factor):
    cells, weight, counts = counts_of(factor=factor)
    runs = [runs_of(bins) for bins in BINS]
    group = feature_moments(counts, feature_matrix(runs))
    x = sparse_features(runs, cells).toarray().astype(int).tolist()
    w = [int(value) for value in weight]
    total = sum(w)
    mean = [
        Fraction(sum(a * row[i] for a, row in zip(w, x, strict=True)), total)
        for i in range(len(x[0]))
    ]
    assert group.weight == total
    assert group.weight_sq == float(sum(a * a for a in w))
    for i, exact in enumerate(mean):
        off = Fraction(float(group.mean[i])) + Fraction(float(group.mean_tail[i])) - exact
        assert abs(off) <= abs(exact) * Fraction(2) ** -100
        for j, other in enumerate(mean):
            scatter = sum(a * row[i] * row[j] for a, row in zip(w, x, strict=True))
            scatter -= total * exact * other
            assert group.scatter[i, j] == pytest.approx(float(scatter), rel=4e-16, abs=0)
            assert group.scatter[i, j] == group.scatter[j, i]


def test_a_constant_feature_has_no_scatter_whatever_the_weights():
    bins = [NumberBins("age", "number", (18.0,), (10.0, 40.0))]
    rng = np.random.default_rng(3)
    cells = np.full((1000, 1), 2)
    (counts,) = count_pairs(cells, [3], np.zeros(1000, np.int64), 1, rng.random(1000))
    group = feature_moments(counts, feature_matrix([thermometer(b) for b in bins]))
    assert group.mean.tolist() == [0.0, 1.0]
    assert not group.scatter.any()


def test_scatters_of_real_weights_obey_cauchy_schwarz():
    _, _, counts = counts_of(300, weight=lambda rng, n: rng.random(n) ** 20 + 1e-300)
    group = feature_moments(counts, feature_matrix([thermometer(b) for b in BINS]))
    bound = np.sqrt(np.multiply.outer(*[group.scatter.diagonal()] * 2))
    assert (np.abs(group.scatter) <= bound * (1 + 1e-15)).all()
    np.testing.assert_array_equal(group.scatter, group.scatter.T)


def test_no_rows_have_no_moments():
    nothing = PairCounts.empty(9)
    group = feature_moments(nothing, feature_matrix([onehot(b) for b in BINS]))
    assert group.count == group.weight == 0
    moments = cell_moments(nothing)
    assert moments.weight == 0
    assert not moments.mean.any()
    assert moments.second.nnz == 0


def test_the_upper_triangle_is_mirrored():
    upper = sparse.csr_array(np.triu(np.arange(16).reshape(4, 4)))
    full = symmetric(upper).toarray()
    np.testing.assert_array_equal(full, full.T)
    np.testing.assert_array_equal(np.triu(full), upper.toarray())
