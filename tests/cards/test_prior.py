"""A coding is the square root of a prior: its product with itself is what the formula says."""

import numpy as np
import pytest

from directrix.cards.prior import (
    CellKinds,
    cell_weights,
    column_basis,
    merge_neighbours,
    straight_basis,
)
from directrix.tables import Binner

ALL = 1000  # more directions than any column has


def number(bins, *, special=0, missing=1.0, seed=0):
    """Return the cells of a column of numbers, and the weight of each."""
    rng = np.random.default_rng(seed)
    kinds = CellKinds(
        1 + bins + special, slice(1, 1 + bins), np.sort(rng.normal(size=bins)).cumsum()
    )
    return kinds, np.array([missing, *rng.uniform(0.5, 3.0, bins), *[2.0] * special])


def levels(n):
    return CellKinds(n, slice(1, 1))


def prior(weight, means):
    """Return the covariance of the points of ordered bins, term by term."""
    n, share = len(weight), weight / weight.sum()
    centre = [share[:k].sum() + share[k] / 2 for k in range(n)]
    whole = centre[-1] - centre[0]
    gap = [0.5 * (centre[k + 1] - centre[k]) / whole + 0.5 / (n - 1) for k in range(n - 1)]
    at = np.array([sum(gap[:k]) for k in range(n)])
    jumps, bends = np.zeros((n, n)), np.zeros((n, n))
    for k in range(n - 1):
        step = (np.arange(n) > k).astype(float)
        jumps += gap[k] * np.outer(step, step)
    if n < 4:
        return jumps
    for k in range(1, n - 1):
        hinge = np.clip(at - at[k], 0.0, None)
        bends += gap[k] * np.outer(hinge, hinge)
    bends += np.outer(at - at.mean(), at - at.mean())
    line = means - share @ means
    line /= np.sqrt(share @ line**2)
    return jumps + 12.0 * bends + 0.3 * np.outer(line, line)


@pytest.mark.parametrize("bins", [2, 3, 4, 5, 12])
def test_the_coding_of_all_directions_is_a_root_of_the_prior(bins):
    kinds, weight = number(bins, special=2)
    basis = column_basis(kinds, weight, ALL, centred=False)
    expected = np.eye(kinds.n_cells)  # missing and special values: independent, of variance one
    inside = kinds.ordered
    expected[inside, inside] = prior(weight[inside], kinds.means)
    np.testing.assert_allclose(basis @ basis.T, expected, atol=1e-9)


@pytest.mark.parametrize("bins", [2, 4, 12])
def test_a_centred_coding_is_a_root_of_the_centred_prior(bins):
    kinds, weight = number(bins, special=1)
    basis = column_basis(kinds, weight, ALL, centred=True)
    np.testing.assert_allclose(weight @ basis, 0.0, atol=1e-9)
    # Ordered bins are centred by themselves, so that other cells lie about their mean.
    inside, whole = kinds.ordered, np.eye(kinds.n_cells)
    share = weight[inside] / weight[inside].sum()
    centre = np.eye(bins) - share
    whole[inside, inside] = centre @ prior(weight[inside], kinds.means) @ centre.T
    centre = np.eye(kinds.n_cells) - weight / weight.sum()
    np.testing.assert_allclose(basis @ basis.T, centre @ whole @ centre.T, atol=1e-9)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_fewer_directions_are_the_best_of_that_number(rank):
    kinds, weight = number(20)
    whole = column_basis(kinds, weight, ALL, centred=True)
    basis = column_basis(kinds, weight, rank, centred=True)
    assert basis.shape == (21, rank)
    sizes = np.linalg.eigvalsh(whole @ whole.T)[::-1]
    left = np.linalg.eigvalsh(whole @ whole.T - basis @ basis.T)[::-1]
    np.testing.assert_allclose(left[0], sizes[rank], rtol=1e-9)
    # Directions are orthogonal, each as long as its deviation, the largest first.
    np.testing.assert_allclose(basis.T @ basis, np.diag(sizes[:rank]), atol=1e-9)


