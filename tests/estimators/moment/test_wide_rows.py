"""MomentClassifier with more features than a matrix of them would be worth."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from directrix import MomentClassifier, Moments
from directrix.estimators import moment as module
from directrix.estimators.moment import VALUES_PER_ELEMENT, keeps_rows
from directrix.export import load, save
from directrix.linear import Frontier
from directrix.linear.moment_frontier import MomentLines
from directrix.linear.sample_search import WIDE_FEATURES
from directrix.moments import RowScatter

D = WIDE_FEATURES + 20


def rows(n=240, d=D, seed=0, factors=4):
    """Return rows with common factors; the classes differ in mean and spread."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, d)) * np.where(y, 1.4, 1.0)[:, None]
    X += rng.normal(size=(n, factors)) @ np.random.default_rng(99).normal(size=(factors, d))
    X[:, :30] += 0.8 * y[:, None]
    return X, y


def words(n=240, d=D, seed=0):
    """Return sparse counts, whose first columns depend on the class."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.poisson(np.where(rng.random(d) < 0.1, 0.3, 0.02), (n, d)).astype(float)
    X[:, :25] += rng.poisson(0.2, (n, 25)) * y[:, None]
    return X, y


def direction(classifier):
    """Return the line, intercept last, scaled to a largest coefficient of one."""
    line = np.append(classifier.coef_[0], classifier.intercept_)
    return line / np.abs(line[:-1]).max()


def by_moments(X, y, weight=None, shrinkage=0.3):
    moments = Moments.of(X, y, weight, keep_rows=True, sample=0)
    line = Frontier(moments, shrinkage).best("auc").line
    return line / np.abs(line[:-1]).max()


def test_rows_are_kept_if_features_are_many_and_matrices_larger():
    d = WIDE_FEATURES + 1
    most = VALUES_PER_ELEMENT * d
    assert keeps_rows(np.broadcast_to(0.0, (most, d)))
    assert not keeps_rows(np.broadcast_to(0.0, (most + 1, d)))
    assert keeps_rows(sparse.csr_array((10 * most, d)))
    assert not keeps_rows(np.zeros((10, WIDE_FEATURES)))


@pytest.mark.parametrize("metric", ["auc", "error"])
def test_the_metric_is_that_of_the_exact_lines(metric, monkeypatch):
    X, y = rows(500)
    X_new, y_new = rows(4000, seed=1)
    wide = MomentClassifier(metric).fit(X, y)
    assert isinstance(wide.moments_.positive.scatter, RowScatter)
    monkeypatch.setattr(module, "keeps_rows", lambda _: False)
    exact = MomentClassifier(metric).fit(X, y)
    assert isinstance(exact.moments_.positive.scatter, np.ndarray)
    areas = [roc_auc_score(y_new, each.decision_function(X_new)) for each in (wide, exact)]
    assert areas[0] == pytest.approx(areas[1], abs=0.01)


@pytest.mark.parametrize("shrinkage", ["oas", 0.05, 0.5])
@pytest.mark.parametrize("metric", ["auc", "error", "recall@fpr=0.05"])
def test_the_line_of_least_risk_is_that_of_the_matrices(metric, shrinkage):
    X, y = rows(500)
    moments = Moments.of(X, y)
    exact = Frontier(moments, shrinkage).best(metric)
    wide = Frontier(Moments.of(X, y, keep_rows=True, sample=0), shrinkage).best(metric)
    assert wide.risk == pytest.approx(exact.risk, abs=0.01)
    assert np.corrcoef(X @ exact.coef, X @ wide.coef)[0, 1] > 0.98


@pytest.mark.parametrize("sample", [10_000, 0])
def test_sparse_rows_are_as_dense_ones(sample):
    X, y = words()
    ours = [
        MomentClassifier("auc", sample=sample).fit(holder(X), y)
        for holder in (np.array, sparse.csr_array)
    ]
    np.testing.assert_allclose(direction(ours[0]), direction(ours[1]), atol=1e-8)


def test_a_weight_is_a_repetition():
    X, y = words(120)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    for holder in (np.array, sparse.csr_array):
        one = by_moments(holder(X), y, weight, "oas")
        other = by_moments(holder(X[repeated]), y[repeated], shrinkage="oas")
        np.testing.assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("holder", [np.array, sparse.csr_array])
def test_the_order_of_rows_does_not_matter(holder):
    X, y = words()
    order = np.random.default_rng(1).permutation(len(y))
    one = MomentClassifier().fit(holder(X), y)
    other = MomentClassifier().fit(holder(X[order]), y[order])
    np.testing.assert_allclose(direction(one), direction(other), atol=1e-9)


def test_the_order_of_columns_does_not_matter():
    X, y = rows()
    order = np.random.default_rng(1).permutation(D)
    one, other = by_moments(X, y), by_moments(X[:, order], y)
    np.testing.assert_allclose(one[:-1][order], other[:-1], atol=1e-8)


def test_constant_columns_have_no_coefficient_and_change_nothing_else():
    X, y = rows()
    wider = np.hstack([X, np.full((len(y), 3), [0.0, 0.1, 1e12])])
    line = by_moments(wider, y, shrinkage=1.0)
    assert not line[D : D + 3].any()
    np.testing.assert_allclose(line[:D], by_moments(X, y, shrinkage=1.0)[:-1], atol=1e-9)


@pytest.mark.parametrize("holder", [np.array, sparse.csr_array])
def test_equal_columns_have_equal_coefficients(holder):
    X, y = words()
    line = by_moments(holder(np.hstack([X, X[:, :40]])), y)
    np.testing.assert_allclose(line[:40], line[D : D + 40], atol=1e-9)


def test_large_offsets_cost_no_digits():
    X, y = rows()
    X = np.round(X * 1024.0) / 1024.0  # exact after adding the offset
    moved = X.copy()
    moved[:, ::3] += 2.0**40
    np.testing.assert_allclose(by_moments(moved, y)[:-1], by_moments(X, y)[:-1], atol=1e-9)


def test_columns_of_one_category_each():
    rng = np.random.default_rng(0)
    code = rng.integers(0, D // 2, (400, 2))
    y = (code[:, 0] % 7 < 2) ^ (rng.random(400) < 0.1)
    X = sparse.hstack([sparse.csr_array(np.eye(D // 2)[column]) for column in code.T], format="csr")
    wide = MomentClassifier("error").fit(sparse.hstack([X, X[:, :50]], format="csr"), y)
    assert np.isfinite(wide.coef_).all()
    assert 0.0 < wide.operating_point_.empirical.tpr <= 1.0


@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")
@pytest.mark.parametrize("holder", [np.array, sparse.csr_array])
def test_six_rows(holder):
    X, _ = rows(6)
    y = np.array([0, 1, 0, 1, 0, 1])
    wide = MomentClassifier("auc").fit(holder(X), y)
    assert np.isfinite(wide.coef_).all()
    assert wide.predict(X).shape == (6,)


@pytest.mark.parametrize("holder", [np.array, sparse.csr_array])
def test_the_line_of_a_fold_does_not_see_its_labels(holder):
    X, y = words()
    fold = np.arange(len(y)) % 4
    changed = np.where(fold == 2, ~y, y)

    def fold_lines(labels):
        moments = Moments.of(holder(X), labels, fold=fold, keep_rows=True, sample=0)
        return MomentLines.of(moments, ["oas", 0.1]).fold_lines

    before, after = fold_lines(y), fold_lines(changed)
    np.testing.assert_array_equal(before[2], after[2])
    assert (before[1] != after[1]).any()


def test_a_saved_classifier_predicts_the_same(tmp_path):
    X, y = words()
    wide = MomentClassifier("recall@fpr=0.05").fit(sparse.csr_array(X), y)
    save(wide, tmp_path / "wide.model")
    restored = load(tmp_path / "wide.model")
    np.testing.assert_array_equal(wide.predict_proba(X), restored.predict_proba(X))
    assert restored.operating_point_ == wide.operating_point_


def test_the_summary_of_a_fit_can_be_added_to_saved_and_subtracted_from(tmp_path):
    X, y = rows()
    wide = MomentClassifier("auc", sample=0).fit(X[:200], y[:200])
    wide.moments_.save(tmp_path / "wide.moments")
    matrices = Moments.of(X[:200], y[:200], sample=0)
    saved = Moments.load(tmp_path / "wide.moments")
    np.testing.assert_allclose(
        saved.positive.scatter, matrices.positive.scatter, rtol=1e-10, atol=1e-8
    )
    whole = wide.partial_fit(X[200:], y[200:]).moments_
    np.testing.assert_allclose(
        whole.negative.scatter, Moments.of(X, y).negative.scatter, rtol=1e-10, atol=1e-8
    )
    without = Moments.of(X, y, keep_rows=True, sample=0) - Moments.of(X[200:], y[200:], sample=0)
    np.testing.assert_allclose(
        without.negative.scatter, matrices.negative.scatter, rtol=1e-10, atol=1e-8
    )
