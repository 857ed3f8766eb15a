"""Growth: what is chosen on held-out rows, and what a wide table is screened by."""

import numpy as np
import pytest

from directrix.cards import crosses
from directrix.cards.basis import Basis
from directrix.cards.growth import CardAsk, grow_card, mean_area
from directrix.cards.prior import CellKinds
from directrix.cards.screening import screened
from directrix.cards.sizes import Size, good_size, sizes_of_card, smallest
from directrix.cards.unbinned import unbinned_scores
from directrix.fit.training_rows import Rows

N, CELLS = 900, 9


def rows_of(columns, seed=0):
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, CELLS, (N, columns))
    odds = 0.8 * np.abs(cells[:, 0] - 4.5) - 1.6 + np.where(cells[:, 1] > 4, 0.7, -0.7)
    positive = rng.random(N) < 1.0 / (1.0 + np.exp(-odds))
    weights = (0.0, *[N / (CELLS - 1)] * (CELLS - 1))
    kinds = [CellKinds(CELLS, slice(1, CELLS), np.arange(CELLS - 1.0), weights=weights)] * columns
    return Rows(cells, positive, np.ones(N), np.arange(N) % 3), kinds


def test_points_of_a_basis_are_what_its_features_add_up_to():
    """Features are float32: sums of a few dozen have a relative error of about 1e-6."""
    rows, kinds = rows_of(3)
    basis = Basis.of(kinds, rows.X, rows.weight)
    coef = np.random.default_rng(0).normal(size=len(basis.block))
    points = basis.points(coef)
    total = sum(of_column[cells] for of_column, cells in zip(points, rows.X.T, strict=True))
    np.testing.assert_allclose(basis.rows(rows.X) @ coef, total + coef[-1], atol=1e-5)


def test_a_card_is_ahead_of_a_line_where_an_effect_turns():
    rows, kinds = rows_of(6)
    grown = grow_card(rows, kinds, CardAsk())
    assert set(grown.cards) == {None, 0, 1, 2}
    held_out = grown.tried[grown.chosen].held_out
    assert mean_area(held_out, rows) > mean_area(unbinned_scores(rows, kinds), rows)
    for fold in range(3):  # they are the scores of the card without the fold
        tested = rows.fold == fold
        np.testing.assert_allclose(
            grown.cards[fold].points(rows.X[tested]), held_out[tested], atol=1e-4
        )


def test_the_rows_outside_a_fold_may_have_no_crosses(monkeypatch):
    rows, kinds = rows_of(4)
    product = np.sign(rows.X[:, 0] - 4.5) * np.sign(rows.X[:, 1] - 4.5)
    positive = np.random.default_rng(1).random(N) < 1.0 / (1.0 + np.exp(-2.0 * product))
    find = crosses.CrossSearch.run
    monkeypatch.setattr(crosses.CrossSearch, "run", lambda search: find(search) | {0: []})
    grown = grow_card(rows._replace(positive=positive), kinds, CardAsk())
    assert grown.cards[None].crosses
    assert [bool(grown.cards[fold].crosses) for fold in range(3)] == [False, True, True]


@pytest.mark.parametrize("asked", [1, 2, "auto"])
def test_columns_are_those_that_move_most(asked):
    rows, kinds = rows_of(8)
    grown = grow_card(rows, kinds, CardAsk(max_columns=asked))
    used = [k for k, points in enumerate(grown.cards[None].columns) if np.ptp(points)]
    assert used == ([0, 1] if asked != 1 else used[:1])


def test_sizes_have_the_lines_that_are_asked_for():
    rows, kinds = rows_of(6)
    grown = grow_card(rows, kinds, CardAsk())
    sizes = sizes_of_card(grown.cards, rows, kinds, (), 12, 50)
    assert [size.lines <= most for size, most in zip(sizes, (10, 12, 20), strict=False)]
    assert sizes[-1].is_full
    assert good_size(sizes, np.zeros(len(sizes)), rows, 12) == 1
    assert all(made.card.is_whole for size in sizes for made in size.cards.values())
    whole = [made.card.blocks for made in sizes[0].cards.values()]
    assert max(points.max() for blocks in whole for points in blocks) <= 50


def test_the_smallest_size_that_loses_nothing_is_chosen():
    areas = np.array([0.70, 0.7992, 0.7995, 0.80])
    assert smallest(areas, range(4)) == 1
    assert smallest(areas - [0, 0.01, 0.0, 0.0], range(4)) == 2
    assert smallest(areas, [0]) == 0


def test_few_rows_of_a_class_have_few_lines():
    rows, _ = rows_of(6)
    few = rows._replace(positive=np.arange(N) < 12)
    nothing = Size({}, np.zeros(N), 0)
    sizes = [Size({}, nothing.held_out, lines) for lines in (10, 20, 40, 80)]
    areas = np.array([0.5, 0.6, 0.7, 0.8])
    assert sizes[good_size(sizes, areas, few, "auto")].lines == 20
    assert sizes[good_size(sizes, areas, rows, "auto")].lines == 80


def test_columns_with_an_effect_pass_the_screen_without_each_fold():
    rows, kinds = rows_of(400)
    passed = screened(rows, kinds)
    assert set(passed) == {None, 0, 1, 2}
    for kept in passed.values():
        assert kept[:2].all()
        assert kept.sum() == 200
