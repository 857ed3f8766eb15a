"""The points of a card are added up."""

from dataclasses import replace

import numpy as np
import pytest

from directrix.cards.card import Card, Cross

SIZES = (5, 3, 7)


def drawn(seed):
    """Return a card with two crosses."""
    rng = np.random.default_rng(seed)
    merged = {0: np.array([0, 1, 1, 2, 2]), 1: np.arange(3), 2: np.array([0, 1, 1, 1, 2, 2, 3])}
    crosses = [
        Cross((i, j), (merged[i], merged[j]), rng.normal(size=(max(merged[i]) + 1, 4)))
        for i, j in ((0, 2), (1, 2))
    ]
    return Card(rng.normal(), tuple(rng.normal(size=size) for size in SIZES), tuple(crosses))


def test_points_can_be_added_by_hand():
    card = drawn(2)
    cells = [4, 1, 6]
    total = card.intercept + sum(card.columns[k][cells[k]] for k in range(3))
    total += card.crosses[0].points[2, 3] + card.crosses[1].points[1, 3]
    assert card.scores(np.array([cells]))[0] == pytest.approx(total)


def test_the_weight_of_a_cross_is_that_of_its_rows():
    card, rng = drawn(3), np.random.default_rng(3)
    cells = np.column_stack([rng.integers(0, size, 80) for size in SIZES])
    weight = rng.uniform(0.5, 2.0, 80)
    for cross in card.crosses:
        weights = cross.weights(cells, weight)
        assert weights.sum() == pytest.approx(weight.sum())
        assert (weights * cross.points).sum() == pytest.approx(weight @ cross.scores(cells))


@pytest.mark.parametrize("odd", [0.5, np.nan, np.inf])
def test_a_card_is_whole_if_all_its_points_are(odd):
    cross = Cross((0, 0), (np.arange(2), np.arange(2)), np.eye(2))
    whole = Card(-2.0, (np.array([0.0, 3.0]),), (cross,))
    assert whole.is_whole
    assert [points.tolist() for points in whole.blocks] == [[0.0, 3.0], [[1.0, 0.0], [0.0, 1.0]]]
    assert not replace(whole, intercept=odd).is_whole
    if np.isfinite(odd):
        assert not replace(whole, columns=(np.array([0.0, odd]),)).is_whole
        assert not replace(whole, crosses=(replace(cross, points=odd * np.eye(2)),)).is_whole


def test_no_rows_have_no_scores():
    card = drawn(0)
    assert card.scores(np.empty((0, 3), dtype=np.int32)).shape == (0,)
