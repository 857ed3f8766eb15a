"""Crosses are ranked by what they add to both columns, and their cells are coarser ones."""

import numpy as np
import pytest
from scipy.special import expit

from directrix.tables.coding.crosses import CrossColumn, rank_pairs
from directrix.tables.coding.prior import CellKinds, cell_weights

N = 600


def kinds_of(bins, *, special=0):
    return CellKinds(1 + bins + special, slice(1, 1 + bins), np.arange(bins, dtype=float))


def crossed(kinds, cells, positive, rank=6):
    """Return columns as they take part in crosses, and the cells of rows there."""
    columns = [
        CrossColumn.of(
            kind, cell_weights(kind, own, np.ones(N)), cell_weights(kind, own, positive * 1.0), rank
        )
        for kind, own in zip(kinds, cells.T, strict=True)
    ]
    merged = [column.merged[own] for column, own in zip(columns, cells.T, strict=True)]
    return columns, np.column_stack(merged)


def ranked(kinds, cells, chance, seed=0):
    """Draw labels, and rank pairs by residuals of the best additive guess: half."""
    positive = np.random.default_rng(seed).random(N) < chance
    columns, merged = crossed(kinds, cells, positive)
    residual, curvature = positive - 0.5, np.full(N, 0.25)
    return rank_pairs(columns, merged, residual, curvature)


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_interaction_of_numbers_is_first(seed):
    cells = np.random.default_rng(seed).integers(1, 21, (N, 8))
    low = cells <= 10
    chance = np.where(low[:, 2] ^ low[:, 5], 0.75, 0.25)
    pairs = ranked([kinds_of(20)] * 8, cells, chance, seed)
    assert pairs[0] == (2, 5)
    assert sorted(pairs) == [(i, j) for i in range(8) for j in range(i + 1, 8)]


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_interaction_of_texts_is_first(seed):
    # Levels in an order that says nothing; a little of a main effect orders them by their rate.
    rng = np.random.default_rng(seed)
    cells = rng.integers(2, 8, (N, 6))
    odd = cells % 2 == 1
    chance = np.where(odd[:, 0] ^ odd[:, 4], 0.85, 0.15) + np.where(odd[:, 0] & odd[:, 4], 0.1, 0.0)
    assert ranked([CellKinds(8, slice(1, 1))] * 6, cells, chance, seed)[0] == (0, 4)


def test_a_planted_interaction_is_first_among_more_pairs_than_are_tested():
    cells = np.random.default_rng(0).integers(1, 7, (N, 32))  # 496 pairs
    low = cells <= 3
    pairs = ranked([kinds_of(6)] * 32, cells, np.where(low[:, 7] ^ low[:, 30], 0.8, 0.2))
    assert pairs[0] == (7, 30)
    assert len(pairs) == len(set(pairs)) == 400


def test_columns_whose_residuals_are_largest_take_part_if_they_are_too_many(monkeypatch):
    monkeypatch.setattr("directrix.tables.coding.crosses._MOST_COLUMNS", 4)
    cells = np.random.default_rng(0).integers(1, 7, (N, 9))
    chance = np.where(cells[:, [1, 3, 4, 8]] <= 3, 0.12, -0.12).sum(axis=1) + 0.5
    pairs = ranked([kinds_of(6)] * 9, cells, chance)
    assert {k for pair in pairs for k in pair} == {1, 3, 4, 8}


def test_main_effects_alone_put_no_pair_first():
    # Two columns with strong effects that add up, of six: their pair is first one time in fifteen.
    times, first = 40, 0
    for seed in range(times):
        rng = np.random.default_rng(seed)
        cells = rng.integers(1, 9, (N, 6))
        score = 0.5 * (cells[:, 0] - 4.5) + 0.5 * (cells[:, 1] - 4.5)
        positive = rng.random(N) < expit(score)
        columns, merged = crossed([kinds_of(8)] * 6, cells, positive, rank=3)
        # Half of the effect is left in the residuals, as a ridge leaves it.
        chance = expit(0.5 * score)
        residual, curvature = positive - chance, chance * (1.0 - chance)
        first += rank_pairs(columns, merged, residual, curvature)[0] == (0, 1)
    assert first <= 8


@pytest.mark.parametrize("bins", [1, 5, 40, 64])
def test_cells_of_crosses_are_coarser_ones_in_order(bins):
    rng = np.random.default_rng(0)
    kinds = kinds_of(bins, special=2)
    weight = rng.uniform(0.5, 2.0, kinds.n_cells)
    column = CrossColumn.of(kinds, weight, weight / 3.0, 8)
    merged = column.merged
    assert merged.shape == (kinds.n_cells,)
    # Missing, ordered bins and special values are never in one cell.
    inside = merged[kinds.ordered]
    assert set(np.diff(inside)) <= {0, 1}
    assert inside[-1] - inside[0] + 1 == min(bins, 32)
    outside = np.delete(merged, np.arange(kinds.ordered.start, kinds.ordered.stop))
    assert len({*outside, *inside}) == 3 + min(bins, 32) == len(column.basis)
    assert column.basis.shape[1] <= 8


def test_levels_are_merged_with_those_of_nearest_rates():
    rng = np.random.default_rng(0)
    kinds, weight = CellKinds(102, slice(1, 1)), np.full(102, 50.0)
    positive = rng.uniform(0.0, 50.0, 102)
    column = CrossColumn.of(kinds, weight, positive, 8)
    assert column.merged[0] == 0
    order = np.argsort(positive[1:])
    assert (np.diff(column.merged[1:][order]) >= 0).all()
    assert column.merged.max() == 32


@pytest.mark.parametrize("kinds", [kinds_of(40), CellKinds(40, slice(1, 1))], ids=["bins", "text"])
def test_a_column_without_rows_has_no_points_in_crosses(kinds):
    none = np.zeros(kinds.n_cells)
    column = CrossColumn.of(kinds, none, none, 8)
    assert column.basis.shape[1] == 0
    seen = CrossColumn.of(kinds, none + 1.0, none, 4)
    cells = np.zeros((5, 3), dtype=int)
    ranked = rank_pairs([seen, column, seen], cells, np.ones(5), np.ones(5))
    assert ranked == [(0, 2)]


def test_numbers_look_at_no_label():
    kinds = kinds_of(50)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 51)
    one, other = (CrossColumn.of(kinds, weight, share * weight, 8) for share in (0.1, 0.9))
    np.testing.assert_array_equal(one.merged, other.merged)
    np.testing.assert_array_equal(one.basis, other.basis)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_numbers_are_crossed_as_others(scale):
    kinds = kinds_of(50)
    far = CellKinds(51, slice(1, 51), scale * kinds.means)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 51)
    weight[20] = 0.0
    one, other = (CrossColumn.of(each, weight, weight / 2, 6) for each in (kinds, far))
    np.testing.assert_allclose(one.basis, other.basis, atol=1e-9)


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    cells = rng.integers(1, 7, (N, 5))
    positive, copies = rng.random(N) < 0.5, rng.integers(1, 4, N)
    columns, merged = crossed([kinds_of(6)] * 5, cells, positive)
    residual, curvature = positive - 0.5, np.full(N, 0.25)
    once = rank_pairs(columns, merged, copies * residual, copies * curvature)
    index = rng.permutation(np.repeat(np.arange(N), copies))
    assert once == rank_pairs(columns, merged[index], residual[index], curvature[index])
