"""Laws of budgets of alerts, for every classifier that keeps them."""

import numpy as np
import pytest
from contracts.cases import KEEP_LIMITS

from directrix.exceptions import CostColumnError, FewDaysError
from directrix.export import load, save
from directrix.metrics import Budget, Cost

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ALERTS = 6


@pytest.fixture(params=sorted(KEEP_LIMITS))
def kind(request):
    return request.param


def drawn(n_days=66, seed=0):
    """Return scores or rows of days, labels, the days, teams and amounts."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(n_days), rng.poisson(60, n_days))
    y = rng.random(len(day)) < 0.1
    X = rng.normal(size=(len(day), 1)) + 1.5 * y[:, None]
    team = rng.choice(["A", "B"], len(day))
    return X, y, day, team, np.exp(rng.normal(3, 1, len(day)))


def made(kind, metric="auc", budget=None, **options):
    limits = Budget(ALERTS) if budget is None else budget
    return KEEP_LIMITS[kind](metric, limits=limits, guarantee=0.9, **options)


def counts(flagged, day, n_days=200):
    return np.bincount(day[flagged], minlength=n_days)


def test_a_budget_is_kept_on_new_days(kind):
    X, y, day, _, _ = drawn()
    model = made(kind).fit(X, y, day=day)
    new, _, new_day, _, _ = drawn(200, seed=1)
    flagged = model.predict(new)
    assert (flagged == (model.decision_function(new) > 0)).all()
    assert (counts(flagged, new_day) > ALERTS).mean() <= 0.17  # 10 % in expectation
    assert counts(flagged, new_day).mean() > 0.4 * ALERTS
    point = model.operating_point_
    assert point.guarantee.startswith("at most 6 alerts a day on 90 % of new days (thresholds")
    assert point.budget.used[0] == pytest.approx(counts(flagged, new_day).mean(), rel=0.25)
    # The days that set the threshold keep the budget, but for those that may not.
    all_days = counts(model.predict(X), day, 66)
    assert np.count_nonzero(all_days > ALERTS) <= 12


def test_whole_days_are_set_apart(kind):
    X, y, day, _, _ = drawn()
    model = made(kind).fit(X, y, day=day)
    assert model.operating_point_.budget.days == (66 if kind == "scores" else 22)


def test_teams_keep_budgets_of_their_own(kind):
    X, y, day, team, _ = drawn()
    budget = Budget({"A": 4, "B": 2}, by="team")
    model = made(kind, budget=budget).fit(X, y, day=day, team=team)
    new, _, new_day, new_team, _ = drawn(200, seed=1)
    flagged = model.predict(new, team=new_team)
    for name, alerts in budget.alerts.items():
        of_team = counts(flagged & (new_team == name), new_day)
        assert (of_team > alerts).mean() <= 0.18
        assert of_team.mean() > 0.2 * alerts
    with pytest.raises(CostColumnError, match="'team'"):
        model.predict(new)
    with pytest.raises(ValueError, match="team 'C' has no budget"):
        model.predict(new, team=np.where(new_team == "A", "A", "C"))


def test_rows_are_ranked_by_money_where_costs_are_known(kind):
    X, y, day, _, amount = drawn()
    model = made(kind, Cost(fp=2, fn="amount")).fit(X, y, day=day, amount=amount)
    new, _, new_day, _, new_amount = drawn(200, seed=1)
    saving = model.expected_saving(new, amount=new_amount)
    flagged = model.predict(new, amount=new_amount)
    assert saving[flagged].min() > max(saving[~flagged].max(), 0) - 1e-9
    assert (counts(flagged, new_day) > ALERTS).mean() <= 0.18
    assert model.operating_point_.money is not None


def test_a_model_file_keeps_the_budget(kind, tmp_path):
    X, y, day, team, _ = drawn()
    budget = Budget({"A": 4, "B": 2}, by="team")
    model = made(kind, budget=budget).fit(X, y, day=day, team=team)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    if kind == "any model":
        loaded = loaded.around(model.estimator_)
    assert (loaded.predict(X, team=team) == model.predict(X, team=team)).all()
    assert loaded.operating_point_.budget == model.operating_point_.budget
    assert loaded.limits == budget


def test_mistakes_are_named(kind):
    X, y, day, _, _ = drawn(24)
    with pytest.raises(CostColumnError, match="'day'"):
        made(kind).fit(X, y)
    too_few = made(kind).set_params(guarantee=0.99)
    with pytest.raises(FewDaysError, match="on 99 days"):
        too_few.fit(X, y, day=day)
    with pytest.raises(ValueError, match="needs guarantee="):
        made(kind).set_params(guarantee=None).fit(X, y, day=day)
