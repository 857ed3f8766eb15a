"""A subspace for the lines of very many features, against exact solutions."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from directrix.frontier import pencil as _wide_basis
from directrix.frontier.pencil import MOST_DIRECTIONS, TOLERANCE, Shrunk, wide_basis

D = 1000
ANGLES = np.pi / 2 * np.array([0.0025, 0.1, 0.3, 0.5, 0.8, 0.95, 0.9975])


def problem(d=D, n=600, factors=5, seed=0):
    """Return the covariances of two classes of n rows each, and a difference of means."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(factors, d))
    covariances = []
    for spread in (1.0, 2.0):
        X = rng.normal(size=(n, d)) + spread * rng.normal(size=(n, factors)) @ loadings
        covariances.append(np.cov(X / np.sqrt(1.0 + spread**2 * factors), rowvar=False))
    return (*covariances, rng.normal(size=d) / np.sqrt(n))


POSITIVE, NEGATIVE, DELTA = problem()


def side(covariance, share):
    return Shrunk(
        aslinearoperator(covariance), share, float(np.trace(covariance) / len(covariance))
    )


def shrunk(covariance, share):
    level = np.trace(covariance) / len(covariance)
    return (1.0 - share) * covariance + share * level * np.eye(len(covariance))


def errors(basis, share, problem=(POSITIVE, NEGATIVE, DELTA), angles=ANGLES):
    """Return the relative error of the lines of the basis, in the norm of the pencil."""
    positive, negative, delta = problem
    result = []
    for angle in angles:
        mixed = np.cos(angle) * shrunk(positive, share) + np.sin(angle) * shrunk(negative, share)
        exact = np.linalg.solve(mixed, delta)
        V = basis.vectors
        levels = [np.trace(covariance) / len(delta) for covariance in (positive, negative)]
        within = sum(
            factor * ((1.0 - share) * projected + share * level * np.eye(len(projected)))
            for factor, projected, level in zip(
                (np.cos(angle), np.sin(angle)),
                (basis.positive, basis.negative),
                levels,
                strict=True,
            )
        )
        error = exact - V @ np.linalg.solve(within, basis.delta)
        result.append(np.sqrt((error @ mixed @ error) / (exact @ mixed @ exact)))
    return np.array(result)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_the_lines_of_all_angles_have_a_bounded_error(share):
    basis = wide_basis(side(POSITIVE, share), side(NEGATIVE, share), DELTA)
    assert basis.vectors.shape[1] < MOST_DIRECTIONS
    assert basis.error <= TOLERANCE
    assert errors(basis, share).max() <= basis.error


def test_one_basis_serves_more_shrinkage_too():
    basis = wide_basis(side(POSITIVE, 0.05), side(NEGATIVE, 0.05), DELTA)
    for share in (0.1, 0.3, 0.7, 1.0):
        assert errors(basis, share).max() <= TOLERANCE


def test_the_covariances_are_those_of_the_basis():
    basis = wide_basis(side(POSITIVE, 0.2), side(NEGATIVE, 0.4), DELTA)
    V = basis.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    np.testing.assert_allclose(V.T @ POSITIVE @ V, basis.positive, atol=1e-12)
    np.testing.assert_allclose(V.T @ NEGATIVE @ V, basis.negative, atol=1e-12)
    np.testing.assert_allclose(V.T @ DELTA, basis.delta, atol=1e-14)


def test_a_finer_tolerance_gives_more_directions_and_less_error(monkeypatch):
    coarse = wide_basis(side(POSITIVE, 0.2), side(NEGATIVE, 0.2), DELTA)
    monkeypatch.setattr(_wide_basis, "TOLERANCE", 1e-6)
    monkeypatch.setattr(_wide_basis, "MOST_DIRECTIONS", 400)
    fine = wide_basis(side(POSITIVE, 0.2), side(NEGATIVE, 0.2), DELTA)
    assert fine.vectors.shape[1] > coarse.vectors.shape[1]
    at = np.pi / 2 / (1.0 + np.exp(-_wide_basis._LOGITS))
    assert errors(fine, 0.2, angles=at).max() <= fine.error <= 1e-6
    assert errors(fine, 0.2).max() < 1e-3  # between the angles that were looked at


def test_few_rows_give_few_directions_and_exact_lines():
    few = problem(n=6, factors=2)
    basis = wide_basis(side(few[0], 1e-3), side(few[1], 1e-3), few[2])
    assert basis.vectors.shape[1] <= 13  # those of the rows, and the difference of the means
    assert errors(basis, 0.1, few).max() <= 1e-6


def test_directions_are_bounded_without_much_shrinkage():
    basis = wide_basis(side(POSITIVE, 1e-3), side(NEGATIVE, 1e-3), DELTA)
    assert basis.vectors.shape[1] == MOST_DIRECTIONS
    assert basis.error > TOLERANCE


def test_equal_means_have_no_line_and_no_error():
    basis = wide_basis(side(POSITIVE, 0.2), side(NEGATIVE, 0.2), np.zeros(D))
    assert basis.vectors.shape == (D, 1)
    assert basis.error == 0.0
    assert not basis.delta.any()


def test_fewer_features_than_directions():
    small = problem(d=5, n=50)
    basis = wide_basis(side(small[0], 1e-3), side(small[1], 1e-3), small[2])
    assert errors(basis, 1e-3, small).max() <= TOLERANCE
