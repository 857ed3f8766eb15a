"""The table of a cross has the points of every pair of cells."""

import numpy as np
import pytest
from random_cards import BINS, random_card

from directrix.cards.card_printing import CrossTable


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_every_pair_of_cells_has_its_points(few, seed):
    card = random_card(seed, few=few, crosses=3)
    tables = card.cross_tables()
    names = [bins.name for bins in BINS]
    assert len(tables) == 3
    moved = []
    for table in tables:
        pair = tuple(names.index(name) for name in table.columns)
        cross = next(cross for cross in card.crosses if cross.columns == pair)
        first, second = (card.counts[k].sum(axis=0) for k in pair)
        points = cross.points[np.ix_(*cross.merged)].ravel()
        moved.append(np.cov(points, aweights=np.outer(first, second).ravel(), ddof=0))
        for r, rows in enumerate(table.cells[0]):
            for c, columns in enumerate(table.cells[1]):
                left = cross.merged[0][list(rows)]
                right = cross.merged[1][list(columns)]
                assert (cross.points[np.ix_(left, right)] == table.points[r, c]).all()
        for bins, cells in zip((BINS[k] for k in pair), table.cells, strict=True):
            assert sorted(sum(cells, ())) == list(range(bins.n_cells))
        # No two neighbours are equal.
        assert (np.diff(table.points, axis=0) != 0).any(axis=1).all()
        assert (np.diff(table.points, axis=1) != 0).any(axis=0).all()
        assert table.transposed().transposed().name == table.name
    np.testing.assert_allclose(moved, sorted(moved, reverse=True), rtol=1e-12)  # ties by rounding


def test_rows_that_no_cell_belongs_to_are_left_out():
    points = np.arange(9.0).reshape(3, 3)
    merged = np.array([0, 0, 2]), np.array([1, 1, 1])
    table = CrossTable.of((BINS[2], BINS[2]), merged, points)
    assert table.points.tolist() == [[1.0], [7.0]]
    assert table.bins == (("False; missing", "True"), ("any value; missing",))
