"""Points in the coding of a direction rise, and every rise can be had."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directrix.cards.prior import CellKinds, directed_basis
from directrix.linear.signed_quadratic import signed_quadratic


def kinds(n_ordered, extra=1):
    means = np.sort(np.random.default_rng(n_ordered).normal(size=n_ordered))
    return CellKinds(1 + n_ordered + extra, slice(1, 1 + n_ordered), means)


@given(
    st.integers(1, 70),
    st.integers(2, 30),
    st.booleans(),
    st.integers(0, 1000),
)
def test_points_never_fall_whatever_the_coefficients(n_ordered, rank, reverse, seed):
    rng = np.random.default_rng(seed)
    cells = kinds(n_ordered)
    weight = rng.integers(0, 50, cells.n_cells).astype(float)
    rising = np.arange(1, 1 + n_ordered)[:: -1 if reverse else 1]
    basis, signs = directed_basis(cells, weight, rising, rank)
    coef = np.where(signs > 0, rng.exponential(size=len(signs)), rng.normal())
    points = basis @ coef
    assert (np.diff(points[rising]) >= -1e-9).all()
    if weight.sum() > 0:
        assert weight @ points == pytest.approx(0.0, abs=1e-8 * weight.sum())


@pytest.mark.parametrize("n_ordered", [2, 3, 8, 24])
def test_any_points_that_rise_can_be_had(n_ordered):
    cells = kinds(n_ordered)
    weight = np.ones(cells.n_cells)
    rising = np.arange(1, 1 + n_ordered)
    basis, signs = directed_basis(cells, weight, rising, 24)
    rng = np.random.default_rng(0)
    wanted = rng.normal(size=cells.n_cells)
    wanted[rising] = np.cumsum(rng.exponential(size=n_ordered) * rng.integers(0, 2, n_ordered))
    wanted -= wanted.mean()
    unit = 1e-9 * np.eye(basis.shape[1])
    coef = signed_quadratic(basis.T @ basis + unit, basis.T @ wanted, signs)
    np.testing.assert_allclose(basis @ coef, wanted, atol=1e-3)


def test_cells_without_a_direction_and_levels_in_an_order():
    cells = CellKinds(5, slice(1, 1))  # missing, other, a, b, c
    basis, signs = directed_basis(cells, np.ones(5), np.array([4, 2]), 24)
    np.testing.assert_array_equal(signs, [0, 0, 0, 1])
    risen = basis[:, 3]
    assert risen[2] > risen[4]
    assert np.ptp(risen[[0, 1, 3]]) == pytest.approx(0.0, abs=1e-12)
