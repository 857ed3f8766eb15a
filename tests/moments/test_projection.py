from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from directrix import Moments
from directrix.moments.projection import ScoreMoments, project


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + [0.0, 5.0, -2.0]
    return X, np.arange(200) % 4 == 0, rng.integers(1, 4, 200).astype(float)


def of_scores(s, y, weight):
    """Return mean and variance of each class and the prior, from the scores themselves."""
    numbers = []
    for group in (y, ~y):
        mean = np.average(s[group], weights=weight[group])
        numbers += [mean, np.average((s[group] - mean) ** 2, weights=weight[group])]
    return ScoreMoments(*numbers, weight[y].sum() / weight.sum())


def test_four_numbers_are_those_of_the_scores(rows):
    X, y, weight = rows
    coef = np.array([1.0, -0.5, 0.25, 3.0])
    projected = project(Moments.of(X, y, weight), coef)
    assert projected == pytest.approx(of_scores(X @ coef[:-1] + coef[-1], y, weight), rel=1e-12)


def test_stated_prior_is_used(rows):
    X, y, weight = rows
    moments = replace(Moments.of(X, y, weight), stated_prior=0.01)
    assert project(moments, np.ones(4)).prior == 0.01


def test_threshold_moves_both_means_and_nothing_else():
    numbers = ScoreMoments(1.0, 2.0, -3.0, 4.0, 0.5)
    assert numbers.above(0.25) == ScoreMoments(0.75, 2.0, -3.25, 4.0, 0.5)
    assert numbers.above(np.inf) == ScoreMoments(-np.inf, 2.0, -np.inf, 4.0, 0.5)


def test_variance_of_a_constant_score_is_never_negative():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 1))
    X = np.hstack([x, x, x])  # a line across all three has scores that are equal but for rounding
    y = np.arange(50) % 2
    for _ in range(20):
        a, b = rng.normal(size=2)
        numbers = project(Moments.of(X, y), np.array([a, b, -a - b, 0.0]))
        assert 0.0 <= numbers.var_pos < 1e-14
        assert 0.0 <= numbers.var_neg < 1e-14


def test_scatter_may_be_an_operator(rows):
    X, y, _ = rows
    wide = sparse.csr_array(np.hstack([X, np.zeros((200, 5100))]))
    coef = np.zeros(5104)
    coef[[0, 1, 2, -1]] = 1.0, -0.5, 0.25, 3.0
    narrow, operator = Moments.of(X, y), Moments.of(wide, y)
    assert not isinstance(operator.positive.scatter, np.ndarray)
    few = coef[[0, 1, 2, -1]]
    assert project(operator, coef) == pytest.approx(project(narrow, few), rel=1e-10)
