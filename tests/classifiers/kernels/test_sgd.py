import numpy as np
import pytest
from kernel_problems import cost, rings
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from directrix import BetaBernoulliClassifier
from directrix.classifiers.kernels.kernel import Kernel
from directrix.classifiers.kernels.sgd import kernel_sgd, row_slope
from directrix.losses.beta_bernoulli import BetaBernoulli


@pytest.mark.parametrize("loss", [BetaBernoulli(0.2, 0.3, 2.0), BetaBernoulli(0.0)])
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
    K, rng = rbf_kernel(X), np.random.RandomState(0)
    with (
        pytest.warns(ConvergenceWarning, match="unstable"),
        pytest.raises(ValueError, match="solver='sgd' diverged in pass"),
    ):
        kernel_sgd(K, np.arange(40), y, np.ones(40), BetaBernoulli(), alpha=1e4, rng=rng)
