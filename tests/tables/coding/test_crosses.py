"""Crosses are found where the effects of two columns do not add up, and nowhere else."""

import numpy as np
import pytest
from scipy.special import expit

from directrix.tables.coding.crosses import (
    CrossSearch,
    NullDistribution,
    best_quadrant,
    cross_cells,
)
from directrix.tables.coding.prior import CellKinds

N = 600


def search(cells, positive, chance=0.5, *, loose=(), weight=None):
    places = {k: np.arange(int(cells[:, k].max()) + 1) for k in range(cells.shape[1])}
    weight = np.ones(len(cells)) if weight is None else weight
    chance = np.broadcast_to(chance, len(cells))
    return CrossSearch(places, loose, cells, positive, chance, weight).run(20)


def drawn(chance, seed=0):
    return np.random.default_rng(seed).random(len(chance)) < chance


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_xor_of_numbers_is_found(seed):
    cells = np.random.default_rng(seed).integers(1, 21, (N, 8))
    low = cells <= 10
    (cross,) = search(cells, drawn(np.where(low[:, 2] ^ low[:, 5], 0.75, 0.25), seed))
    assert cross.pair == (2, 5)
    assert max(cross.shape) <= 5
    for merged in cross.merged:  # some cut is near the true one
        assert (np.diff(merged) >= 0).all()
        assert set(np.flatnonzero(np.diff(merged))) & {8, 9, 10, 11}


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_product_is_found(seed):
    cells = np.random.default_rng(seed).integers(1, 21, (2 * N, 6))
    score = (cells[:, 1] - 10.5) * (cells[:, 4] - 10.5) / 30
    assert search(cells, drawn(expit(score), seed))[0].pair == (1, 4)


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_xor_of_levels_is_found_whatever_their_order(seed):
    cells = np.random.default_rng(seed).integers(2, 8, (N, 6))
    odd = cells % 2 == 1
    positive = drawn(np.where(odd[:, 0] ^ odd[:, 4], 0.8, 0.2), seed)
    (cross,) = search(cells, positive, loose=range(6))
    assert cross.pair == (0, 4)
    for merged in cross.merged:  # odd levels and even ones share no row of the grid
        assert not {*merged[[3, 5, 7]]} & {*merged[[2, 4, 6]]}


def test_noise_and_effects_that_add_up_are_crossed_one_time_in_twenty():
    for strength in (0.0, 0.4):
        crossed = 0
        for seed in range(60):
            rng = np.random.default_rng(seed)
            cells = rng.integers(1, 9, (N, 6))
            score = strength * (cells[:, :3] - 4.5).sum(axis=1) / 2
            # Half of the effect is left in the residuals, as a ridge leaves it.
            crossed += bool(search(cells, drawn(expit(score), seed), expit(score / 2)))
        assert crossed <= 6


def test_interactions_beyond_the_first_are_found_too():
    cells = np.random.default_rng(0).integers(1, 9, (3 * N, 6))
    low = cells <= 4
    score = 1.2 * (np.where(low[:, 0] ^ low[:, 1], 1, -1) + np.where(low[:, 2] ^ low[:, 3], 1, -1))
    assert {cross.pair for cross in search(cells, drawn(expit(score)))} == {(0, 1), (2, 3)}


@pytest.mark.parametrize("seed", range(3))
def test_an_interaction_of_few_rows_is_found(seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 5, (5 * N, 6))
    cells[:, :2] = 1 + (rng.random((5 * N, 2)) < [0.02, 0.3])
    chance = np.where((cells[:, 0] == 2) & (cells[:, 1] == 2), 0.6, 0.05)
    (cross,) = search(cells, drawn(chance, seed), 0.055, loose=range(6))
    assert cross.pair == (0, 1)


def test_the_least_number_of_crosses_need_not_be_beyond_chance(monkeypatch):
    monkeypatch.setattr("directrix.tables.coding.crosses._WORTH_DRAWING", 0.0)
    cells = np.random.default_rng(0).integers(1, 9, (N, 6))
    places = {k: np.arange(9) for k in range(6)}
    made = CrossSearch(places, (), cells, drawn(np.full(N, 0.5)), np.full(N, 0.5), np.ones(N))
    assert not made.run(3)
    assert len(made.run(3, least=1)) == 1


