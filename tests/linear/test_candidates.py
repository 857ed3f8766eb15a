"""The protocol of candidates: all have the same interface, whatever they are made from."""

import numpy as np
import pytest

from directrix import Moments
from directrix.linear.moment_frontier import moment_candidates, ridge_candidates
from directrix.linear.recipes import logistic_path
from directrix.linear.row_frontier import RowFrontier

FOLDS = 3


def rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) + y[:, None]
    return X, y, np.ones(n), np.arange(n) % FOLDS


def from_moments():
    X, y, weight, fold = rows()
    return moment_candidates(Moments.of(X, y, weight, fold=fold), X, y, weight, fold)[0]


def from_rows():
    candidate = RowFrontier(*rows()).plan(logistic_path())[0]
    candidate.fit()
    return candidate


def from_ridges():
    return ridge_candidates(*rows(), (0.1,), signs=np.array([1, 1, 0]))[0]


@pytest.fixture(params=[from_moments, from_ridges, from_rows])
def candidate(request):
    return request.param()


def test_lines_have_the_intercept_last_and_there_is_one_for_each_fold(candidate):
    X, _, _, fold = rows()
    assert candidate.line.shape == (4,)
    assert [line.shape for line in candidate.fold_lines] == [(4,)] * FOLDS
    for number, line in enumerate(candidate.fold_lines):
        expected = X[fold == number] @ line[:-1] + line[-1]
        np.testing.assert_allclose(
            candidate.curves.scores[fold == number], expected, rtol=0, atol=1e-10
        )


def test_curves_are_those_of_all_rows_and_of_each_fold(candidate):
    _, y, _, _ = rows()
    assert candidate.curves.whole.positives == y.sum()
    assert len(candidate.curves.folds) == FOLDS


def test_a_refit_to_more_rows_is_much_the_same_line(candidate):
    X, y, weight, _ = rows(2400, seed=1)
    line = candidate.refit(X, y, weight)
    cosine = line[:-1] @ candidate.line[:-1]
    cosine /= np.linalg.norm(line[:-1]) * np.linalg.norm(candidate.line[:-1])
    assert cosine > 0.95


def test_a_name_says_how_the_candidate_is_made(candidate):
    assert any(word in candidate.name for word in ("discriminant", "logistic"))
    assert candidate.complexity >= 0.0
