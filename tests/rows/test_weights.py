"""Sample weights: what is refused, and sums after multiplication."""

from fractions import Fraction

import numpy as np
import pytest

from directrix.rows.labels import (
    checked_factor,
    checked_weight,
    require_moderate_weight,
    scaled_weights,
)


@pytest.mark.parametrize("weight", [[0, 1, 2], (0.5, 1.0, 1e300), np.ones(3, dtype=np.float32)])
def test_weights_are_floats_of_all_rows(weight):
    checked = checked_weight(weight, 3)
    assert checked.dtype == np.float64
    assert checked.tolist() == list(map(float, weight))


def test_no_rows_have_no_weights():
    assert checked_weight([], 0).shape == (0,)


@pytest.mark.parametrize("weight", [[1.0, 2.0], [[1.0], [2.0], [3.0]], 1.0, []])
def test_weights_of_other_rows_are_refused(weight):
    with pytest.raises(ValueError, match="one number for each of 3 rows"):
        checked_weight(weight, 3)


@pytest.mark.parametrize("wrong", [-1e-300, np.nan, np.inf, -np.inf])
def test_weights_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="finite and not negative"):
        checked_weight([1.0, wrong, 1.0], 3)


@pytest.mark.parametrize("weight", [1e-140, 1.0, 1e140])
def test_the_square_of_a_moderate_weight_is_a_normal_float(weight):
    require_moderate_weight(weight)
    share = weight**2 / 1e20
    assert np.finfo(float).tiny <= share < np.inf


@pytest.mark.parametrize("weight", [0.0, 0.9e-140, 1.1e140, np.inf, np.nan, -1.0])
def test_weights_beyond_that_are_refused(weight):
    with pytest.raises(ValueError, match=r"weights of class 'good' add up to .* by one factor"):
        require_moderate_weight(weight, "class 'good'")


@pytest.mark.parametrize("factor", [0, 2, 0.5, np.float32(0.25), np.int64(3), True, Fraction(1, 4)])
def test_factors_are_floats(factor):
    assert type(checked_factor(factor)) is float
    assert checked_factor(factor) == factor


@pytest.mark.parametrize("factor", [-1e-9, np.nan, np.inf])
def test_factors_that_are_no_weights_are_refused(factor):
    with pytest.raises(ValueError, match="finite number that is not negative"):
        checked_factor(factor)


@pytest.mark.parametrize("factor", [1e-30, 0.1, 1.0, 7.0, 1e30])
@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_sums_are_those_of_multiplied_weights(factor, size):
    weights = [size * w for w in (0.5, 1.0, 2.75, 1e-3)]
    exact = [Fraction(factor) * Fraction(w) for w in weights]
    total, squares = scaled_weights(sum(weights), sum(w * w for w in weights), factor)
    assert total == pytest.approx(float(sum(exact)), rel=1e-15)
    assert squares == pytest.approx(float(sum(w * w for w in exact)), rel=2e-15)


def test_a_factor_that_leaves_the_range_is_refused():
    # The square of the factor alone would underflow or overflow; the sums do not.
    assert scaled_weights(1e139, 1e278, 1e-200) == pytest.approx((1e-61, 1e-122))
    for factor in (1e-200, 1e200):
        with pytest.raises(ValueError, match="multiply all weights by one factor"):
            scaled_weights(4.0, 4.0, factor)
