import numpy as np
import pytest
from kernel_problems import cost, counts, rings
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from directrix import BetaBernoulliClassifier, SmoothClassifier
from directrix.classifiers.kernels import Kernel
from directrix.fitting.sgd import kernel_sgd, linear_sgd, row_slope, steepness
from directrix.linear import (
    BetaBernoulli,
    Exponential,
    Hinge,
    Logistic,
    Sigmoid,
    SquaredHinge,
)
from directrix.linear.objectives import DataObjective
from directrix.solve import lbfgs

# Some samples are small.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")


@pytest.mark.parametrize("loss", [BetaBernoulli(0.2, 0.3, 2.0), Logistic(), Hinge(0.0)])
def test_the_slope_is_that_of_the_loss(loss):
    scores = np.array([-3.0, -0.5, 0.0, 2.0, 30.0])
    for positive in (True, False):
        side = np.full(5, positive)
        expected = 5.0 * loss.value_and_grad(side, scores, np.ones(5))[1]
        ours = [row_slope(score, positive, loss) for score in scores]
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-13)
    assert np.isfinite([row_slope(far, bool(y), loss) for far in (-1e6, 1e6) for y in (0, 1)]).all()


def test_it_comes_near_the_least_objective():
    X, y = rings(60)
    parameters = {"kernel": "rbf", "alpha": 0.1, "random_state": 0}
    sgd = BetaBernoulliClassifier(solver="sgd", **parameters).fit(X, y)
    exact = BetaBernoulliClassifier(**parameters).fit(X, y)
    np.testing.assert_array_equal(sgd.support_, exact.support_)
    X, y = X[sgd.support_], y[sgd.support_]
    K = Kernel("rbf")(*[sgd._units.rows(X)] * 2)
    ours, least, start = (
        cost(K, y, (0.15, 0.7), 0.1, np.append(a, b))
        for a, b in (
            (sgd.dual_coef_, sgd.intercept_),
            (exact.dual_coef_, exact.intercept_),
            (np.zeros(60), 0.0),
        )
    )
    assert least <= ours
    assert ours - least < 0.2 * (start - least)
    assert sgd.score(X, y) > 0.9


def test_the_same_seed_gives_the_same():
    X, y = rings(40)
    ours, again, other = (
        BetaBernoulliClassifier(solver="sgd", kernel="rbf", alpha=0.1, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(ours.dual_coef_, again.dual_coef_)
    assert (ours.dual_coef_ != other.dual_coef_).any()


def test_a_large_ridge_is_warned_of():
    X, y = rings(40)
    ours = BetaBernoulliClassifier(solver="sgd", kernel="rbf", alpha=10.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="alpha=10 is large for solver='sgd'"):
        ours.fit(X, y)


def test_a_ridge_with_which_it_diverges_is_refused():
    X, y = rings(40)
    rng = np.random.RandomState(0)
    objective = DataObjective(rbf_kernel(X), y, np.ones(40), BetaBernoulli(), 1e4 / 40)
    with (
        pytest.warns(ConvergenceWarning, match="unstable"),
        pytest.raises(
            ValueError, match=r"solver='sgd' diverged in pass .*alpha=10000 is too large"
        ),
    ):
        kernel_sgd(objective, np.arange(40), rng, alpha=1e4)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [(Logistic(), 0.25), (Hinge(0.0), 0.5), (SquaredHinge(), 2.0), (Exponential(), np.sinh(1.0))],
    ids=str,
)
def test_the_steepness_of_a_loss_is_the_change_of_its_slope(loss, expected):
    assert steepness(loss) == pytest.approx(expected)


LOSSES = [Logistic(), Hinge(), SquaredHinge(), Exponential(), Sigmoid(), BetaBernoulli()]


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_linear_models_come_near_the_minimum_of_any_loss_of_rows(loss, holder):
    X, y = counts(60)
    X = (X - X.mean(0)) / X.std(0)
    objective = DataObjective(holder(X), y, np.ones(60), loss, 1e-2)
    ours = linear_sgd(objective, np.random.default_rng(0))
    start, least = objective(np.zeros(7))[0], lbfgs(objective, np.zeros(7), tol=1e-8).value
    assert ours.value == pytest.approx(objective(ours.coef)[0], rel=1e-12)
    assert len(ours.history) == ours.n_iter + 1 == 51
    # Steps for the exponential loss are short, because its slope grows without bound.
    assert ours.value - least < (0.3 if loss == Exponential() else 0.1) * (start - least)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_kernel_expansions_come_near_the_minimum_of_any_loss_of_rows(loss):
    X, y = rings(60)
    parameters = {"loss": loss, "kernel": "rbf", "alpha": 1e-3, "cv": None, "random_state": 0}
    ours = SmoothClassifier(solver="sgd", **parameters).fit(X, y)
    exact = SmoothClassifier(solver="lbfgs", **parameters).fit(X, y)
    start, value, least = (
        step.value for step in (*ours.history_[:: len(ours.history_) - 1], exact.history_[-1])
    )
    assert value - least < 0.35 * (start - least)
    assert ours.score(X, y) > 0.9


def test_a_step_is_that_of_the_notes():
    X, y = rings(5)
    K, alpha = rbf_kernel(X), 0.01
    seen = []
    objective = DataObjective(K, y, np.ones(5), Logistic(), alpha)
    kernel_sgd(
        objective,
        np.arange(5),
        np.random.default_rng(0),
        alpha=alpha,
        callback=lambda coef, _: seen.append(coef) or True,
    )
    a, b = np.zeros(5), 0.0
    first = 4.0 / (1.0 + (K**2).sum(axis=0).max())
    for t, i in enumerate(np.random.default_rng(0).choice(5, size=5, p=np.full(5, 0.2)), start=1):
        sign = 1.0 if y[i] else -1.0
        slope = -sign / (1.0 + np.exp(sign * (K[i] @ a + b)))
        a, b = (
            a - first / np.sqrt(t) * (slope * K[i] + 5 * alpha * K[i] * a[i]),
            b - first / np.sqrt(t) * slope,
        )
    np.testing.assert_allclose(seen[0], np.append(a, b), rtol=0, atol=1e-14)


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_first_step_of_a_line_is_safe_for_its_longest_row(holder):
    X, y = np.array([[1.0, 0.0], [3.0, -4.0]]), np.array([True, False])
    objective = DataObjective(holder(X), y, np.ones(2), Logistic(), 0.5)
    seen = []
    linear_sgd(
        objective, np.random.default_rng(0), callback=lambda coef, _: seen.append(coef) or True
    )
    # 1 / (ridge + steepness (1 + |x|^2)): the logistic slope changes by a quarter at most.
    first, coef = 1.0 / (0.5 + 0.25 * (1.0 + 25.0)), np.zeros(3)
    for t, i in enumerate(np.random.default_rng(0).choice(2, size=2, p=[0.5, 0.5]), start=1):
        slope, size = row_slope(float(coef[:2] @ X[i] + coef[2]), bool(y[i]), Logistic()), first
        size /= np.sqrt(t)
        coef[:2] *= 1.0 - size * 0.5
        coef -= size * slope * np.append(X[i], 1.0)
    np.testing.assert_allclose(seen[0], coef, rtol=1e-12)
