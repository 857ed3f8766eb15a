"""Days of models that this library did not train: judged at their own thresholds."""

import numpy as np
import pandas as pd
import pytest
from monitored_days import NAMES, Days
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from directrix import Binner, MomentClassifier, OperatingPointClassifier
from directrix.exceptions import UncheckedColumnsWarning
from directrix.export import load, save
from directrix.metrics import Budget
from directrix.monitoring import (
    Monitor,
    compare_models,
    keep_budget,
    refit,
    retune,
    summarize_day,
)
from directrix.monitoring.day_summaries import positive_scores, score_scale, threshold_of

METRIC = "recall@fpr=0.05"


@pytest.fixture(params=["bad", "good"])
def day(request):
    return Days(5, positive=request.param)


def booster():
    return HistGradientBoostingClassifier(max_iter=15, random_state=0)


def reference_days(model, day, n_days=8, **options):
    return [summarize_day(model, *day(1500, 0.2), **options) for _ in range(n_days)]


def test_days_of_any_estimator_are_judged_at_its_operating_point(day):
    model = OperatingPointClassifier(booster(), METRIC, positive=day.positive).fit(*day(3000, 0.2))
    monitor = Monitor.of_days(model, reference_days(model, day))
    X, y = day(3000, 0.2)
    check = monitor.check(summarize_day(model, X, y))
    flagged = model.predict(X) == day.positive
    assert check.alerts.observed == flagged.sum()
    assert check.rates[1] == pytest.approx(0.05, abs=0.02)
    assert not check.broken
    assert {promise.name for promise in check.promises} >= {"recall", "FPR", "precision"}
    shifted = monitor.check(summarize_day(model, day(3000, 0.5)[0]))
    assert shifted.verdict == "prior shift"
    assert shifted.prevalence.low < 0.5 < shifted.prevalence.high


def test_columns_are_watched_where_a_binner_is_given(day):
    X, y = day(3000, 0.2)
    binner = Binner().fit(X)
    model = OperatingPointClassifier(booster(), METRIC, positive=day.positive).fit(X, y)
    monitor = Monitor.of_days(model, reference_days(model, day, binner=binner))
    drifted, _ = day(3000, 0.2, drift=1.0)
    check = monitor.check(summarize_day(model, drifted, binner=binner))
    assert check.verdict == "drift"
    assert check.columns[0].column == binner.bins_[3].name
    plain = summarize_day(model, drifted)
    assert plain.columns is None
    with pytest.warns(
        UncheckedColumnsWarning, match="the reference has 4: only the scores"
    ) as seen:
        assert monitor.check(plain).columns == ()
    assert seen[0].filename == __file__
    assert repr(monitor) == "<Monitor: 12,000 reference rows of 8 days; scores and 4 columns>"
    assert repr(Monitor(monitor.scores)) == "<Monitor: 12,000 reference rows; scores>"


def test_rows_in_place_of_summaries_are_refused_with_the_remedy(day):
    X, y = day(800, 0.2)
    model = OperatingPointClassifier(booster(), METRIC, positive=day.positive, cv=2).fit(X, y)
    monitor = Monitor.of_days(model, reference_days(model, day, 2))
    rows = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(TypeError, match=r"not by DataFrame: give summarize_day\(model, X\)"):
        monitor.check(rows)
    with pytest.raises(TypeError, match=r"the order is summarize_day\(model, X, y\)"):
        summarize_day(rows, model)
    with pytest.raises(TypeError, match=r"challenge\(champion, challenger, X, y\) compares models"):
        compare_models(model, model, "auc")
    scores = {"2026-03-01": model.decision_function(X)}
    with pytest.raises(TypeError, match="the scores of 2026-03-01 are a ScoreHistogram"):
        keep_budget(model, scores, Budget(5))


def test_days_of_another_library_are_not_those_of_a_model_around_it(day):
    X, y = day(800, 0.2)
    bare = booster().fit(X, y)
    model = OperatingPointClassifier(FrozenEstimator(bare), METRIC, positive=day.positive).fit(X, y)
    with pytest.raises(ValueError, match="and this is a model of another library: summarise the"):
        Monitor.of_days(bare, reference_days(model, day, 2))


def test_scores_alone_are_watched_with_their_table(day, tmp_path):
    X, y = day(3000, 0.2)
    estimator = booster().fit(*day(2000, 0.2))
    column = estimator.classes_.tolist().index(day.positive)

    def scores_of(rows):
        return estimator.predict_proba(rows)[:, column]

    model = OperatingPointClassifier(None, METRIC, positive=day.positive).fit(scores_of(X), y)
    save(model, tmp_path / "threshold.model")
    model = load(tmp_path / "threshold.model")
    binner = Binner().fit(X)
    days = [
        summarize_day(model, scores_of(rows), labels, binner=binner, table=rows)
        for rows, labels in (day(1500, 0.2) for _ in range(8))
    ]
    monitor = Monitor.of_days(model, days)
    rows, _ = day(2000, 0.2, drift=1.0)
    check = monitor.check(summarize_day(model, scores_of(rows), binner=binner, table=rows))
    assert check.columns[0].column == binner.bins_[3].name
    other = OperatingPointClassifier(None, METRIC, positive=day.positive).fit(
        scores_of(X[:2000]), y[:2000]
    )
    with pytest.raises(ValueError, match="summarise the days with this model"):
        Monitor.of_days(other, days)


