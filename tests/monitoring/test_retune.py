import numpy as np
import pytest
from monitored_days import Days
from sklearn.linear_model import LogisticRegression

from directrix import MomentClassifier, ScorecardClassifier
from directrix.estimators import IntegerPoints
from directrix.export import load, save
from directrix.monitoring import retune, summarize_day


@pytest.fixture(params=["bad", "good"])
def day(request):
    return Days(3, positive=request.param)


def daily(model, day, share, n_days=6):
    return {
        f"2026-01-0{k + 1}": summarize_day(model, *day(2000, share)).scores for k in range(n_days)
    }


def costs(model, day, X, y):
    caught = model.predict(X) == day.positive
    positive = y == day.positive
    return float(np.mean(20 * (positive & ~caught) + (~positive & caught)))


@pytest.mark.parametrize("whole", [False, True])
def test_a_threshold_for_a_new_prevalence_is_cheaper_on_new_rows(day, whole, tmp_path):
    metric = "cost(fp=1, fn=20)"
    if whole:
        options = {
            "max_crosses": 0,
            "max_lines": None,
            "warn_baseline": False,
            "cv": 3,
            "points": IntegerPoints(40),
        }
        model = ScorecardClassifier(metric, positive=day.positive, **options)
    else:
        model = MomentClassifier(metric, positive=day.positive)
    model.fit(*day(4000, 0.02))
    retuned = retune(model, daily(model, day, 0.02), prevalence=0.2)
    X, y = day(20_000, 0.2)
    old, new = (costs(each, day, X, y) for each in (model, retuned.model))
    assert new < 0.9 * old
    point = retuned.model.operating_point_
    low, high = point.intervals.metric
    assert low - 0.05 < new < high + 0.05
    assert retuned.prevalence == pytest.approx(0.2)
    rates = retuned.after
    caught = retuned.model.predict(X) == day.positive
    assert caught[y == day.positive].mean() == pytest.approx(rates.tpr, abs=0.06)
    assert caught.mean() == pytest.approx(retuned.alerts_after, abs=0.03)
    probability = retuned.model.predict_proba(X)[:, list(model.classes_).index(day.positive)]
    assert probability.mean() == pytest.approx(0.2, abs=0.03)
    if whole:
        assert point.threshold % 1 == 0.5
    save(retuned.model, tmp_path / "model")
    assert (load(tmp_path / "model").predict(X) == retuned.model.predict(X)).all()
    # The given model is as it was.
    assert costs(model, day, X, y) == old
    assert "old threshold  new threshold" in str(retuned)


def test_expected_rates_need_days_to_hold_out(day):
    model = MomentClassifier("recall@fpr=0.1", positive=day.positive).fit(*day(3000, 0.1))
    scores = daily(model, day, 0.1)
    assert retune(model, scores).model.operating_point_.expected is not None
    total = sum(list(scores.values())[1:], start=next(iter(scores.values())))
    assert retune(model, total).model.operating_point_.expected is None


def test_what_cannot_be_retuned_is_refused(day):
    X, y = day(500, 0.2)
    model = MomentClassifier("auc", positive=day.positive).fit(X, y)
    scores = summarize_day(model, X, y).scores
    with pytest.raises(ValueError, match="has no threshold"):
        retune(model, scores)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        retune(model, scores, metric="f1", prevalence=1.0)
    with pytest.raises(TypeError, match="LogisticRegression has no threshold"):
        retune(LogisticRegression().fit(X, y), scores)


def test_scores_that_cannot_set_the_threshold_are_refused(day):
    X, y = day(2000, 0.2)
    model, other = (MomentClassifier("f1", positive=day.positive).fit(X[k:], y[k:]) for k in (0, 9))
    with pytest.raises(ValueError, match=r"the scores are of model .*, and this is model"):
        retune(model, summarize_day(other, X, y).scores)
    with pytest.raises(ValueError, match="these have no labels"):
        retune(model, summarize_day(model, X).scores)
    with pytest.raises(ValueError, match="the dict of days is empty"):
        retune(model, {})


@pytest.mark.filterwarnings("error")
def test_a_metric_that_wants_no_alerts_at_all_says_so(day):
    X, y = day(2000, 0.2)
    model = MomentClassifier("f1", positive=day.positive).fit(X, y)
    turned = summarize_day(model, -X, y).scores  # the highest scores are of negatives
    with pytest.raises(ValueError, match="is best if no row is predicted positive"):
        retune(model, turned, prevalence=0.001, metric="cost(fp=1, fn=1)")


@pytest.mark.parametrize("scores", [[], None, ()])
def test_scores_of_another_type_are_refused_by_name(day, scores):
    model = MomentClassifier("error").fit(*day(300, 0.3))
    with pytest.raises(
        TypeError, match=f"scores must be a ScoreHistogram.*{type(scores).__name__}"
    ):
        retune(model, scores)
