"""Trainers: cards of several ridges, without each of some folds."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from directrix.designs.trainers import CountTrainer, RowTrainer
from directrix.fitting.training_rows import Rows
from directrix.frontier.pencil import RidgeMoments
from directrix.tables.coding.coded_rows import CodedRows, Coding

N = 150


def coded():
    rng = np.random.default_rng(0)
    coding = Coding([rng.normal(size=(6, 3)), rng.normal(size=(4, 3))])
    cells = np.column_stack([rng.integers(0, 6, N), rng.integers(0, 4, N)])
    positive = rng.random(N) < 0.15 * cells[:, 0]
    rows = Rows(cells, positive, rng.uniform(0.5, 2.0, N), np.arange(N) % 3)
    return CodedRows.of(coding.cell_numbers(cells, []), coding), rows


def test_cards_of_rows_are_logistic_regressions():
    X, rows = coded()
    solved = RowTrainer(rows, 1e-9).solve(X, [1e-1, 1e-2], [None, 0, 2])
    assert set(solved) == {(ridge, fold) for ridge in (1e-1, 1e-2) for fold in (None, 0, 2)}
    for (ridge, fold), line in solved.items():
        kept = np.flatnonzero(rows.fold != fold) if fold is not None else np.arange(N)
        weight = rows.weight[kept] / rows.weight[kept].sum()
        theirs = LogisticRegression(C=1.0 / ridge, tol=1e-8)
        theirs.fit(X[kept].dense().astype(float), rows.positive[kept], weight)
        np.testing.assert_allclose(line[:-1], theirs.coef_[0], atol=2e-3)
        np.testing.assert_allclose(line[-1], theirs.intercept_[0], atol=2e-3)


def test_where_a_descent_begins_does_not_matter():
    X, rows = coded()
    trainer = RowTrainer(rows, 1e-9)
    plain = trainer.solve(X, [1e-2], [0, 1])
    far = {fold: np.full(X.shape[1] + 1, 2.0) for fold in (0, 1)}
    for key, line in trainer.solve(X, [1e-2], [0, 1], far).items():
        np.testing.assert_allclose(line, plain[key], atol=2e-3)


def test_cards_of_counts_are_lines_of_moments():
    X, rows = coded()
    solved = CountTrainer(rows).solve(X, [1.0, 0.1], [None, 1])
    for (ridge, fold), line in solved.items():
        kept = np.flatnonzero(rows.fold != fold) if fold is not None else np.arange(N)
        moments = RidgeMoments.of(X[kept], rows.positive[kept], rows.weight[kept])
        expected = moments.lines([(ridge, moments.equal_angle)])[0]
        np.testing.assert_allclose(line, expected, atol=1e-9)


def test_scores_of_rows_are_log_odds():
    scores = np.linspace(-3.0, 3.0, N)
    _, rows = coded()
    np.testing.assert_allclose(RowTrainer(rows, 1e-5).probability(scores, None), expit(scores))


@pytest.mark.parametrize("fold", [None, 1])
def test_probabilities_of_counts_rise_with_the_score_and_have_the_rate_of_the_rows(fold):
    _, rows = coded()
    scores = rows.X[:, 0] + np.random.default_rng(1).random(N)
    chance = CountTrainer(rows).probability(scores, fold)
    assert (np.diff(chance[np.argsort(scores)]) > 0).all()
    weight = np.where(rows.fold == fold, 0.0, rows.weight) if fold is not None else rows.weight
    expected = np.average(rows.positive, weights=weight)
    assert np.average(chance, weights=weight) == pytest.approx(expected, abs=1e-3)


def test_labels_of_a_fold_do_not_reach_probabilities_made_without_it():
    _, rows = coded()
    flipped = rows._replace(positive=rows.positive ^ (rows.fold == 1))
    scores = rows.X[:, 0].astype(float)
    one, other = (CountTrainer(each).probability(scores, 1) for each in (rows, flipped))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_scores_that_are_all_equal_have_the_rate_of_the_rows():
    _, rows = coded()
    chance = CountTrainer(rows).probability(np.ones(N), None)
    np.testing.assert_allclose(chance, np.average(rows.positive, weights=rows.weight), atol=1e-3)


def test_columns_of_a_wide_table_have_fewer_directions():
    limit = RowTrainer.most_features
    assert [RowTrainer.rank_of(n) for n in (0, 1, 20)] == [RowTrainer.rank] * 3
    assert RowTrainer.rank_of(limit // 10) == 10
    assert RowTrainer.rank_of(limit) == 2