@pytest.mark.parametrize(
    ("model", "threshold"),
    [
        (RandomForestClassifier(30, random_state=0), 0.3),
        (LogisticRegression(), 0.13),
        (LinearSVC(), -0.4),
    ],
    ids=["forest", "logistic", "svm"],
)
def test_a_bare_model_is_judged_at_the_threshold_that_is_given(model, threshold):
    day = Days(6, positive="good")
    model.fit(*day(2000, 0.2))
    days = [summarize_day(model, *day(2000, 0.2)) for _ in range(3)]
    X, y = day(4000, 0.2)
    if hasattr(model, "predict_proba"):
        flagged = model.predict_proba(X)[:, 1] > threshold
    else:
        flagged = model.decision_function(X) > threshold
    check = Monitor.of_days(model, days, threshold=threshold).check(summarize_day(model, X, y))
    assert check.alerts.observed == pytest.approx(flagged.sum(), abs=0.02 * len(y))
    recall = next(promise for promise in check.promises if promise.name == "recall")
    assert recall.realised == pytest.approx(flagged[y == "good"].mean(), abs=0.03)
    by_default = Monitor.of_days(model, days).check(summarize_day(model, X))
    # A forest votes in ties: those at one half share a bin with what is above it.
    votes = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else np.zeros(len(y))
    flagged = (model.predict(X) == "good") | (votes == 0.5)
    assert by_default.alerts.observed == flagged.sum()


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_the_threshold_of_scikit_learn_is_the_models_own(method):
    day = Days(6, positive="good")
    X, y = day(2000, 0.2)
    options = {"response_method": method}
    tuned = TunedThresholdClassifierCV(LogisticRegression(), thresholds=20, cv=2, **options)
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.3, **options)
    for model in (tuned.fit(X, y), fixed.fit(X, y)):
        above = positive_scores(model, X) > threshold_of(model)
        assert (above == (model.predict(X) == "good")).mean() > 0.999


def test_log_odds_tell_small_probabilities_apart():
    class Rare(LogisticRegression):
        def predict_proba(self, X):
            p = 1e-4 * np.abs(X[:, 0])
            return np.column_stack([1.0 - p, p])

    day = Days(6)
    model = Rare().fit(*day(500, 0.2))
    X, _ = day(5000, 0.2)
    scores = summarize_day(model, X).scores
    above = scores.weight_above(threshold_of(model, 2e-4)).sum()
    assert above == pytest.approx((model.predict_proba(X)[:, 1] > 2e-4).sum(), abs=60)
    assert score_scale(model) == 1.0


def test_wrong_thresholds_are_refused():
    day = Days(6)
    X, y = day(500, 0.2)
    bare, line = LogisticRegression().fit(X, y), MomentClassifier().fit(X, y)
    with pytest.raises(ValueError, match="divide percentages by 100"):
        threshold_of(bare, 13)
    with pytest.raises(ValueError, match="has a threshold of its own"):
        Monitor.of_days(line, [summarize_day(line, X, y)], threshold=0.1)
    with pytest.raises(ValueError, match="no reference days"):
        Monitor.of_days(line, [])


def test_a_threshold_is_moved_to_another_prevalence(day, tmp_path):
    metric = "cost(fp=1, fn=20)"
    estimator = booster().fit(*day(3000, 0.05))
    frozen = FrozenEstimator(estimator)
    model = OperatingPointClassifier(frozen, metric, positive=day.positive).fit(*day(3000, 0.05))
    days = {f"2026-01-0{k + 1}": summarize_day(model, *day(2000, 0.05)).scores for k in range(6)}
    again = retune(model, days, prevalence=0.4)
    X, y = day(20_000, 0.4)
    costs = []
    for each in (model, again.model):
        flagged = each.predict(X) == day.positive
        assert (flagged == (each.positive_scores(X) > each.operating_point_.threshold)).all()
        positive = y == day.positive
        costs.append(20 * np.sum(positive & ~flagged) + np.sum(~positive & flagged))
    assert costs[1] < costs[0]
    probability = again.model.predict_proba(X)[:, again.model.classes_.tolist().index(day.positive)]
    assert probability.mean() == pytest.approx(0.4, abs=0.05)
    save(again.model, tmp_path / "again.model")
    loaded = load(tmp_path / "again.model").around(estimator)
    assert (loaded.predict(X) == again.model.predict(X)).all()


def test_what_only_lines_and_cards_can_do():
    day = Days(6)
    X, y = day(1000, 0.2)
    bare = LogisticRegression().fit(X, y)
    days = summarize_day(bare, X, y)
    with pytest.raises(TypeError, match=r"OperatingPointClassifier\(FrozenEstimator\(model\)"):
        retune(bare, days.scores)
    model = OperatingPointClassifier(FrozenEstimator(bare), "f1").fit(X, y)
    line = MomentClassifier().fit(X, y)
    with pytest.raises(TypeError, match="fit it to rows"):
        refit(model, summarize_day(line, X, y).columns)
    assert len(NAMES) == X.shape[1]
