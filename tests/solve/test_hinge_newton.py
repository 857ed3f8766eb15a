import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from directrix.losses import Hinge
from directrix.objectives import DataObjective
from directrix.solve import hinge_newton


def rows(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.5 * y
    return X, y


# With few features the steps are solved for the features, with many for the rows in the corner.
@pytest.mark.parametrize("d", [2, 60])
@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("ridge", [1.0, 1e-2, 1e-4])
def test_it_is_the_support_vector_machine(d, holder, ridge):
    X, y = rows(d=d)
    ours = hinge_newton(holder(X), y, np.zeros(d + 1), ridge=ridge)
    theirs = SVC(C=1.0 / (ridge * len(y)), kernel="linear", tol=1e-7).fit(X, y)
    objective = DataObjective(X, y, np.ones(len(y)), Hinge(kappa=0.0), ridge)
    least = objective(np.append(theirs.coef_, theirs.intercept_))[0]
    assert ours.converged
    assert ours.value == pytest.approx(objective(ours.coef)[0], rel=1e-12)
    # SVC stops where its own conditions hold to 1e-7 in units of C, above the least by up to 1e-3.
    assert ours.value <= least * (1.0 + 1e-6)
    assert ours.value == pytest.approx(least, rel=1e-3)
    assert ours.lower_bound <= ours.value
    assert ours.value - ours.lower_bound <= 1e-6 * ours.value


def test_its_coefficients_of_rows_make_up_the_line():
    X, y = rows()
    ours = hinge_newton(X, y, np.zeros(4), ridge=1e-2)
    np.testing.assert_allclose(ours.dual @ X, ours.coef[:-1], rtol=0, atol=1e-9)
    beyond = np.where(y, 1.0, -1.0) * (X @ ours.coef[:-1] + ours.coef[-1]) > 1.0 + 1e-4
    assert beyond.any()
    assert not ours.dual[beyond].any()


def test_a_weight_is_repetition_and_the_start_does_not_matter():
    X, y = rows(40)
    weight = np.random.default_rng(1).integers(1, 4, 40)
    repeated = np.repeat(np.arange(40), weight)
    ours = hinge_newton(
        X, y, np.array([3.0, -2.0, 0.0, 5.0]), ridge=0.1, weight=weight.astype(float)
    )
    theirs = hinge_newton(X[repeated], y[repeated], np.zeros(4), ridge=0.1)
    np.testing.assert_allclose(ours.coef[:-1], theirs.coef[:-1], rtol=0, atol=1e-3)
    assert ours.value == pytest.approx(theirs.value, rel=1e-6)


def test_another_margin_is_another_unit():
    X, y = rows()
    ours = hinge_newton(X, y, np.zeros(4), ridge=0.1, margin=2.0)
    unit = hinge_newton(X, y, np.zeros(4), ridge=0.2)
    # (2 − y f)₊ + λ/2 |w|² is twice (1 − y g)₊ + λ |v|² for f = 2 g.
    assert ours.value == pytest.approx(2.0 * unit.value, rel=1e-5)


def test_separable_rows_and_a_callback_that_stops():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([False, False, True, True])
    ours = hinge_newton(X, y, np.zeros(2), ridge=1e-3)
    np.testing.assert_allclose(ours.coef, [1.0, 0.0], atol=1e-4)
    seen = []
    stopped = hinge_newton(
        X, y, np.zeros(2), ridge=1e-3, callback=lambda _, value: seen.append(value) or True
    )
    assert len(seen) == stopped.n_iter == 1
    assert not stopped.converged


def test_without_a_ridge_it_is_refused():
    with pytest.raises(ValueError, match=r"ridge must be above zero, not 0\.0"):
        hinge_newton(*rows(), np.zeros(4), ridge=0.0)
