from datetime import date, timedelta

import numpy as np
import pytest

from directrix import DirectClassifier, MomentClassifier, OperatingPointClassifier
from directrix.exceptions import FewDaysError
from directrix.metrics import Budget, Cost, ScoreHistogram
from directrix.metrics.budget import order_threshold
from directrix.monitoring import keep_budget, summarize_day

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

FIRST = date(2026, 1, 5)  # a Monday
WEEK = (1.0, 1.05, 1.0, 1.0, 1.1, 0.6, 0.5)
ALERTS = 40


def drawn(number, rng, share=0.02):
    n = rng.poisson(1500 * WEEK[number % 7])
    y = rng.random(n) < share
    return rng.normal(size=(n, 2)) + 2.0 * y[:, None], y


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    days = [drawn(number, rng) for number in range(7)]
    X, y = (np.concatenate(each) for each in zip(*days, strict=True))
    return MomentClassifier("recall@fpr=0.01").fit(X, y)


def summaries(model, n_days, seed=1, share=lambda _: 0.02):
    rng = np.random.default_rng(seed)
    return {
        FIRST + timedelta(days=number): summarize_day(
            model, drawn(number, rng, share(number))[0]
        ).scores
        for number in range(n_days)
    }


def test_tomorrow_keeps_the_budget_by_weekday_and_under_a_prior_shift(model):
    days = summaries(model, 110, share=lambda number: 0.02 if number < 80 else 0.04)
    dates = list(days)
    counts, stayed = [], []
    for number in range(40, 110):
        past = {day: days[day] for day in dates[:number]}
        move = keep_budget(model, past, Budget(ALERTS))
        assert move.when == dates[number]
        assert move.weekdays
        today = days[dates[number]]
        counts.append(float(today.weight_above(move.teams[0].after).sum()))
        stayed.append(float(today.weight_above(0.0).sum()))
    counts, stayed = np.array(counts), np.array(stayed)
    assert (counts > ALERTS).mean() <= 0.08
    assert counts.mean() >= 0.65 * ALERTS
    assert move.teams[0].alerts_before == pytest.approx(np.mean(stayed[-14:]), rel=0.3)
    assert move.teams[0].alerts_after == pytest.approx(np.mean(counts[-14:]), rel=0.3)


def test_the_model_has_the_new_threshold(model):
    days = summaries(model, 40)
    move = keep_budget(model, days, Budget(ALERTS))
    X, _ = drawn(40, np.random.default_rng(9))
    by = move.teams[0].after
    assert (move.model.predict(X) == (model.decision_function(X) > by)).all()
    assert move.model.operating_point_.expected is None
    assert "at most 40 alerts a day" in move.model.operating_point_.guarantee
    text = str(move)
    assert text.startswith("at most 40 alerts a day, on 95 % of days, by forecasts by weekday")
    assert f"on Saturday, {FIRST + timedelta(days=40)}, the threshold moves by" in text


def test_few_days_have_the_order_statistic(model):
    days = summaries(model, 25)
    move = keep_budget(model, days, Budget(ALERTS))
    assert not move.weekdays
    above = [histogram.weight_above(move.teams[0].after)[0] for histogram in days.values()]
    assert np.count_nonzero(np.array(above) > ALERTS) == 0
    own = [
        next(edge for edge in days[day].edges[1:] if days[day].weight_above(edge)[0] <= ALERTS)
        for day in days
    ]
    assert move.teams[0].after == order_threshold(own, 0.95)
    with pytest.raises(FewDaysError, match="on 19 days"):
        keep_budget(model, summaries(model, 10), Budget(ALERTS))


def test_teams_have_thresholds_of_their_own(model):
    days = summaries(model, 40), summaries(model, 40, seed=2)
    budget = Budget({"A": ALERTS, "B": 20}, by="team")
    move = keep_budget(model, dict(zip("AB", days, strict=True)), budget)
    assert move.teams[0].after == keep_budget(model, days[0], Budget(ALERTS)).teams[0].after
    assert move.teams[1].after == keep_budget(model, days[1], Budget(20)).teams[0].after
    X, _ = drawn(40, np.random.default_rng(9))
    assert set(move.model.predict(X[:2], team=["A", "B"])) <= {False, True}
    team = np.where(np.arange(len(X)) % 2, "A", "B")
    limited = OperatingPointClassifier(None, limits=budget, guarantee=0.95)
    score, y = X[:, 0], X[:, 0] > 1
    limited.fit(score, y, day=np.arange(len(X)) % 20, team=team)
    histograms = {
        name: {
            FIRST + timedelta(days=k): ScoreHistogram.of_scores(
                None, limited.decision_function(score[team == name][k::40])
            )
            for k in range(40)
        }
        for name in "AB"
    }
    moved = keep_budget(limited, histograms).model
    flagged = moved.predict(score, team=team)
    thresholds = dict(keep_budget(limited, histograms).model.operating_point_.budget.thresholds)
    decision = moved.decision_function(score)
    assert (flagged == (decision > np.where(team == "A", thresholds["A"], thresholds["B"]))).all()
    with pytest.raises(ValueError, match="no scores of team 'B'"):
        keep_budget(limited, {"A": histograms["A"]})


def test_rows_are_ranked_by_money():
    rng = np.random.default_rng(3)
    X, y = drawn(0, rng)
    amount = np.exp(rng.normal(3, 1, len(y)))
    priced = DirectClassifier(Cost(fp=2, fn="amount")).fit(X, y, amount=amount)
    days = {}
    for k in range(40):
        rows, _ = drawn(k, rng)
        saving = priced.expected_saving(rows, amount=np.exp(rng.normal(3, 1, len(rows))))
        days[FIRST + timedelta(days=k)] = ScoreHistogram.of_scores(None, saving)
    move = keep_budget(priced, days, Budget(10))
    flagged = move.model.predict(X, amount=amount)
    assert (flagged == (priced.expected_saving(X, amount=amount) > move.teams[0].after)).all()
    # Scores stay as they were, so that their other operating points are still known.
    assert move.model.operating_points(["f1"])[0].empirical.tpr > 0


def test_mistakes_are_named(model):
    days = summaries(model, 20)
    with pytest.raises(ValueError, match="no budget to keep"):
        keep_budget(model, days)
    with pytest.raises(TypeError, match="has no threshold that could be moved"):
        keep_budget(object(), days, Budget(3))
    with pytest.raises(ValueError, match="no days to set a threshold by"):
        keep_budget(model, {}, Budget(3))
