from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.papers.hasan_pal_2015.losses import ZeroOne
from directrix.papers.hasan_pal_2015.plateaus import most_likely, search
from directrix.papers.hasan_pal_2015.search import ConstantObjective, search_errors


def objective(n=50, flipped=0.15, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    positive = (X[:, 0] > 0.2) ^ (rng.random(n) < flipped)
    return ConstantObjective(X, positive, rng.uniform(0.5, 2.0, n), BetaBernoulli(0.3, 0.4), 1e-2)


START = np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize("solver", ["sla", "slam"])
def test_without_parameters_to_learn_it_is_one_search(solver):
    rows = objective()
    found = search(rows, START, solver, learns_plateaus=False)
    once = search_errors(solver, rows, START)
    np.testing.assert_array_equal(found.coef, once.solution.coef)
    assert found.loss == replace(rows.loss, gamma=once.gamma)
    assert found.ridge == once.ridge
    assert found.n_iter == once.solution.n_iter


@pytest.mark.parametrize("solver", ["sla", "slam"])
def test_what_is_learned_is_no_less_likely_than_after_one_search(solver):
    rows = objective()
    found = search(rows, START, solver, learns_plateaus=True)
    for name in ("mixing", "prior_mean"):
        assert getattr(found.loss, name) != getattr(rows.loss, name)
    once = search_errors(solver, rows, START)
    first = most_likely(
        replace(rows, loss=replace(rows.loss, gamma=once.gamma)), once.solution.coef
    )
    cost = replace(rows, loss=found.loss, ridge=0.0)(found.coef)[0]
    assert cost <= replace(rows, loss=first, ridge=0.0)(once.solution.coef)[0] + 1e-9


def test_the_likelihood_has_no_slope_at_the_learned_parameters():
    rows, coef = objective(), np.array([0.01, 0.0, -0.002])  # scores far from the scale of one
    learned = most_likely(rows, coef)
    mu = learned.mixing * learned.prior_mean + (1.0 - learned.mixing) * expit(
        learned.gamma * rows.scores(coef)
    )
    assert 0.01 < learned.mixing < 0.9
    assert 0.01 < learned.prior_mean < 0.99
    # Eq. 31 to 35, with the sign of eq. 24.
    share = expit(learned.gamma * rows.scores(coef))
    outer = rows.weight * np.where(rows.positive, 1.0 / mu, -1.0 / (1.0 - mu))
    slopes = [
        outer @ (learned.prior_mean - share),
        learned.mixing * outer.sum(),
        (1.0 - learned.mixing)
        * outer
        @ (share * (1.0 - share) * rows.scores(coef))
        * learned.gamma,
    ]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)
    assert (
        replace(rows, loss=learned)(coef)[0] < replace(rows, loss=BetaBernoulli(0.3, 0.4))(coef)[0]
    )


def test_rows_without_errors_have_plateaus_inside_the_unit_interval():
    rows = objective(flipped=0.0)
    found = search(rows, START, "sla", learns_plateaus=True)
    assert replace(rows, loss=ZeroOne(), ridge=0.0)(found.coef)[0] == 0.0
    assert 0.0 < found.loss.mixing < 0.1
    assert np.isfinite(found.loss.gamma)
