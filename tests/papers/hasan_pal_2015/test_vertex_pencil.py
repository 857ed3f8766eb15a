import numpy as np
import pytest
from margin_problems import turned_rows

from directrix.papers.hasan_pal_2015.vertex import Neighbours, merge_rows


@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_neighbour_promises_is_what_it_has(weighted):
    rng = np.random.default_rng(0)
    merged = merge_rows(turned_rows(rng, 60, 3, shift=0.2), None)
    rows = merged.rows
    weight = rng.integers(1, 5, 60).astype(float) if weighted else merged.weight
    points = np.arange(3)
    coef = np.linalg.svd(rows[points])[2][-1]
    coef = coef if (rows @ coef < 0).sum() > 30 else -coef  # the worse way round
    for _ in range(30):
        free = rng.random(60) < 0.7
        move = Neighbours(rows, weight, coef, points).best(free, rng, -1.0)
        coef, points = move.coef, move.points
        margin = rows @ coef
        assert np.abs(margin[points]).max() < 1e-9
        margin[points] = 1.0
        assert move.promised == weight[margin < 0].sum()
        assert move.released not in points
        assert move.promised < weight.sum() / 2  # the same line turned is a neighbour too
