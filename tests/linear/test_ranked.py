"""Sums over pairs: the sort they begin with, and their exactness."""

import numpy as np
import pytest

from directrix.linear.pairwise import _FEW, Side, rising


@pytest.mark.parametrize(
    "values",
    [
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: np.round(rng.normal(size=n), 2),
        lambda rng, n: 1.0 + 1e-14 * rng.normal(size=n),  # differing only in their last bits
        lambda rng, n: rng.choice([-np.inf, -0.0, 0.0, 5e-324, -5e-324, np.inf], n),
        lambda rng, n: np.exp(40.0 * rng.normal(size=n)) * rng.choice([-1.0, 1.0], n),
    ],
    ids=["normal", "ties", "last bits", "special", "all sizes"],
)
def test_many_rows_are_sorted_exactly(values):
    rng = np.random.default_rng(0)
    v = values(rng, 3 * _FEW)
    rows = np.flatnonzero(rng.random(len(v)) < 0.7)
    order = rising(v, rows)
    assert (np.sort(order) == rows).all()
    assert (v[order][1:] >= v[order][:-1]).all()


def test_few_rows_are_sorted_too():
    assert rising(np.array([3.0, 9.0, 1.0, 2.0]), np.array([0, 2, 3])).tolist() == [2, 3, 0]


def test_small_sums_are_as_exact_as_large_ones():
    lack = np.array([1e12, 1e-3, -1e12])
    side = Side(np.arange(3), lack, np.ones(3))
    at = np.array([1e12, -1e-3 + 1e-9, -1.0, -2e12])
    far, near, none, lowest = side.hinges(1e12)(at)
    assert far == pytest.approx(3e12)
    assert near == pytest.approx(1e12)
    assert none == pytest.approx(1e12 - 1.0, rel=1e-15)
    assert lowest == 0.0
