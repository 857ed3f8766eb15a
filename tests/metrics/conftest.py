"""Rows to score: with ties, with and without weights."""

import numpy as np
import pytest


@pytest.fixture
def few_rows():
    return Rows(9, n=60)


class Rows:
    """Labels, scores on a coarse grid around zero, and weights."""

    def __init__(self, seed, n=200, grid=4.0):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.y = (rng.random(n) < 0.3).astype(int)
        self.y[:2] = 0, 1
        self.scores = np.round(grid * (rng.normal(size=n) + self.y - 0.4)) / grid
        self.weight = rng.integers(1, 5, n) / 2.0


@pytest.fixture(params=range(3))
def rows(request):
    return Rows(request.param)


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def weight(request, rows):
    return rows.weight if request.param else None
