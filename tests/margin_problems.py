"""Small problems with a known answer, shared by the tests of solvers."""

from itertools import combinations

import numpy as np
from scipy.special import expit


def turned_rows(rng, n, d, shift=1.0):
    """Rows of two classes with a constant, times their labels."""
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, d)) + shift * y[:, np.newaxis]
    return y[:, np.newaxis] * np.column_stack([X, np.ones(n)])


def errors(rows, coef, weight=None):
    wrong = rows @ coef <= 0
    return float(wrong.sum() if weight is None else weight[wrong].sum())


def least_errors(rows, weight=None):
    """The least loss of any line in the plane: each pair of points, moved to either side."""
    weight = np.ones(len(rows)) if weight is None else weight
    label = np.sign(rows[:, -1])
    points = rows[:, :2] * label[:, np.newaxis]
    best = min(weight[label > 0].sum(), weight[label < 0].sum())
    for i, j in combinations(range(len(points)), 2):
        along = points[j] - points[i]
        if not along.any():
            continue
        middle = (points[i] + points[j]) / 2
        for turn in (-1e-7, 0.0, 1e-7):
            rotated = along + turn * np.array([-along[1], along[0]])
            normal = np.array([-rotated[1], rotated[0]])
            for off in (-1e-7, 0.0, 1e-7):
                line = np.append(normal, -normal @ middle + off)
                best = min(best, errors(rows, line, weight), errors(rows, -line, weight))
    return best


class Logistic:
    """Mean logistic loss plus a ridge on all but the intercept."""

    def __init__(self, rows, ridge):
        self.rows, self.ridge = rows, ridge
        self.calls = 0

    def __call__(self, coef):
        self.calls += 1
        margin = self.rows @ coef
        held = np.append(coef[:-1], 0.0)
        value = np.logaddexp(0.0, -margin).mean() + self.ridge / 2 * held @ held
        return float(value), -(expit(-margin) @ self.rows) / len(margin) + self.ridge * held


class Hinge:
    """Mean hinge loss, its margin at ``foot``."""

    def __init__(self, rows, foot=1.0, ridge=0.0):
        self.rows, self.foot, self.ridge = rows, foot, ridge

    def __call__(self, coef):
        short = self.foot - self.rows @ coef
        held = np.append(coef[:-1], 0.0)
        value = np.maximum(short, 0.0).mean() + self.ridge / 2 * held @ held
        return float(value), -((short > 0) @ self.rows) / len(short) + self.ridge * held


class Sigmoids:
    """Sum of the sigmoids of sharpness γ of the margins, and its values along a coordinate."""

    def __init__(self, rows):
        self.rows = rows

    def at(self, gamma, ridge=0.0):
        def objective(coef):
            wrong = expit(-gamma * (self.rows @ coef))
            value = wrong.sum() + ridge / 2 * coef @ coef
            return float(value), -gamma * ((wrong * (1 - wrong)) @ self.rows) + ridge * coef

        return objective

    def probe(self, coef, i, offsets, gamma):
        margin = (self.rows @ coef)[:, np.newaxis] + np.outer(self.rows[:, i], offsets)
        return expit(-gamma * margin).sum(axis=0)

    def errors(self, coef):
        return errors(self.rows, coef)
