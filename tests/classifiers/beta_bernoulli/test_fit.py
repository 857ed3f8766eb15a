"""Kernel models as Hasan and Pal 2015 define them (KBBLR), and stochastic gradients of lines."""

import numpy as np
import pytest
from kernel_problems import counts, rings
from scipy.optimize import approx_fprime
from sklearn.metrics.pairwise import rbf_kernel

from directrix import BetaBernoulliClassifier
from directrix.exceptions import FewRowsWarning
from directrix.fitting.solvers import solver_for
from directrix.linear import BetaBernoulli
from directrix.linear.objectives import DataObjective

# Some samples are small.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")

KBBLR = {"kernel": "rbf", "prior": "gaussian-coefficients", "plateaus": "empirical"}


def standardized_kernel(X):
    Z = (X - X.mean(0)) / X.std(0)
    return rbf_kernel(Z)


def test_the_penalty_of_the_paper_is_that_of_the_coefficients():
    X, y = counts(40)
    ours = BetaBernoulliClassifier(alpha=0.5, **KBBLR).fit(X, y)
    K = standardized_kernel(X)[np.ix_(ours.support_, ours.support_)]
    a, b = ours.plateaus_
    sign = y[ours.support_]

    def cost(point):
        mu = a + b / (1.0 + np.exp(-(K @ point[:-1] + point[-1])))
        return -np.log(np.where(sign, mu, 1.0 - mu)).sum() + 0.25 * point[:-1] @ point[:-1]

    point = np.append(ours.dual_coef_, ours.intercept_ + ours._shift)
    slope, start = (approx_fprime(at, cost, 1e-7) for at in (point, 0.0 * point))
    assert np.abs(slope).max() < 1e-4 * np.abs(start).max()


def test_a_class_of_two_rows_is_warned_of():
    X, _ = counts(40)
    with pytest.warns(FewRowsWarning, match="2 rows"):
        BetaBernoulliClassifier(alpha=0.5).fit(X, np.arange(40) < 2)


def test_without_a_kernel_both_priors_are_the_same():
    X, y = counts()
    lines = [
        BetaBernoulliClassifier(prior=prior).fit(X, y).coef_
        for prior in ("gaussian", "gaussian-coefficients")
    ]
    np.testing.assert_array_equal(*lines)


@pytest.mark.parametrize(
    ("solver", "prior"),
    # SLAM runs SLA some twenty times.
    [("sla", "gaussian"), ("sla", "gaussian-coefficients"), ("slam", "gaussian-coefficients")],
)
def test_a_kernel_is_searched_for_the_least_training_error(solver, prior):
    n = 24 if solver == "slam" else 40
    X, y = rings(n)
    wrong = np.arange(n) % 8 == 0
    y = y ^ wrong
    parameters = {"kernel": "rbf", "plateaus": "empirical", "alpha": 1.0, "prior": prior}
    smooth, searched = (
        BetaBernoulliClassifier(solver=name, **parameters).fit(X, y) for name in ("lbfgs", solver)
    )
    if solver == "sla":  # the other chooses the ridge on held-out rows
        assert searched.score(X, y) >= smooth.score(X, y)
    new, truth = rings(500, seed=1)
    assert searched.score(new, truth) > 0.65
    assert (searched.predict_proba(new)[:, 1] > 0.5).mean() == (searched.predict(new)).mean()


def test_the_search_probes_the_coefficients_of_rows():
    X, y = rings(30)
    ours = BetaBernoulliClassifier(solver="sla", alpha=1.0, **KBBLR).fit(X, y)
    K = standardized_kernel(X)[:, ours.support_]
    share = y.mean()
    logistic = DataObjective(K, y, np.ones(30), BetaBernoulli(mixing=0.0), 1.0 / 30)
    lbfgs = solver_for("lbfgs", logistic.loss)
    rng = np.random.default_rng(0)
    start = lbfgs.run(logistic, np.zeros(31), rng, None).coef
    loss = BetaBernoulli(mixing=0.5, prior_mean=share)
    objective = DataObjective(K, y, np.ones(30), loss, 1.0 / 30)
    line = solver_for("sla", loss).run(objective, start, rng, None).coef
    errors = np.count_nonzero((K @ line[:-1] + line[-1] > 0) != y)
    scores = ours.decision_function(X) + ours._shift
    # The starts agree to the tolerance of L-BFGS, so the searches to about one row.
    assert abs(np.count_nonzero((scores > 0) != y) - errors) <= 1


def test_stochastic_gradients_of_lines():
    X, y = counts()
    ours, exact = (
        BetaBernoulliClassifier(solver=solver, random_state=0).fit(X, y)
        for solver in ("sgd", "lbfgs")
    )
    assert np.mean(ours.predict(X) == exact.predict(X)) > 0.95
