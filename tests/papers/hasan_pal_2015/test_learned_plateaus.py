import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.objectives import DataObjective
from directrix.papers.hasan_pal_2015.plateaus import JointObjective, learn, pair_of


def objective(loss=None, n=80, d=3, ridge=0.05):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, d)) + positive[:, None]
    weight = rng.uniform(0.5, 2.0, n)
    return DataObjective(X, positive, weight, loss or BetaBernoulli(0.2, 0.4), ridge)


@pytest.mark.parametrize("sharpness", [False, True])
def test_the_gradient_is_that_of_finite_differences(sharpness):
    joint = JointObjective(objective(), sharpness)
    rng = np.random.default_rng(1)
    for _ in range(3):
        point = rng.normal(size=4 + len(joint.names))
        expected = approx_fprime(point, lambda at: joint(at)[0], 1e-7)
        np.testing.assert_allclose(joint(point)[1], expected, rtol=0, atol=2e-6)


def test_the_start_is_the_loss_that_was_given():
    joint = JointObjective(objective(BetaBernoulli(0.3, 0.6, 2.0)), sharpness=True)
    point = joint.start(np.arange(4.0))
    coef, unbounded = joint.split(point)
    np.testing.assert_array_equal(coef, np.arange(4.0))
    loss, _ = joint.loss_at(unbounded)
    assert (loss.mixing, loss.prior_mean, loss.gamma) == pytest.approx((0.3, 0.6, 2.0))


def test_the_ends_of_a_range_can_be_left():
    joint = JointObjective(objective(BetaBernoulli(0.0, 1.0)), sharpness=True)
    assert np.isfinite(joint.start(np.zeros(4))).all()


def test_far_points_have_a_value():
    joint = JointObjective(objective(), sharpness=True)
    for far in (-1e3, 1e3):
        value, grad = joint(np.append(np.zeros(4), [far] * 3))
        assert np.isfinite(value)
        assert np.isfinite(grad).all()


def test_flipped_labels_are_distinguished_from_overlap():
    rng = np.random.default_rng(0)
    n = 4000
    X = rng.normal(size=(n, 1))
    truth = rng.random(n) < expit(8.0 * X[:, 0])
    flip = rng.random(n) < np.where(truth, 0.1, 0.25)
    rows = DataObjective(X, truth ^ flip, np.ones(n), BetaBernoulli(0.5, 0.5), 1e-4)
    loss = learn(rows, np.ones(2), tol=1e-8, ftol=1e-12).loss
    a, b = pair_of(loss)
    assert a == pytest.approx(0.25, abs=0.03)
    assert a + b == pytest.approx(0.9, abs=0.03)
