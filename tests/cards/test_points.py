"""Points on a scale are what their definition says."""

import numpy as np
import pytest

from directrix.cards.card import Card, Cross, PointsToDoubleOdds
from directrix.cards.points import largest_unit, rounded_card, to_double_odds

CELLS = np.array([[0, 0], [0, 2], [1, 1], [1, 2]])


@pytest.fixture
def card():
    cross = Cross((0, 1), (np.arange(2), np.array([0, 0, 1])), np.array([[0.2, -0.1], [0.0, 0.3]]))
    return Card(-0.4, (np.array([0.0, 1.3]), np.array([-0.7, 0.1, 0.5])), (cross,))


@pytest.mark.parametrize("pdo", [20.0, 35.0])
def test_so_many_points_double_the_odds_of_the_other_class(card, pdo):
    scale = PointsToDoubleOdds(pdo, 600.0, 50.0, rounded=False)
    slope, offset = 1.7, 0.3
    points = to_double_odds(card, scale, slope, offset).points(CELLS)
    odds = np.exp(-(slope * card.points(CELLS) + offset))  # of the negative class
    np.testing.assert_allclose(points, 600.0 + pdo * np.log2(odds / 50.0), rtol=1e-12)


@pytest.mark.parametrize("largest", [1, 10, 100])
def test_the_widest_block_has_the_largest_whole_points(card, largest):
    unit = largest_unit(card, largest)
    made = rounded_card(card, unit)
    assert max(float(points.max()) for points in made.blocks) == largest
    assert min(float(points.min()) for points in made.blocks) == 0.0
    assert made.is_whole
    off = made.points(CELLS) / unit - card.points(CELLS)
    # A point is rounded by at most one half in each of three blocks.
    assert np.ptp(off) <= 2 * 3 * 0.5 / unit + 1e-12
