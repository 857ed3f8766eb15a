from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from directrix.rows.sums import exact_product, exact_sum

EPS = Fraction(1, 2**53)  # half a unit in the last place, relative


def floats(largest):
    return st.floats(-largest, largest)


def parts(operation, a, b):
    high, low = operation(np.array([a]), np.array([b]))
    return float(high[0]), float(low[0])


@given(floats(8e307), floats(8e307))
def test_a_sum_and_what_rounding_cut_off_are_exact(a, b):
    high, low = parts(exact_sum, a, b)
    assert high == a + b
    assert Fraction(high) + Fraction(low) == Fraction(a) + Fraction(b)


@given(floats(8e307), st.integers(-60, 60))
def test_a_sum_of_numbers_of_like_size_is_exact(a, exponent):
    b = -a * 2.0**exponent
    assume(abs(b) < 8e307)
    high, low = parts(exact_sum, a, b)
    assert Fraction(high) + Fraction(low) == Fraction(a) + Fraction(b)


@given(floats(1e150), floats(1e150))
def test_a_product_and_what_rounding_cut_off_are_exact(a, b):
    # Down to where the last bit of the exact product, at 2**-104 of it, is still a float.
    assume(min(abs(a), abs(b)) >= 1e-140 or a * b == 0 == min(abs(a), abs(b)))
    high, low = parts(exact_product, a, b)
    assert high == a * b
    assert Fraction(high) + Fraction(low) == Fraction(a) * Fraction(b)


@given(st.floats(1e295, 1.7e308), st.floats(1e-300, 1.0))
def test_beyond_its_range_a_product_is_rounded_but_never_spoilt(a, b):
    high, low = parts(exact_product, a, b)
    assert high == a * b
    assert np.isfinite(low)
    assert abs(Fraction(high) + Fraction(low) - Fraction(a) * Fraction(b)) <= EPS * Fraction(high)


@pytest.mark.parametrize("operation", [exact_sum, exact_product])
def test_operations_go_element_by_element_and_broadcast(operation):
    a, b = np.array([[0.1], [1e8], [-3.0]]), np.array([0.7, 1e-9])
    high, low = operation(a, b)
    assert high.shape == low.shape == (3, 2)
    for i in range(3):
        for j in range(2):
            assert (high[i, j], low[i, j]) == parts(operation, a[i, 0], b[j])
