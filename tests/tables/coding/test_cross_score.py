"""The score test of a cross is about zero without an interaction, and large with one."""

import numpy as np
import pytest

from directrix.tables.coding.crosses import cross_score


def sums(rng, effect, shape=(6, 5), n=4000):
    """Return sums of residuals and curvatures of labels with an effect of each pair of cells."""
    first, second = (rng.integers(0, size, n) for size in shape)
    p = 1 / (1 + np.exp(-effect[first, second]))
    residual, curvature = np.zeros(shape), np.zeros(shape)
    np.add.at(residual, (first, second), (rng.random(n) < p) - 0.5)
    np.add.at(curvature, (first, second), 0.25)
    return residual, curvature


def draws(effect, n_draws=200):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(6, 3)), rng.normal(size=(5, 2))
    return np.array([cross_score(*sums(rng, effect), left, right) for _ in range(n_draws)])


def test_it_has_mean_zero_where_effects_add_up():
    none = draws(np.zeros((6, 5)))
    error = none.std() / np.sqrt(len(none))
    assert abs(none.mean()) < 1.0  # what both columns explain is taken out, so a little below zero
    assert error < 0.2
    additive = draws(np.linspace(-0.2, 0.2, 6)[:, None] + np.linspace(0.2, -0.2, 5))
    assert abs(additive.mean()) < 1.0


def test_it_is_large_where_they_do_not():
    effect = np.outer(np.linspace(-1, 1, 6), np.linspace(-1, 1, 5))
    assert np.median(draws(effect, 50)) > 5 * np.abs(draws(0 * effect, 50)).mean()


def test_units_of_a_coding_do_not_matter():
    rng = np.random.default_rng(1)
    residual, curvature = sums(rng, rng.normal(size=(6, 5)))
    left, right = rng.normal(size=(6, 3)), rng.normal(size=(5, 2))
    score = cross_score(residual, curvature, left, right)
    assert cross_score(residual, curvature, 7 * left, -right) == pytest.approx(score, rel=1e-12)
    assert cross_score(residual.T, curvature.T, right, left) == pytest.approx(score, rel=1e-12)


def test_nothing_known_is_zero():
    assert cross_score(np.zeros((2, 2)), np.zeros((2, 2)), np.eye(2), np.eye(2)) == 0.0
    assert cross_score(np.ones((1, 2)), np.ones((1, 2)), np.zeros((1, 0)), np.eye(2)) == 0.0
