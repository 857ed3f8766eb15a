import numpy as np
import pytest
from scipy import sparse

from directrix.linear import batch_solver as _curvature
from directrix.linear.batch_solver import Anchor, Curvature, RowBatch
from tests.linear.test_row_batch import rows
from tests.linear.test_sigmoid_problems import PLAIN, objective

RECIPE = PLAIN[0]


def hessian_times(vector, line, left_out, given, step=1e-5):
    alone = objective(RECIPE, left_out, *given)
    return (alone(line + step * vector)[1] - alone(line - step * vector)[1]) / (2.0 * step)


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("left_out", [None, 1])
@pytest.mark.parametrize("at_zero", [True, False])
def test_it_inverts_the_hessian_of_logistic_regression(at_zero, left_out, holder):
    given = rows()
    line = np.zeros(5) if at_zero else np.full(5, 0.3)
    anchor = Anchor(left_out) if at_zero else Anchor(left_out, RECIPE.key, line)
    curvature = Curvature(RowBatch(holder(given[0]), *given[1:]))
    precondition = curvature.preconditioner([anchor], np.array([RECIPE.ridge]))
    vector = np.random.default_rng(2).normal(size=5)
    product = hessian_times(vector, line, left_out, given)
    back = precondition(product[None], np.array([0]))[0]
    np.testing.assert_allclose(back, vector, rtol=1e-6, atol=1e-7)  # of the differences


def test_each_problem_has_the_information_of_its_fold_and_ridge():
    given = rows()
    curvature = Curvature(RowBatch(*given))
    anchors, ridges = [Anchor(fold) for fold in (0, 1, 0, None)], np.array([0.1, 0.1, 1.0, 0.1])
    together = curvature.preconditioner(anchors, ridges)
    vectors = np.random.default_rng(3).normal(size=(4, 5))
    found = together(vectors[[3, 1]], np.array([3, 1]))
    for number, index in enumerate((3, 1)):
        alone = curvature.preconditioner([anchors[index]], ridges[[index]])
        expected = alone(vectors[[index]], np.array([0]))[0]
        np.testing.assert_allclose(found[number], expected)
    assert not np.allclose(
        together(vectors[[0]], np.array([0])), together(vectors[[0]], np.array([2]))
    )


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_of_many_features_it_takes_the_diagonal_at_zero(holder, monkeypatch):
    given = rows()
    batch = RowBatch(holder(given[0]), *given[1:])
    anchor = Anchor(None, RECIPE.key, np.full(5, 0.3))
    vector = np.ones((1, 5))
    monkeypatch.setattr(_curvature, "_MOST_AT_LINE", 3)
    at_zero = Curvature(batch).preconditioner([anchor], np.array([0.1]))(vector, np.array([0]))
    plain = Curvature(batch).preconditioner([Anchor(None)], np.array([0.1]))(vector, np.array([0]))
    np.testing.assert_array_equal(at_zero, plain)
    monkeypatch.setattr(_curvature, "_MOST_AT_LINE", 300)
    double = Curvature(batch).preconditioner([Anchor(None)], np.array([0.1]))(vector, np.array([0]))
    np.testing.assert_allclose(at_zero, double, rtol=1e-5)
    monkeypatch.setattr(_curvature, "_MOST_AT_LINE", 3)
    monkeypatch.setattr(_curvature, "_MOST_AT_ZERO", 3)
    diagonal = Curvature(batch).preconditioner([anchor], np.array([0.1]))(vector, np.array([0]))
    X, _, weight, _ = given
    expected = (weight / weight.sum()) @ np.column_stack([X, np.ones(len(X))]) ** 2 / 4.0
    expected[:-1] += 0.1
    np.testing.assert_allclose(diagonal[0], 1.0 / expected, rtol=1e-4)


def test_a_constant_feature_is_no_trouble():
    X, *others = rows()
    X[:, 2] = 0.0
    precondition = Curvature(RowBatch(X, *others)).preconditioner([Anchor(0)], np.array([0.0]))
    assert np.isfinite(precondition(np.ones((1, 5)), np.array([0]))).all()


@pytest.mark.parametrize("few", [1 << 13, 0], ids=["double precision", "single precision"])
def test_what_rounds_to_a_negative_eigenvalue_is_still_inverted(few, monkeypatch):
    monkeypatch.setattr(_curvature, "_FEW_ROWS", few)
    monkeypatch.setattr(_curvature, "_MOST_AT_LINE", 3)
    X, *others = rows()
    X = np.column_stack([X, 1e3 * X @ np.ones(4)] + [1e3 * X[:, 0]] * 20)
    precondition = Curvature(RowBatch(X, *others)).preconditioner([Anchor(0)], np.array([0.0]))
    vector = np.random.default_rng(0).normal(size=(1, X.shape[1] + 1))
    result = precondition(vector, np.array([0]))
    assert np.isfinite(result).all()
    assert (vector * result).sum() > 0.0
