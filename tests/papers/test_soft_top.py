"""A soft choice of the largest values."""

import numpy as np
import pytest

from directrix.papers.zhang_saha_vishwanathan_2011 import kth_largest, soft_top


def draw(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    values = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
    weight = rng.choice([0.0, 0.25, 1.0, 3.0], n)
    weight[0] = 1.0
    return values, weight, float(rng.uniform(0.0, 1.0) * weight.sum())


@pytest.mark.parametrize("seed", range(40))
def test_edge_is_where_the_largest_fill_the_quota(seed):
    values, weight, quota = draw(seed)
    edge = kth_largest(values, weight, quota)
    assert edge in values[weight > 0]
    assert weight @ (values > edge) <= quota <= weight @ (values >= edge) + 1e-12


def test_edge_of_equal_weights():
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    assert [kth_largest(values, 2.0, quota) for quota in (0.5, 2.0, 2.1, 9.0, 10.0)] == [
        5,
        5,
        4,
        1,
        1,
    ]
    assert kth_largest(values, np.full(5, 2.0), 2.1) == 4.0


@pytest.mark.parametrize("kappa", [0.0, 1e-9, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(20))
def test_quota_is_filled_by_shares_that_rise_with_the_values(seed, kappa):
    values, weight, quota = draw(seed)
    share = soft_top(values, weight, quota, kappa).share
    assert ((share >= 0) & (share <= 1)).all()
    # A value is exact to its rounding, of which κ is a multiple.
    assert weight @ share == pytest.approx(quota, abs=1e-12 if kappa != 1e-9 else 1e-5)
    assert (np.diff(share[np.argsort(values, kind="stable")]) >= 0).all()


def test_a_width_lost_in_rounding_is_none():
    values = np.array([1e9, 2e9, 3e9])
    assert soft_top(values, np.ones(3), 1.5, 1e-9).share.tolist() == [0.0, 0.5, 1.0]
