"""The hinge of every pair: cases known by hand."""

import numpy as np
import pytest

from directrix.linear.pairwise import PairwiseHinge

PAIR = np.array([True, False])


@pytest.mark.parametrize(
    ("apart", "value", "slope"),
    [(2.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.8, 0.05, 0.5), (0.6, 0.2, 1.0), (-1.0, 1.8, 1.0)],
)
def test_one_pair(apart, value, slope):
    loss, slopes = PairwiseHinge(kappa=0.4).value_and_grad(
        PAIR, np.array([apart, 0.0]), np.array([2.0, 3.0])
    )
    assert loss == pytest.approx(value, abs=1e-15)
    assert slopes == pytest.approx([-slope, slope], abs=1e-15)


def test_many_rows_take_the_fast_sort_and_agree():
    rng = np.random.default_rng(0)
    n = 300_000
    positive = rng.random(n) < 0.5
    scores = np.round(rng.normal(size=n) + positive, 1)  # few levels, of which all pairs are few
    levels, at = np.unique(scores, return_inverse=True)
    of_pos, of_neg = (
        np.bincount(at[members], minlength=len(levels)) for members in (positive, ~positive)
    )
    of_both = np.repeat([True, False], len(levels)), np.tile(levels, 2)
    few = PairwiseHinge().value_and_grad(*of_both, np.concatenate([of_pos, of_neg]).astype(float))
    value, slope = PairwiseHinge().value_and_grad(positive, scores, np.ones(n))
    assert value == pytest.approx(few[0], rel=1e-11)
    shared = np.bincount(at + len(levels) * ~positive, slope, 2 * len(levels))
    assert shared == pytest.approx(few[1], abs=1e-12)


def test_spread_that_drowns_the_corner():
    positive = np.array([True, True, False, False])
    for scale in (1e3, 1e6, 1e9):
        scores = scale * np.array([1.0, -1.0, 0.5, -3.0])
        value = PairwiseHinge().value_and_grad(positive, scores, np.ones(4))[0]
        # Off by rounding, or by what one pair inside the corner could be: κ / 8.
        truth = (1.5 * scale + 1.0 - 0.05) / 4.0
        assert value == pytest.approx(truth, rel=1e-14, abs=0.1 / 8.0)


@pytest.mark.parametrize("kappa", [-0.1, np.inf, np.nan])
def test_width_is_a_number_from_zero_up(kappa):
    with pytest.raises(ValueError, match="kappa must be a number from zero up"):
        PairwiseHinge(kappa).value_and_grad(PAIR, np.zeros(2), np.ones(2))
