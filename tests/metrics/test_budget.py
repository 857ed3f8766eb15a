import warnings

import numpy as np
import pandas as pd
import pytest

from directrix import OperatingPointClassifier
from directrix.exceptions import FewDaysError, UnusedBudgetWarning
from directrix.metrics.budget import (
    Budget,
    Periods,
    day_thresholds,
    days_needed,
    order_threshold,
)


def test_the_budget_of_a_new_day_is_broken_with_the_probability_of_its_rank():
    # Volume and scores differ from day to day; days are exchangeable.
    rng = np.random.default_rng(0)
    n_days, repeats = 39, 1500
    broken = 0
    for _ in range(repeats):
        sizes = rng.poisson(60 * rng.choice([0.5, 1.0, 1.5], n_days + 1))
        shift = rng.normal(0, 0.3, n_days + 1)
        day = np.repeat(np.arange(n_days + 1), sizes)
        scores = rng.normal(size=len(day)) + shift[day]
        old = day < n_days
        kept = Budget(5).kept(scores[old], Periods(day[old]), 0.95)
        broken += np.count_nonzero(scores[~old] > kept.thresholds[0][1]) > 5
    # 2 of 40 in expectation, exactly
    assert abs(broken / repeats - 0.05) < 3 * np.sqrt(0.05 * 0.95 / repeats)


def test_a_day_just_keeps_the_budget_at_its_threshold():
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(20), 50)
    scores = rng.normal(size=1000)
    for number, threshold in enumerate(day_thresholds(scores, day, 20, 7)):
        assert np.count_nonzero(scores[day == number] > threshold) == 7


def test_ties_do_not_break_the_budget():
    day = np.repeat(np.arange(20), 50)
    scores = np.random.default_rng(0).integers(0, 5, 1000).astype(float)
    kept = Budget(7).kept(scores, Periods(day), 0.9)
    counts = np.bincount(day[scores > kept.thresholds[0][1]], minlength=20)
    assert np.count_nonzero(counts > 7) <= 2


def test_small_days_keep_the_budget_at_any_threshold():
    found = day_thresholds(np.arange(5.0), np.array([0, 0, 0, 1, 1]), 3, 2)
    assert found.tolist() == [0.0, -np.inf, -np.inf]


def test_teams_have_thresholds_of_their_own():
    rng = np.random.default_rng(0)
    day, team = np.repeat(np.arange(40), 100), rng.choice(["A", "B"], 4000)
    scores = rng.normal(size=4000) + 3.0 * (team == "B")
    budget = Budget({"A": 12, "B": 8}, by="team")
    periods = Periods.of(budget, {"day": day, "team": team}, 4000)
    kept = budget.kept(scores, periods, 0.95)
    alone = {
        name: Budget(number).kept(scores[team == name], Periods(day[team == name]), 0.95)
        for name, number in budget.by_team.items()
    }
    assert dict(kept.thresholds) == {name: k.thresholds[0][1] for name, k in alone.items()}
    assert kept.of_rows(periods.team, 4000)[team == "B"].tolist() == [
        dict(kept.thresholds)["B"]
    ] * np.count_nonzero(team == "B")
    assert "at most 12 alerts a day for A, 8 for B on 95 % of new days" in str(kept)


def test_too_few_days_say_how_many_are_needed():
    with pytest.raises(FewDaysError, match="on 19 days, and there are 18"):
        order_threshold(np.arange(18.0), 0.95)
    assert order_threshold(np.arange(19.0), 0.95) == 18.0
    assert days_needed(0.9) == 9
    assert days_needed(0.95) == 19


@pytest.mark.parametrize("alerts", [-1, 2.5, True, {"A": 3}, {}])
def test_a_budget_is_a_whole_number_or_one_for_each_team(alerts):
    with pytest.raises(ValueError, match="budget is"):
        Budget(alerts)


def test_teams_without_a_budget_and_missing_days_are_refused():
    budget = Budget({"A": 3}, by="team")
    with pytest.raises(ValueError, match="team 'C' has no budget"):
        Periods.of(budget, {"day": [1, 2], "team": ["A", "C"]}, 2)
    with pytest.raises(ValueError, match="day has missing values"):
        Periods.of(Budget(3), {"day": [1.0, np.nan]}, 2)
    with pytest.raises(ValueError, match="day must have one value for each of 3 rows"):
        Periods.of(Budget(3), {"day": [1, 2]}, 3)
    with pytest.raises(ValueError, match="not 'weekday': give the column itself, such as X"):
        Periods.of(Budget(3), {"day": "weekday"}, 3)


@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_days_are_dates_without_times(zone):
    noon = pd.Series(pd.date_range("2026-03-01 12:00", periods=4, freq="18h", tz=zone))
    with pytest.raises(ValueError, match=r"day has times within days, such as 2026-03-01.12:00"):
        Periods.of(Budget(3), {"day": noon}, 4)
    dates = noon.dt.normalize()
    assert Periods.of(Budget(3), {"day": dates}, 4).day.tolist() == [0, 1, 2, 2]
    assert Periods.of(Budget(3), {"day": dates.dt.date}, 4).day.tolist() == [0, 1, 2, 2]
    assert Periods.of(Budget(3, per="shift"), {"shift": noon}, 4).day.tolist() == [0, 1, 2, 3]


def test_thresholds_move_with_the_scores():
    kept = Budget(3).kept(np.arange(40.0), Periods(np.repeat(np.arange(10), 4)), 0.9)
    threshold = kept.thresholds[0][1]
    assert kept.moved(2.0, 4.0).thresholds == ((None, (threshold - 2.0) / 4.0),)
    assert kept.at_least(1e6).thresholds == ((None, 1e6),)


def test_a_budget_that_no_day_reaches_warns():
    day, y = np.repeat(np.arange(20), 10), np.tile([True, False], 100)
    scores = np.random.default_rng(0).normal(size=200) + y
    model = OperatingPointClassifier(None, limits=Budget(10), guarantee=0.95)
    with pytest.warns(UnusedBudgetWarning, match="the largest day has 10 rows") as caught:
        model.fit(scores, y, day=day)
    assert caught[0].filename == __file__
    # The threshold is then that of the AUC: recall less false-positive rate is largest there.
    gains = [np.mean(scores[y] > each) - np.mean(scores[~y] > each) for each in scores]
    flagged = scores > model.operating_point_.threshold
    assert flagged[y].mean() - flagged[~y].mean() == pytest.approx(max(gains))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnusedBudgetWarning)
        model.set_params(limits=Budget(3)).fit(scores, y, day=day)
