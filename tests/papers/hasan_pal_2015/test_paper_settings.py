from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from directrix.papers import BetaBernoulliClassifier
from directrix.papers.hasan_pal_2015 import plateaus
from directrix.papers.hasan_pal_2015.plateaus import even_score
from directrix.papers.hasan_pal_2015.search import START_GAMMAS

N = 60
RIDGES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    y = (X[:, 0] > 0.3) ^ (rng.random(N) < 0.2)
    return X, y


@pytest.fixture
def searches(monkeypatch):
    """Record solver, loss, ridge and start sharpnesses of every search, and its result."""
    calls = []
    run = plateaus.search_errors

    def recorded(solver, objective, start, **options):
        found = run(solver, objective, start, **options)
        calls.append((solver, objective, options["gammas"], found))
        return found

    monkeypatch.setattr(plateaus, "search_errors", recorded)
    return calls


@pytest.mark.parametrize(
    ("name", "solver", "plateaus"),
    [("BBLR1", "sla", (1 / 102, 100 / 102)), ("BBLR2", "sla", None), ("BBLR3", "slam", None)],
)
def test_the_first_three_search_once_with_fixed_plateaus(searches, name, solver, plateaus):
    X, y = rows()
    model = BetaBernoulliClassifier(name, lam=2.0).fit(X, y)
    [(used, objective, gammas, found)] = searches
    assert used == solver
    assert gammas == START_GAMMAS
    # Alpha, beta and n are 1, 1 and 100, or the counts of the classes and of all rows.
    assert model.plateaus_ == pytest.approx(plateaus or (y.mean() / 2, 0.5))
    assert objective.loss.gamma == 1.0
    # At the end the sharpness is that of the search, and predictions are those of its line.
    assert model.loss_.gamma == found.gamma >= 100.0
    scores = model.decision_function(X) + even_score(model.loss_)
    assert np.mean((scores > 0) != y) == pytest.approx(found.solution.value)
    if solver == "sla":
        assert model.lam_ == 2.0
        assert objective.ridge == pytest.approx(2.0 / N)
        assert found.gamma == 200.0
    else:
        assert model.lam_ / N == pytest.approx(min(RIDGES, key=lambda r: abs(r - found.ridge)))


def test_the_fourth_searches_by_slam_in_turn_with_the_parameters_of_the_loss(searches):
    X, y = rows()
    model = BetaBernoulliClassifier("BBLR4").fit(X, y)
    assert len(searches) >= 2
    assert {solver for solver, *_ in searches} == {"slam"}
    assert searches[0][2] == START_GAMMAS
    # It starts from the rates of logistic regression with a hard threshold (eq. 29 and 30) ...
    predicted = LogisticRegression().fit(X, y).predict(X)
    misses, alarms = np.mean(~predicted[y]), np.mean(predicted[~y])
    first = searches[0][1].loss
    assert first.mixing == pytest.approx(misses + alarms)
    assert first.prior_mean == pytest.approx(alarms / (misses + alarms))
    # ... and each search uses the parameters that the last one gave.
    for (_, objective, _, found), (_, after, gammas, _) in pairwise(searches):
        learned = plateaus.most_likely(_at_gamma(objective, found.gamma), found.solution.coef)
        assert (after.loss.mixing, after.loss.prior_mean) == (learned.mixing, learned.prior_mean)
        assert gammas == (learned.gamma,)
    # Held-out rows chose the ridge, not the training rows.
    assert min(abs(model.lam_ / N - ridge) for ridge in RIDGES) < 1e-12


def _at_gamma(objective, gamma):
    return replace(objective, loss=replace(objective.loss, gamma=gamma))


def test_the_fourth_ends_where_the_likelihood_has_no_slope_in_its_parameters():
    X, y = rows()
    model = BetaBernoulliClassifier("BBLR4").fit(X, y)
    scores = model.decision_function(X) + even_score(model.loss_)

    def likelihood(mixing, mean, gamma):  # eq. 19 and 24
        mu = mixing * mean + (1.0 - mixing) * expit(gamma * scores)
        return np.log(np.where(y, mu, 1.0 - mu)).sum()

    loss = model.loss_
    at = np.array([loss.mixing, loss.prior_mean, loss.gamma])
    best = likelihood(*at)
    for index in range(3):
        for factor in (0.98, 1.02):
            other = at.copy()
            other[index] *= factor
            assert likelihood(*other) < best + 1e-6