def test_a_pair_that_departs_again_is_cut_again():
    cells = np.random.default_rng(0).integers(0, 24, (6 * N, 2))
    band = (cells // 6) % 2 == 1
    (cross,) = search(cells, drawn(np.where(band[:, 0] ^ band[:, 1], 0.9, 0.1)))
    assert max(cross.shape) > 3
    assert max(cross.shape) <= 5


def test_order_of_rows_and_weights_as_repetitions_do_not_matter():
    rng = np.random.default_rng(0)
    cells = rng.integers(1, 7, (N, 5))
    positive, copies = (
        drawn(np.where(cells[:, 1] * cells[:, 3] > 9, 0.7, 0.4)),
        rng.integers(1, 4, N),
    )
    once = search(cells, positive, weight=copies.astype(float))
    index = rng.permutation(np.repeat(np.arange(N), copies))
    again = search(cells[index], positive[index])
    assert once
    assert [each.pair for each in once] == [each.pair for each in again]
    for one, other in zip(once, again, strict=True):
        np.testing.assert_array_equal(one.merged[0], other.merged[0])
        np.testing.assert_array_equal(one.merged[1], other.merged[1])


def test_order_of_columns_does_not_matter():
    cells = np.random.default_rng(1).integers(1, 9, (N, 4))
    positive = drawn(np.where((cells[:, 0] <= 4) ^ (cells[:, 3] <= 2), 0.8, 0.3))
    (plain,), (turned,) = search(cells, positive), search(cells[:, ::-1], positive)
    assert plain.pair == turned.pair == (0, 3)


def test_columns_whose_residuals_are_largest_take_part_if_they_are_too_many(monkeypatch):
    monkeypatch.setattr("directrix.tables.coding.crosses._MOST_COLUMNS", 4)
    cells = np.random.default_rng(0).integers(1, 7, (3 * N, 9))
    low = cells <= 3
    score = 1.0 * low[:, [1, 3, 4, 8]].sum(axis=1) - 2 + 2 * (low[:, 3] ^ low[:, 8]) - 1
    assert [each.pair for each in search(cells, drawn(expit(score)))] == [(3, 8)]


@pytest.mark.parametrize("bins", [1, 5, 40, 64])
def test_places_in_crosses_are_coarser_cells_in_order(bins):
    kinds = CellKinds(1 + bins + 2, slice(1, 1 + bins), np.arange(bins, dtype=float))
    weight = np.random.default_rng(0).uniform(0.5, 2.0, kinds.n_cells)
    places = cross_cells(kinds, weight, weight / 3.0)
    assert places.shape == (kinds.n_cells,)
    inside = places[kinds.ordered]
    assert set(np.diff(inside)) <= {0, 1}
    assert inside[-1] - inside[0] + 1 == min(bins, 20)
    # Missing values are first and special values last, each by itself.
    assert [places[0], *places[-2:]] == [0, inside[-1] + 1, inside[-1] + 2]
    np.testing.assert_array_equal(places, cross_cells(kinds, weight, 0 * weight))  # no label


def test_levels_are_merged_with_those_of_nearest_rates():
    kinds, weight = CellKinds(102, slice(1, 1)), np.full(102, 50.0)
    positive = np.random.default_rng(0).uniform(0.0, 50.0, 102)
    places = cross_cells(kinds, weight, positive)
    assert places[0] == 0
    assert (np.diff(places[1:][np.argsort(positive[1:])]) >= 0).all()
    assert places.max() == 20


def tables(rng, shape, n=2000, base=0.3):
    """Return residuals and curvatures of labels without effects."""
    index = tuple(rng.integers(0, size, n) for size in shape)
    residual, curvature = np.zeros(shape), np.zeros(shape)
    np.add.at(residual, index, (rng.random(n) < base) - base)
    np.add.at(curvature, index, base * (1 - base))
    return residual, curvature


@pytest.mark.parametrize("shape", [(4, 3), (12, 10), (30, 30)], ids=str)
@pytest.mark.parametrize("loose", [(False, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("base", [0.3, 0.03])
def test_the_largest_test_of_noise_has_the_distribution_that_is_assumed(shape, loose, base):
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(300):
        residual, curvature = tables(rng, shape, base=base)
        excess.append(best_quadrant(residual, curvature, loose).statistic)
    null = NullDistribution.of(curvature, loose)
    p = np.exp([-null.surprise(each) for each in excess])
    assert (p < 0.05).mean() <= 0.08
    assert (p < 0.01).mean() <= 0.03


def test_the_null_distribution_is_the_same_each_time():
    _, curvature = tables(np.random.default_rng(0), (9, 7))
    assert NullDistribution.of(curvature) == NullDistribution.of(curvature)


def test_effects_of_either_column_alone_are_not_tested():
    rng = np.random.default_rng(0)
    curvature = rng.uniform(5, 20, (8, 6))
    alone = curvature * (rng.normal(size=(8, 1)) + rng.normal(size=6))
    assert best_quadrant(alone, curvature).statistic < 1e-2 * np.abs(alone).max()


def test_a_table_in_which_nothing_is_known_has_no_quadrant():
    for shape in ((1, 5), (4, 4)):
        nothing = np.zeros(shape)
        assert best_quadrant(nothing, nothing).statistic == 0.0
        assert NullDistribution.of(nothing).scale == 2.0
    assert search(np.zeros((N, 2), dtype=int), np.zeros(N, dtype=bool)) == []
