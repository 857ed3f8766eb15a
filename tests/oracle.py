"""Rows to try the laws on, and the exact answer for them."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Case:
    """Rows with labels, weights and folds, and a random source for what a law does to them."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    rng: np.random.Generator

    def part(self, index):
        return self.X[index], self.y[index], self.weight[index]

    def chunks(self):
        """Split the rows into consecutive chunks, some of them empty."""
        cuts = np.sort(self.rng.integers(0, len(self.X) + 1, self.rng.integers(0, 6)))
        edges = [0, *cuts, len(self.X)]
        return [slice(a, b) for a, b in pairwise(edges)]


ORDERS = ("as drawn", "sorted", "drifting", "one step", "grouped by label")


def draw_case(seed, n, d, ratio, order, *, sparse_share=0.0):
    """Return rows whose mean/std is about ``ratio`` in the order asked for."""
    rng = np.random.default_rng(seed)
    center = ratio * rng.choice([-1.0, 1.0], d) * rng.uniform(0.5, 1.0, d)
    X = center + rng.standard_normal((n, d)) * rng.uniform(0.5, 1.0, d)
    if order == "sorted":
        X = np.sort(X, axis=0)
    elif order == "drifting":
        X = X + np.linspace(0.0, rng.choice([3.0, 30.0]), n)[:, None]
    elif order == "one step":
        X[rng.integers(0, n + 1) :] += rng.choice([10.0, 1e4])
    X[:, rng.random(d) < 0.1] = center[0]  # a constant column now and then
    X[rng.random((n, d)) < sparse_share] = 0.0
    y = rng.integers(0, 3, n)
    if order == "grouped by label":
        y = np.sort(y)
    weight = rng.choice([0.0, 0.25, 1.0, 3.0], n)
    return Case(X, y, weight, rng.integers(0, 3, n), rng)


def cases(ratios, *, most_rows=40, sparse_share=0.0):
    """Return a strategy for cases."""
    return st.builds(
        draw_case,
        seed=st.integers(0, 2**32),
        n=st.integers(1, most_rows),
        d=st.integers(1, 3),
        ratio=st.sampled_from(ratios),
        order=st.sampled_from(ORDERS),
        sparse_share=st.just(sparse_share),
    )


class Exact(NamedTuple):
    """Weight, mean and scatter of a class as fractions."""

    weight: Fraction
    mean: list
    scatter: list


def exact(X, weight):
    """Return the moments of rows in rational arithmetic.

    Every float is a whole number over a power of two, so sums are done in whole numbers.
    """
    d = X.shape[1]
    x, x_unit = _whole(X)
    w, w_unit = _whole(weight)
    total = int(w.sum()) if len(w) else 0
    if not total:
        return Exact(Fraction(0), [Fraction(0)] * d, [[Fraction(0)] * d for _ in range(d)])
    first = [int((w * x[:, i]).sum()) for i in range(d)]
    second = [[int((w * x[:, i] * x[:, j]).sum()) for j in range(d)] for i in range(d)]
    scatter = [
        [
            Fraction(total * second[i][j] - first[i] * first[j], total * w_unit * x_unit**2)
            for j in range(d)
        ]
        for i in range(d)
    ]
    mean = [Fraction(first[i], total * x_unit) for i in range(d)]
    return Exact(Fraction(total, w_unit), mean, scatter)


def _whole(values):
    """Return values as whole numbers and the unit they count."""
    ratios = [float(value).as_integer_ratio() for value in np.ravel(values)]
    unit = max((below for _, below in ratios), default=1)
    whole = [above * (unit // below) for above, below in ratios]
    return np.array(whole, dtype=object).reshape(np.shape(values)), unit


def scaled_error(group, truth):
    """Return the worst |ΔS_ij| / √(S_ii S_jj); a zero must be met exactly."""
    worst = 0.0
    d = len(truth.mean)
    for i in range(d):
        for j in range(d):
            off = abs(Fraction(float(group.scatter[i, j])) - truth.scatter[i][j])
            size = float(truth.scatter[i][i]) ** 0.5 * float(truth.scatter[j][j]) ** 0.5
            if off:
                worst = max(worst, float(off) / size if size else float("inf"))
    return worst


def mean_error(group, truth):
    """Return the worst error of the mean, tail included, in standard deviations."""
    worst = 0.0
    for i, exact_mean in enumerate(truth.mean):
        off = abs(Fraction(float(group.mean[i])) + Fraction(float(group.mean_tail[i])) - exact_mean)
        spread = (float(truth.scatter[i][i]) / float(truth.weight)) ** 0.5 if truth.weight else 0.0
        if off:
            worst = max(worst, float(off) / spread if spread else float("inf"))
    return worst
