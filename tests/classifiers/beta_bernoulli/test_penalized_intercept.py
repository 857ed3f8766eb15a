import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime

from directrix.classifiers.beta_bernoulli.sparse_prior import (
    PenalizedInterceptObjective,
    newton_refine,
)
from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.objectives import DataObjective
from directrix.solve import lbfgs


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
    line = newton_refine(ours, lbfgs(ours, np.zeros(4), tol=1e-9, ftol=0.0).coef)
    other = newton_refine(ours, lbfgs(ours, np.full(4, -3.0), tol=1e-9, ftol=0.0).coef)
    assert -25.0 < line[-1] < -8.0
    np.testing.assert_allclose(other, line, rtol=0, atol=1e-6)


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
def test_polishing_ends_at_the_minimum_to_rounding(container):
    plain = objective()
    ours = PenalizedInterceptObjective(
        container(plain.X), plain.positive, plain.weight, plain.loss, plain.ridge
    )
    near = lbfgs(ours, np.zeros(4)).coef
    line = newton_refine(ours, near)
    assert np.linalg.norm(ours(near)[1]) > 1e-8
    assert np.linalg.norm(ours(line)[1]) < 1e-15
    assert ours(line)[0] <= ours(near)[0]


def test_a_step_that_leads_away_is_not_taken():
    # On the plateau the curvature is next to nothing, and below zero.
    ours = objective(ridge=0.0)
    far = np.array([-30.0, -30.0, -30.0, 5.0])
    line = newton_refine(ours, far)
    assert np.isfinite(line).all()
    assert np.linalg.norm(ours(line)[1]) <= np.linalg.norm(ours(far)[1])


@pytest.mark.parametrize("loss", [BetaBernoulli(), BetaBernoulli(0.4, 0.2, 3.0)], ids=str)
def test_the_curvature_is_the_slope_of_the_gradient(loss):
    ours, step = objective(loss), 1e-6
    scores = ours.scores(np.array([0.3, -0.2, 0.5, 0.1]))
    up, down = (
        loss.value_and_grad(ours.positive, scores + s, ours.weight)[1] for s in (step, -step)
    )
    bend = loss.curvature(ours.positive, scores, ours.weight)
    np.testing.assert_allclose(bend, (up - down) / (2.0 * step), rtol=0, atol=1e-8)
