"""Rows of some days, and each kind of summary of them."""

import numpy as np
import pytest

from directrix import Binner, Moments
from directrix.moments import ScoreHistogram
from directrix.monitoring import SummaryStore
from directrix.tables import BinCounts

N = 240
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.4).astype(int)
X = RNG.normal(size=(N, 3)) * [1.0, 20.0, 0.1] + [0.0, 500.0, -3.0]
X[:, 0] += Y


class OfMoments:
    stream = "moments"

    def __call__(self, rows, labels=Y):
        y = None if labels is None else labels[rows]
        classes = None if y is None else [0, 1]
        return Moments.of(X[rows], y, classes=classes, feature_names=["a", "b", "c"])

    def foreign(self):
        """Return summaries that cannot be added to the others."""
        yield Moments.of(X[:9, :2], Y[:9], classes=[0, 1])
        yield Moments.of(X[:9], Y[:9], classes=[0, 1], feature_names=["a", "b", "d"])
        yield Moments.of(X[:9], Y[:9].astype(str), classes=["0", "1"])
        yield Moments.of(X[:9], Y[:9], classes=[0, 1], fold=[0] * 5 + [1] * 4)

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
    stream = "counts"
    binner = Binner(max_bins=4, min_rows=1).fit(X)

    def __call__(self, rows, labels=Y):
        y = None if labels is None else labels[rows]
        return BinCounts.of(self.binner, X[rows], y, classes=None if y is None else [0, 1])

    def foreign(self):
        """Return summaries that cannot be added to the others."""
        other = Binner(max_bins=7, min_rows=1).fit(X)
        yield BinCounts.of(other, X[:9], Y[:9], classes=[0, 1])

    def n_rows(self, summary):
        return sum(group.count for group in summary.parts[0])

    def same(self, a, b):
        return a == b


class OfScores:
    stream = "scores"

    def __call__(self, rows, labels=Y, model="first"):
        y = None if labels is None else labels[rows]
        classes = None if y is None else [0, 1]
        return ScoreHistogram.of_scores(y, X[rows, 0], classes=classes, model=model)

    def foreign(self):
        """Return summaries that cannot be added to the others."""
        yield self(slice(9), model="second")

    def n_rows(self, summary):
        return int(summary.counts.sum())

    def same(self, a, b):
        return a == b


KINDS = [OfMoments, OfCounts, OfScores]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.stream)
def of(request):
    """Make a summary of some rows, with their labels, with others, or without."""
    return request.param()


@pytest.fixture
def moments():
    """Make moments of some rows."""
    return OfMoments()


@pytest.fixture
def all_kinds():
    """Make summaries of all kinds of some rows."""
    return lambda rows, labels=Y: [kind()(rows, labels) for kind in KINDS]


@pytest.fixture
def labels():
    return Y


@pytest.fixture
def store(tmp_path):
    return SummaryStore(tmp_path / "store")
