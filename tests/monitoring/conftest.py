"""Rows of some days, and each kind of summary of them."""

import numpy as np
import pytest

from directrix import Binner, Moments
from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts

N = 240
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.4).astype(int)
X = RNG.normal(size=(N, 3)) * [1.0, 20.0, 0.1] + [0.0, 500.0, -3.0]
X[:, 0] += Y


class OfMoments:
    def __call__(self, rows):
        return Moments.of(X[rows], Y[rows], classes=[0, 1], feature_names=["a", "b", "c"])

    def n_rows(self, summary):
        return sum(group.count for group in summary.by_class.values())

    def same(self, a, b):
        """Return whether summaries are equal up to the rounding of sums in another order."""
        for label in b.classes.tolist():
            left, right = a.by_class[label], b.by_class[label]
            size = np.sqrt(right.scatter.diagonal())
            tolerance = 1e-9 * np.multiply.outer(size, size)
            if left.count != right.count or left.weight != right.weight:
                return False
            if not (np.abs(left.scatter - right.scatter) <= tolerance).all():
                return False
            if not (np.abs(left.mean - right.mean) <= 1e-9 * size).all():
                return False
        return a.classes.tolist() == b.classes.tolist()


class OfCounts:
    binner = Binner(max_bins=4, min_rows=1).fit(X)

    def __call__(self, rows):
        return BinCounts.of(self.binner, X[rows], Y[rows], classes=[0, 1])

    def n_rows(self, summary):
        return sum(group.count for group in summary.parts[0])

    def same(self, a, b):
        return a == b


class OfScores:
    def __call__(self, rows):
        return ScoreHistogram.of_scores(Y[rows], X[rows, 0], classes=[0, 1])

    def n_rows(self, summary):
        return int(summary.counts.sum())

    def same(self, a, b):
        return a == b


KINDS = [OfMoments, OfCounts, OfScores]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def of(request):
    """Make a summary of some rows."""
    return request.param()