def test_a_jump_costs_more_with_more_cuts_and_a_rise_does_not():
    jumps, rises = [], []
    for bins in (8, 16, 32, 64):
        kinds = CellKinds(1 + bins, slice(1, 1 + bins), np.arange(bins) / bins)
        basis = column_basis(kinds, np.r_[0.0, np.ones(bins)], ALL, centred=True)[1:]
        inverse = np.linalg.pinv(basis @ basis.T, rcond=1e-9)
        step = np.where(np.arange(bins) < bins // 2, -0.5, 0.5)
        rise = np.linspace(-0.5, 0.5, bins)
        jumps.append(step @ inverse @ step)
        rises.append(rise @ inverse @ rise)
    growth = np.divide(jumps[1:], jumps[:-1])
    assert (growth > 1.5).all()  # about twice for twice the cuts
    assert max(rises) < 1.2 * min(rises)


def test_levels_are_independent_and_those_without_rows_have_no_points():
    weight = np.array([0.0, 5.0, 3.0, 0.0, 2.0])
    for centred in (False, True):
        basis = column_basis(levels(5), weight, 2, centred=centred).toarray()
        np.testing.assert_array_equal(basis @ basis.T, np.diag((weight > 0).astype(float)))
    np.testing.assert_array_equal(straight_basis(levels(5), weight).toarray(), basis)


def test_a_cell_without_rows_is_an_average_row():
    kinds, weight = number(10, special=2, missing=0.0)
    weight[-1] = 0.0
    basis = column_basis(kinds, weight, ALL, centred=True)
    # Missing and the last special value have points of no kind; the first special one has.
    away = basis @ basis.T
    share = weight[-2] / weight.sum()
    np.testing.assert_allclose(away[[0, -1]][:, [0, -1]], np.full((2, 2), share**2), atol=1e-12)
    assert away[-2, -2] == pytest.approx((1.0 - share) ** 2)
    # An ordered bin without rows lies between its neighbours.
    weight[5] = 0.0
    basis = column_basis(kinds, weight, 1, centred=True)[:, 0]
    assert min(basis[4], basis[6]) < basis[5] < max(basis[4], basis[6])


@pytest.mark.parametrize("centred", [False, True])
def test_a_column_of_one_bin_has_nothing_to_tell(centred):
    kinds = CellKinds(2, slice(1, 2), np.array([7.0]))
    assert column_basis(kinds, np.array([0.0, 9.0]), ALL, centred=centred).shape == (2, 0)
    np.testing.assert_array_equal(straight_basis(kinds, np.array([0.0, 9.0])), 0.0)
    # With missing values it tells them apart.
    basis = column_basis(kinds, np.array([3.0, 9.0]), ALL, centred=centred)
    assert basis.shape == (2, 1)
    assert basis[0, 0] != basis[1, 0]


def test_no_rows_at_all_give_no_directions():
    kinds, weight = number(5, special=1)
    assert column_basis(kinds, 0.0 * weight, ALL, centred=True).shape == (7, 0)
    assert straight_basis(kinds, 0.0 * weight).shape == (7, 0)


def test_directions_are_positive_where_they_are_largest():
    for seed in range(20):
        kinds, weight = number(9, seed=seed)
        basis = column_basis(kinds, weight, 6, centred=True)
        largest = np.abs(basis).argmax(axis=0)
        assert (basis[largest, np.arange(6)] > 0).all()


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e307])
def test_units_of_a_column_do_not_matter(scale):
    kinds, weight = number(8)
    plain = kinds.means / np.abs(kinds.means).max()
    one, other = (CellKinds(9, slice(1, 9), means) for means in (plain, plain * scale))
    for make in (straight_basis, lambda *cells: column_basis(*cells, 4, centred=True)):
        np.testing.assert_allclose(make(other, weight), make(one, weight), rtol=1e-4, atol=1e-4)


def test_a_straight_coding_is_the_standardised_column():
    kinds, weight = number(8, special=1)
    basis = straight_basis(kinds, weight)
    line, share = basis[1:-1, -1], weight[1:-1] / weight[1:-1].sum()
    assert share @ line == pytest.approx(0.0, abs=1e-12)
    assert share @ line**2 == pytest.approx(1.0)
    slope = np.ptp(line) / np.ptp(kinds.means)
    np.testing.assert_allclose(np.diff(line), slope * np.diff(kinds.means))
    np.testing.assert_array_equal(basis[[0, -1], :2], np.eye(2))
    np.testing.assert_array_equal(basis[[0, -1], 2], 0.0)


def test_kinds_and_weights_are_those_of_the_bins():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), rng.normal(size=60)])
    table = [[x, "abc"[int(k)], None if z > 1 else z] for x, k, z in rows]
    binner = Binner(special_values={"x0": [-1.0]}).fit(table)
    for bins, cells in zip(binner.bins_, binner.cells(table).T, strict=True):
        kinds = CellKinds.of(bins)
        assert kinds.n_cells == bins.n_cells
        assert kinds.n_ordered == bins.n_ordered
        assert tuple(cell_weights(kinds, cells, np.ones(60))) == bins.weights


class TestMergeNeighbours:
    def test_few_cells_stay(self):
        assert merge_neighbours(np.array([1.0, 0.0, 5.0]), 3).tolist() == [0, 1, 2]

    @pytest.mark.parametrize("most", [2, 5, 32])
    def test_groups_are_neighbours_of_about_equal_weight(self, most):
        weight = np.random.default_rng(0).uniform(0.5, 1.5, 200)
        group = merge_neighbours(weight, most)
        assert set(np.diff(group)) <= {0, 1}
        assert group[0] == 0
        assert group[-1] == most - 1
        totals = np.bincount(group, weight)
        assert totals.max() < 1.5 * weight.sum() / most

    def test_a_heavy_cell_leaves_groups_to_the_others(self):
        weight = np.ones(100)
        weight[40] = 1000.0
        group = merge_neighbours(weight, 10)
        assert group[-1] + 1 >= 8  # it counts for two groups, of which it is one
        assert np.bincount(group)[group[40]] < 15

    @pytest.mark.parametrize("weight", [np.zeros(50), np.r_[np.zeros(49), 1.0]])
    def test_cells_without_rows_are_merged_too(self, weight):
        group = merge_neighbours(weight, 8)
        assert set(np.diff(group)) <= {0, 1}
        assert 0 < group[-1] + 1 <= 8
