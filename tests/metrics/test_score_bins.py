import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directrix.metrics.score_histogram import BINS, bin_of, bins_of_sums, centres, edges


def test_far_scores_are_in_the_end_bins():
    far = np.array([-np.inf, -1e300, -1e6, -400.0, 400.0, 1e6, 1e300, np.inf])
    assert bin_of(far).tolist() == [0] * 4 + [BINS - 1] * 4


def test_every_bin_holds_its_centre_and_ends_at_its_edges():
    np.testing.assert_array_equal(bin_of(centres()), np.arange(BINS))
    lower, upper = edges()[:-1], edges()[1:]
    assert (lower < centres()).all()
    assert (centres() < upper).all()
    assert lower[0] == -np.inf
    assert upper[-1] == np.inf
    inner = edges()[1:-1]
    gap = np.maximum(np.abs(inner), 1.0) * 1e-9  # on either side of an edge
    np.testing.assert_array_equal(bin_of(inner + gap), np.arange(1, BINS))
    np.testing.assert_array_equal(bin_of(inner - gap), np.arange(BINS - 1))


def test_bins_are_fine_where_scores_are():
    widths = np.diff(edges()[1:-1])
    assert widths[np.abs(centres()[1:-1]) < 1].max() < 0.005
    assert edges()[-2] > 250


def test_edges_are_exact():
    # Nine binary digits, so that no library rounds them.
    inner = edges()[1:-1]
    np.testing.assert_array_equal(inner.astype(np.float32), inner)
    np.testing.assert_array_equal(inner * 256.0, np.round(inner * 256.0))
    np.testing.assert_array_equal(inner, -inner[::-1])


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_higher_score_is_in_no_lower_bin(one, other):
    low, high = bin_of(np.sort([one, other]))
    assert low <= high


@given(st.floats(-250.0, 250.0))
def test_a_score_lies_between_the_edges_of_its_bin(score):
    bin_index = int(bin_of(np.array([score]))[0])
    rounding = (1.0 + abs(score)) * 2.0**-52
    assert edges()[bin_index] - rounding <= score <= edges()[bin_index + 1] + rounding


def test_equal_scores_are_in_one_bin_whatever_their_sign_bit():
    assert bin_of(np.array([-0.0, 0.0])).tolist() == [BINS // 2] * 2


@pytest.mark.parametrize("offset", [0, 7, np.arange(5)], ids=["none", "one", "many"])
def test_an_offset_is_added_to_the_bins(offset):
    scores = np.linspace(-3.0, 3.0, 5)
    np.testing.assert_array_equal(bins_of_sums(scores.copy(), offset), bin_of(scores) + offset)
