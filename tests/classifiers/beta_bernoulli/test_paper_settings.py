from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from directrix import BetaBernoulliClassifier
from directrix.classifiers.beta_bernoulli import plateaus
from directrix.classifiers.beta_bernoulli.classifier import PAPER_SETTINGS
from directrix.fitting.solvers import START_GAMMAS

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
    model = BetaBernoulliClassifier.paper(name, alpha=2.0).fit(X, y)
    [(used, objective, gammas, found)] = searches
    assert used == solver
    assert gammas == START_GAMMAS
    # Alpha, beta and n are 1, 1 and 100, or the counts of the classes and of all rows.
    assert model.plateaus_ == pytest.approx(plateaus or (y.mean() / 2, 0.5))
    assert objective.loss.gamma == 1.0
    # At the end the sharpness is that of the search, and predictions are those of its line.
    assert model.loss_.gamma == found.gamma >= 100.0
    scores = model.decision_function(X) + model._shift
    assert np.mean((scores > 0) != y) == pytest.approx(found.solution.value)
    if solver == "sla":
        assert model.alpha_ == 2.0
        assert objective.ridge == pytest.approx(2.0 / N)
        assert found.gamma == 200.0
    else:
        assert model.alpha_ / N == pytest.approx(min(RIDGES, key=lambda r: abs(r - found.ridge)))


def test_the_fourth_searches_by_slam_in_turn_with_the_parameters_of_the_loss(searches):
    X, y = rows()
    model = BetaBernoulliClassifier.paper("BBLR4").fit(X, y)
    assert len(searches) >= 2
    assert {solver for solver, *_ in searches} == {"slam"}
    assert searches[0][2] == START_GAMMAS
    # It starts from the rates of logistic regression with a hard threshold (eq. 29 and 30) ...
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    predicted = LogisticRegression().fit(scaled, y).predict(scaled)
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
    assert min(abs(model.alpha_ / N - ridge) for ridge in RIDGES) < 1e-12


def _at_gamma(objective, gamma):
    return replace(objective, loss=replace(objective.loss, gamma=gamma))


def test_the_fourth_ends_where_the_likelihood_has_no_slope_in_its_parameters():
    X, y = rows()
    model = BetaBernoulliClassifier.paper("BBLR4").fit(X, y)
    scores = model.decision_function(X) + model._shift

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


def test_other_parameters_may_be_added_and_those_of_the_name_may_not():
    model = BetaBernoulliClassifier.paper("BBLR2", alpha=3.0, positive=1)
    assert (model.alpha, model.positive, model.plateaus, model.solver) == (
        3.0,
        1,
        "empirical",
        "sla",
    )
    with pytest.raises(ValueError, match="BBLR3 has solver='slam', not 'lbfgs'"):
        BetaBernoulliClassifier.paper("BBLR3", solver="lbfgs")
    with pytest.raises(ValueError, match="BBLR1, BBLR2, BBLR3, BBLR4, not 'BBLR5'"):
        BetaBernoulliClassifier.paper("BBLR5")


def test_the_table_of_the_docstring_is_the_settings():
    table = BetaBernoulliClassifier.__doc__
    for name, settings in PAPER_SETTINGS.items():
        [line] = [line for line in table.splitlines() if line.strip().startswith(name)]
        cells = line.split()
        assert cells[1] == f'"{settings["plateaus"]}"'
        assert cells[2] == f'"{settings["solver"]}"'
