import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from benchmarks.studies.descents import random_moments
from directrix import Moments
from directrix.exceptions import OneClassPredictedWarning
from directrix.linear import Frontier
from directrix.metrics import Cost, PrecisionAtK, RecallAtFPR
from directrix.moments.class_moments import DENSE_FEATURES
from directrix.moments.projection import project


def rows(n=3000, d=4, share=0.1, gap=1.0, wider=1.5):
    rng = np.random.default_rng(0)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d)) * np.where(y, wider, 1.0)[:, None]
    X[:, 0] += gap * y
    return X, y


def test_a_line_of_one_feature_is_the_threshold_on_it():
    X, y = rows(d=1)
    model = Frontier(Moments.of(X, y)).best("error")
    assert model.coef.shape == (1,)
    assert model.coef[0] > 0


def test_best_many_is_best_of_each():
    frontier = Frontier(Moments.of(*rows()))
    metrics = ["auc", RecallAtFPR(0.05), PrecisionAtK(30)]
    for model, metric in zip(frontier.best_many(metrics), metrics, strict=True):
        again = Frontier(Moments.of(*rows())).best(metric)
        np.testing.assert_array_equal(model.coef, again.coef)


def test_when_a_constant_is_best_it_is_said_and_every_row_gets_that_class():
    # Rare positives inside the negatives: nowhere are they more likely.
    X, y = rows(share=0.02, gap=0.3, wider=0.7)
    with pytest.warns(OneClassPredictedWarning, match="predicts False.*balanced_error") as caught:
        model = Frontier(Moments.of(X, y)).best("error")
    assert caught[0].filename == __file__
    assert np.isfinite(model.intercept)
    assert (X @ model.coef + model.intercept < 0).all()
    # Positives all around, and far dearer to miss: nowhere are they unlikely enough.
    X, y = rows(share=0.02, gap=0.3, wider=1.5)
    with pytest.warns(OneClassPredictedWarning, match="predicts True for every row"):
        model = Frontier(Moments.of(X, y)).best(Cost(fp=1.0, fn=1e6))
    assert (X @ model.coef + model.intercept > 0).all()


def test_the_curve_rises_and_no_line_is_above_it():
    moments = Moments.of(*rows())
    frontier = Frontier(moments, shrinkage=0.0)
    curve = frontier.curve()
    assert (np.diff(curve.fpr) > 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert curve.coef.shape == (101, 4)
    rng = np.random.default_rng(1)
    from directrix.moments.risks import MissAtFPR

    for w in (*rng.normal(size=(50, 4)), frontier.best("auc").coef):
        scores = project(moments, np.append(w, 0.0))
        caught = [1.0 - MissAtFPR(fpr).value(scores) for fpr in curve.fpr]
        assert (np.array(caught) <= curve.tpr + 1e-4).all()


def test_a_constant_column_and_fewer_rows_than_columns_are_no_obstacle():
    X, y = rows(n=40, d=60)
    X[:, 7] = 3.0
    model = Frontier(Moments.of(X, y, classes=[False, True]), shrinkage=0.0).best("auc")
    assert np.isfinite(model.coef).all()


@pytest.mark.parametrize("shrinkage", [-0.1, 1.5, float("nan"), None, "much"])
def test_a_share_that_is_none_is_refused(shrinkage):
    with pytest.raises(ValueError, match="from 0 to 1"):
        Frontier(Moments.of(*rows()), shrinkage=shrinkage).best("auc")


def test_both_classes_need_rows():
    X, _ = rows()
    moments = Moments.of(X, np.ones(len(X), bool), classes=[False, True])
    with pytest.raises(ValueError, match="both classes need rows"):
        Frontier(moments).best("auc")


def test_very_many_features_are_solved_through_the_rows():
    rng = np.random.default_rng(0)
    n, d = 300, DENSE_FEATURES + 20
    y = np.arange(n) % 2 == 0
    X = np.where(rng.random((n, d)) < 0.01, rng.normal(size=(n, d)), 0.0)
    X[:, :3] += y[:, None] * (rng.random((n, 3)) < 0.5)
    moments = Moments.of(sparse.csr_array(X), y)
    frontier = Frontier(moments, shrinkage=0.3)
    model = frontier.best("auc")
    standard = moments.standardize().moments
    w = model.coef * moments.standardize().scale

    def mixed(vector):
        return sum(
            0.7 * (group.covariance @ vector) + 0.3 * group.variance.mean() * vector
            for group in (standard.positive, standard.negative)
        )

    delta = standard.positive.mean - standard.negative.mean
    exact, _ = cg(LinearOperator((d, d), matvec=mixed), delta, rtol=1e-12)
    # The cosine between the two in the norm of the pencil: the correlation of their scores.
    correlation = delta @ w / np.sqrt((w @ mixed(w)) * (delta @ exact))
    assert 1.0 - 1e-9 <= correlation <= 1.0 + 1e-9
    assert Frontier(moments).best(RecallAtFPR(0.05)).risk < 0.5


def test_shrinkage_by_oas_is_that_of_the_paper():
    from sklearn.covariance import oas as reference

    from directrix.moments.class_moments import oas, shrunk

    X, y = rows(n=400, d=12)
    X = X @ np.diag(np.arange(1.0, 13.0))  # far from a multiple of the identity
    group = Moments.of(X, y).negative
    _, share = reference(X[~y])
    # scikit-learn leaves out the terms in 2/d, as its documentation says.
    assert oas(group) == pytest.approx(share, rel=2 / 12)
    S = np.cov(X[~y].T, bias=True)
    n, d = (~y).sum(), 12
    above = (1 - 2 / d) * np.trace(S @ S) + np.trace(S) ** 2
    below = (n + 1 - 2 / d) * (np.trace(S @ S) - np.trace(S) ** 2 / d)
    assert oas(group) == pytest.approx(above / below, rel=1e-12)
    mixed = shrunk(group, 0.25)
    np.testing.assert_allclose(mixed, 0.75 * S + 0.25 * np.trace(S) / d * np.eye(d), rtol=1e-12)
    assert (
        oas(Moments.of(X[:, :1], y).negative) == 1.0
    )  # one feature: the covariance is a multiple of the identity


def test_all_lines_of_random_problems_are_finite():
    rng = np.random.default_rng(5)
    for _ in range(5):
        moments = random_moments(rng)
        for model in Frontier(moments).best_many(["auc", RecallAtFPR(1e-6), RecallAtFPR(0.999)]):
            assert np.isfinite(model.coef).all()
            assert 0 <= model.risk <= 1
