"""Closed-form candidates: what they are compared by comes from lines made without the fold."""

import numpy as np
import pytest

from directrix.linear.moment_frontier import ridge_candidates, ridge_settings
from directrix.linear.pencil import RidgeMoments

N = 150
RIDGES = (0.3, 0.1)
SIGNS = np.array([1, -1, 0, 0, 0, 0, 0, 0])


def coded():
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    cells = np.column_stack([rng.integers(0, 6, N), rng.integers(0, 5, N)])
    return np.hstack([bases[0][cells[:, 0]], bases[1][cells[:, 1]]]), cells


def labelled(cells):
    rng = np.random.default_rng(1)
    return rng.random(N) < 0.2 + 0.1 * cells[:, 0], rng.uniform(0.5, 2.0, N), np.arange(N) % 3


@pytest.fixture(scope="module")
def made():
    X, cells = coded()
    rows = labelled(cells)
    return X, rows, ridge_candidates(X, *rows, RIDGES, signs=SIGNS)


def direction(line):
    """Return the coefficients of a line on any scale."""
    return line[:-1] / np.linalg.norm(line[:-1])


def test_every_ridge_has_all_trade_offs(made):
    _, _, candidates = made
    settings = ridge_settings(RIDGES)
    assert {ridge for ridge, _ in settings} == set(RIDGES)
    angles = [{angle for ridge, angle in settings if ridge == each} for each in RIDGES]
    assert angles[0] == angles[1]
    assert len(candidates) == len(settings) == 2 * len(angles[0])
    assert all(0 < angle < np.pi / 2 for angle in angles[0])
    assert len({candidate.name for candidate in candidates}) == len(candidates)


def test_lines_are_those_of_moments_with_and_without_each_fold(made):
    X, (positive, weight, fold), candidates = made
    for candidate, setting in zip(candidates, ridge_settings(RIDGES), strict=True):
        whole = RidgeMoments.of(X, positive, weight, SIGNS).lines([setting])[0]
        np.testing.assert_allclose(direction(candidate.line), direction(whole), atol=1e-9)
        for k, line in enumerate(candidate.fold_lines):
            kept = np.flatnonzero(fold != k)
            without = RidgeMoments.of(X[kept], positive[kept], weight[kept], SIGNS)
            without = without.lines([setting])[0]
            np.testing.assert_allclose(direction(line), direction(without), atol=1e-9)
            tested = fold == k
            scores = X[np.flatnonzero(tested)] @ line[:-1] + line[-1]
            np.testing.assert_allclose(candidate.curves.scores[tested], scores, atol=1e-9)


def test_a_refit_to_more_rows_has_the_same_ridge_and_trade_off(made):
    X, (positive, weight, _), candidates = made
    index = np.r_[0:N, 0:20]
    more = X[index], positive[index], weight[index]
    for candidate, setting in zip(candidates[:3], ridge_settings(RIDGES), strict=False):
        expected = RidgeMoments.of(*more, SIGNS).lines([setting])[0]
        refit = candidate.refit(*more)
        np.testing.assert_allclose(direction(refit), direction(expected), atol=1e-9)


def test_without_folds_rows_are_scored_by_the_line_of_all(made):
    X, (positive, weight, _), _ = made
    for candidate in ridge_candidates(X, positive, weight, None, RIDGES, signs=SIGNS):
        assert candidate.fold_lines == []
        expected = X @ candidate.line[:-1] + candidate.line[-1]
        np.testing.assert_allclose(candidate.curves.scores, expected, atol=1e-9)
        assert candidate.curves.folds == ()
