"""The penalised likelihood against other solvers, and what it is for."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.linear_model import LogisticRegression

from directrix.cards.guard import guarded_line
from directrix.cards.likelihood import Features, Likelihood, Problem, _least, variances

N, D = 600, 6


def likelihood(signs=None, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(N, D)), np.ones(N)]).astype(np.float32)
    positive = rng.random(N) < 1.0 / (1.0 + np.exp(-X[:, 0] + 0.5 * X[:, 1]))
    block = np.append(np.arange(D) // 2, -1)
    signs = np.zeros(D + 1, dtype=np.int64) if signs is None else signs
    fold = np.arange(N) % 3
    return Likelihood(Features(X), block, signs, positive, np.ones(N), fold)


def solved(of_rows, without, ridge):
    grams = of_rows.grams(of_rows.curvature(np.zeros(N)))
    penalty = np.append(np.full(D, ridge), 0.0)
    return of_rows.descend([Problem(without, penalty, grams[without], np.zeros(D + 1))])[:, 0]


@pytest.mark.parametrize("without", [None, 1])
def test_it_is_logistic_regression(without):
    """Descents end when the loss falls by 1e-5 of itself; that moves coefficients by 1e-3."""
    of_rows = likelihood()
    kept = of_rows.rows_without(without)
    plain = LogisticRegression(C=0.1).fit(of_rows.features.dense[kept, :D], of_rows.positive[kept])
    coef = solved(of_rows, without, 10.0)
    np.testing.assert_allclose(coef[:D], plain.coef_[0], atol=5e-3)
    np.testing.assert_allclose(coef[-1], plain.intercept_[0], atol=5e-3)


def test_a_fold_that_is_left_out_has_no_part_in_a_fit():
    of_rows = likelihood()
    turned = likelihood()
    turned.positive[turned.fold == 2] ^= True
    np.testing.assert_array_equal(solved(of_rows, 2, 1.0), solved(turned, 2, 1.0))


def test_coefficients_with_a_sign_are_those_of_bounded_least_squares():
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, b = rng.normal(size=(30, 8)), rng.normal(size=30)
        signs = np.array([1, 0] * 4)
        lower = np.where(signs > 0, 0.0, -np.inf)
        exact = lsq_linear(A, b, (lower, np.inf), tol=1e-12).x
        found, kept = _least(A.T @ A, A.T @ b, signs)
        np.testing.assert_allclose(found, exact, atol=1e-4)  # it ends at 1e-5 of the value
        assert (found[~kept] == 0.0).all()


def test_signs_are_kept():
    signs = np.array([0, 1, 0, 1, 0, 1, 0])  # the effect of the second feature is negative
    coef = solved(likelihood(signs), None, 1.0)
    assert coef[1] == 0.0
    assert (coef[signs > 0] >= 0.0).all()


def test_columns_without_an_effect_lose_their_variance():
    of_rows = likelihood()
    coef = of_rows.first_fit()
    scores = of_rows.features.scores(coef[:, None])[:, 0]
    gram = of_rows.grams(of_rows.curvature(scores))[None]
    linear = gram @ coef - of_rows.gradient(scores, None)
    found = variances(gram, linear, of_rows.block, of_rows.signs, 0.5)
    assert found[0] > 10.0 * found[1:].max()


class TestGuard:
    def test_many_rows_have_the_line_of_logistic_regression(self):
        rng = np.random.default_rng(0)
        scores = rng.normal(size=20_000)
        positive = rng.random(20_000) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * scores))
        plain = LogisticRegression(C=1e9).fit(scores[:, None], positive)
        # Five rows of penalty among 20,000 move the slope by about 5e-4.
        expected = plain.coef_[0, 0], plain.intercept_[0]
        line = guarded_line(scores, positive, np.ones(20_000))
        np.testing.assert_allclose(line, expected, atol=5e-3)

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_few_rows_neither_turn_the_order_nor_make_it_certain(self, sign):
        scores = np.linspace(-2.0, 2.0, 20)
        slope, offset = guarded_line(scores, sign * scores > 0.0, np.ones(20))
        assert 0.0 < slope < 10.0
        assert abs(offset) < 1.0
