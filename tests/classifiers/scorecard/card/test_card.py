"""A card is the line of its design, multiplied out."""

from dataclasses import replace

import numpy as np
import pytest

from directrix.models.card import Card, Cross
from directrix.tables.coding.card_coding import CardCoding
from directrix.tables.coding.coded_rows import Coding
from directrix.tables.coding.crosses import CrossGrid

SIZES = (5, 3, 7)


def design(*, crosses):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=(cells, 2)) for cells in SIZES]
    if not crosses:
        return CardCoding(Coding(columns))
    merged = {0: np.array([0, 1, 1, 2, 2]), 1: np.arange(3), 2: np.array([0, 1, 1, 1, 2, 2, 3])}
    bases = [rng.normal(size=(max(merged[k]) + 1, 2)) for k in range(3)]
    pairs = ((0, 2), (1, 2))
    coding = Coding(columns, [(bases[i], bases[j]) for i, j in pairs], rng.uniform(0.5, 2.0, 5))
    return CardCoding(coding, tuple(CrossGrid((i, j), (merged[i], merged[j])) for i, j in pairs))


@pytest.mark.parametrize("crosses", [False, True])
def test_the_points_of_a_row_are_its_score(crosses):
    made = design(crosses=crosses)
    rng = np.random.default_rng(1)
    cells = np.column_stack([rng.integers(0, size, 80) for size in SIZES])
    line = rng.normal(size=made.coding.n_features + 1)
    card = Card.of(made, line)
    expected = made.rows(cells) @ line[:-1] + line[-1]
    np.testing.assert_allclose(card.scores(cells), expected, atol=1e-10)
    assert [len(points) for points in card.columns] == list(SIZES)
    assert [cross.columns for cross in card.crosses] == [each.pair for each in made.crosses]
    for cross in card.crosses:
        assert cross.points.shape == tuple(max(merged) + 1 for merged in cross.merged)


def test_points_can_be_added_by_hand():
    made = design(crosses=True)
    line = np.random.default_rng(2).normal(size=made.coding.n_features + 1)
    card = Card.of(made, line)
    cells = [4, 1, 6]
    total = card.intercept + sum(card.columns[k][cells[k]] for k in range(3))
    total += card.crosses[0].points[2, 3] + card.crosses[1].points[1, 3]
    assert card.scores(np.array([cells]))[0] == pytest.approx(total)


def test_the_weight_of_a_cross_is_that_of_its_rows():
    made = design(crosses=True)
    rng = np.random.default_rng(3)
    card = Card.of(made, rng.normal(size=made.coding.n_features + 1))
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
    made = design(crosses=True)
    card = Card.of(made, np.ones(made.coding.n_features + 1))
    assert card.scores(np.empty((0, 3), dtype=np.int32)).shape == (0,)
