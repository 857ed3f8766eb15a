import numpy as np
import pytest
from scipy.optimize import approx_fprime

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.lbfgs import lbfgs
from directrix.linear.objectives import DataObjective
from directrix.papers.hasan_pal_2015.search import PenalizedInterceptObjective


def objective(loss=None, share=0.4, n=200, ridge=0.01):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < share
    X = rng.normal(size=(n, 3)) + 0.7 * positive[:, None]
    return PenalizedInterceptObjective(
        X, positive, rng.uniform(0.5, 2.0, n), loss or BetaBernoulli(), ridge
    )


def test_its_gradient_is_that_of_finite_differences():
    # So far out that what is added counts.
    ours, point = objective(), np.array([0.3, -0.2, 0.5, 1e4])
    expected = approx_fprime(point, lambda at: ours(at)[0], 1e-5)
    np.testing.assert_allclose(ours(point)[1], expected, rtol=0, atol=1e-6)
    assert ours(point)[1][-1] == pytest.approx(1e-4)


def test_next_to_nothing_is_added():
    ours = objective()
    plain = DataObjective(ours.X, ours.positive, ours.weight, ours.loss, ours.ridge)
    point = np.array([0.3, -0.2, 0.5, 1.0])
    assert abs(ours(point)[0] - plain(point)[0]) < 1e-7


def test_an_intercept_without_a_best_value_has_one():
    # One in twenty is positive, and the loss knows none below three in twenty.
    ours = objective(BetaBernoulli(0.3), share=0.05, ridge=10.0)
    for start in (np.zeros(4), np.full(4, -3.0)):
        line = lbfgs(ours, start, tol=1e-9, ftol=0.0).coef
        assert -25.0 < line[-1] < -8.0
