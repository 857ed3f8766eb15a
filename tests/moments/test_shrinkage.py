"""Shrinkage estimated from moments, with and without matrices."""

import numpy as np
import pytest

from directrix import Moments
from directrix.moments.class_moments import _sum_of_squares, oas, shrunk


def moments(factors, n=300, d=900, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, factors)) @ rng.normal(size=(factors, d))
    return Moments.of(X, np.arange(n) % 2, **options)


@pytest.mark.parametrize("factors", [0, 1, 5, 40])
def test_the_share_of_kept_rows_is_near_that_of_the_matrix(factors):
    matrix, kept = moments(factors).positive, moments(factors, keep_rows=True).positive
    assert _sum_of_squares(kept) == pytest.approx(_sum_of_squares(matrix), rel=0.05)
    assert oas(kept) == pytest.approx(oas(matrix), rel=0.06)


def test_the_squares_of_few_rows_are_exact():
    # Their random products span all that a covariance of five rows maps to.
    matrix, kept = moments(2, n=10).positive, moments(2, n=10, keep_rows=True).positive
    assert _sum_of_squares(kept) == pytest.approx(_sum_of_squares(matrix), rel=1e-9)


def test_a_share_of_one_is_a_multiple_of_the_identity():
    group = moments(1, d=4).positive
    np.testing.assert_allclose(shrunk(group, 1.0), group.variance.mean() * np.eye(4))
