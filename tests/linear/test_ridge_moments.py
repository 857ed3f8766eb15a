"""Lines of class moments under a ridge are those of the formula, however they are solved."""

import numpy as np
import pytest
from scipy import sparse

from directrix.linear.pencil import RidgeMoments

N = 80


def coded(n=N, seed=0):
    rng = np.random.default_rng(seed)
    bases = rng.normal(size=(4, 3)), rng.normal(size=(5, 4))
    cells = np.column_stack([rng.integers(0, 4, n), rng.integers(0, 5, n)])
    return np.hstack([bases[0][cells[:, 0]], bases[1][cells[:, 1]]])


def labelled(n=N, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.4, rng.uniform(0.5, 2.0, n)


def class_moments(X, positive, weight):
    """Return means and covariances of both classes, by NumPy."""
    both = []
    for side in (positive, ~positive):
        mean = np.average(X[side], axis=0, weights=weight[side])
        both.append((mean, np.cov(X[side].T, aweights=weight[side], ddof=0)))
    return both


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_moments_are_weighted_means_and_covariances(make):
    X, (positive, weight) = coded(), labelled()
    ours = RidgeMoments.of(make(X), positive, weight)
    (mean_pos, cov_pos), (mean_neg, cov_neg) = class_moments(X, positive, weight)
    np.testing.assert_allclose(ours.delta, mean_pos - mean_neg, atol=1e-5)
    np.testing.assert_allclose(ours.mean_neg, mean_neg, atol=1e-5)
    np.testing.assert_allclose(ours.cov_pos, cov_pos, atol=1e-5)
    np.testing.assert_allclose(ours.cov_neg, cov_neg, atol=1e-5)


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, np.pi / 2])
def test_a_line_is_that_of_the_formula(ridge, angle):
    X, (positive, weight) = coded(), labelled()
    (line,) = RidgeMoments.of(X, positive, weight).lines([(ridge, angle)])
    (mean_pos, cov_pos), (mean_neg, cov_neg) = class_moments(X, positive, weight)
    mixed = np.cos(angle) * cov_pos + np.sin(angle) * cov_neg + ridge * np.eye(7)
    expected = np.linalg.solve(mixed, mean_pos - mean_neg)
    cosine = line[:-1] @ expected / np.linalg.norm(line[:-1]) / np.linalg.norm(expected)
    assert cosine == pytest.approx(1.0, abs=1e-6)
    # Its scores: mean zero for the negatives, variance one in the mean of both classes.
    scores = X @ line[:-1] + line[-1]
    spreads = [
        np.average(
            (scores[side] - np.average(scores[side], weights=weight[side])) ** 2,
            weights=weight[side],
        )
        for side in (positive, ~positive)
    ]
    assert np.average(scores[~positive], weights=weight[~positive]) == pytest.approx(0.0, abs=1e-9)
    assert np.mean(spreads) == pytest.approx(1.0)
    assert np.average(scores[positive], weights=weight[positive]) > 0


def test_many_ridges_by_one_decomposition_are_few_ridges_one_by_one():
    moments = RidgeMoments.of(coded(), *labelled())
    settings = [(ridge, angle) for ridge in np.logspace(-3, 1, 9) for angle in (0.2, np.pi / 4)]
    many = moments.lines(settings)
    alone = np.vstack([moments.lines([setting]) for setting in settings])
    np.testing.assert_allclose(many, alone, rtol=1e-7, atol=1e-9)


def test_rows_of_weight_zero_do_not_count():
    X, (positive, weight) = coded(), labelled()
    weight[::3] = 0.0
    flipped = np.where(weight == 0, ~positive, positive)
    ours, theirs = (RidgeMoments.of(X, each, weight) for each in (positive, flipped))
    kept = np.flatnonzero(weight)
    alone = RidgeMoments.of(X[kept], positive[kept], weight[kept])
    for other in (theirs, alone):
        np.testing.assert_allclose(ours.lines([(0.1, 0.5)]), other.lines([(0.1, 0.5)]), atol=1e-12)


def test_weights_are_repetitions_and_their_unit_does_not_matter():
    X, (positive, _) = coded(), labelled()
    copies = np.random.default_rng(3).integers(1, 4, N)
    index = np.repeat(np.arange(N), copies)
    weighted = RidgeMoments.of(X, positive, copies.astype(float)).lines([(0.1, 0.5)])
    repeated = RidgeMoments.of(X[index], positive[index], np.ones(len(index))).lines([(0.1, 0.5)])
    scaled = RidgeMoments.of(X, positive, 1e-90 * copies).lines([(0.1, 0.5)])
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(weighted, scaled, rtol=1e-10, atol=1e-12)


def test_an_indefinite_covariance_is_solved_all_the_same():
    # As sums in single precision may leave it: an eigenvalue below minus the ridge.
    plain = RidgeMoments.of(coded(), *labelled())
    vector = np.linalg.eigh(plain.cov_pos)[1][:, :1]
    spoiled = RidgeMoments(
        plain.delta, plain.mean_neg, *(c - 1e-1 * vector @ vector.T for c in (plain.cov_pos,) * 2)
    )
    (line,) = spoiled.lines([(1e-6, 0.5)])
    assert np.isfinite(line).all()
    assert line[:-1] @ plain.delta > 0


def test_one_row_of_a_class_is_enough():
    positive = np.arange(N) == 5
    lines = RidgeMoments.of(coded(), positive, np.ones(N)).lines([(1e-3, 0.5), (1.0, 0.02)])
    assert np.isfinite(lines).all()


def test_without_features_there_is_an_intercept_of_zero():
    moments = RidgeMoments.of(np.empty((N, 0)), *labelled())
    for settings in ([(1.0, 0.5)], [(ridge, 0.5) for ridge in np.logspace(-3, 1, 9)]):
        np.testing.assert_array_equal(moments.lines(settings), np.zeros((len(settings), 1)))
