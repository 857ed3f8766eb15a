import numpy as np
import pandas as pd
import pytest
from monitored_days import NAMES, Days

from directrix import Binner, MomentClassifier, Moments, ScorecardClassifier
from directrix.moments import BinCounts, DifferentBinsError
from directrix.monitoring import refit, summarize_day


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_a_linear_model_is_that_of_a_fit_to_the_summary(positive):
    day = Days(0, positive=positive)
    model = MomentClassifier("f1", positive=positive).fit(*day(3000, 0.2))
    X, y = day(3000, 0.3)
    moments = Moments.of(X, y, sample=0)  # rates of both models are those of normal scores
    again = refit(model, moments)
    fresh = MomentClassifier("f1", positive=positive).fit_summary(moments)
    assert np.array_equal(again.model.coef_, fresh.coef_)
    assert again.after.metric >= again.before.metric - 1e-6
    assert len(again.changes) == 4
    sizes = [abs(change.after - change.before) for change in again.changes]
    assert sizes == sorted(sizes, reverse=True)
    assert "old model  new model" in str(again)


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_a_card_is_fitted_again_in_its_bins(positive):
    day = Days(0, positive=positive)
    X, y = day(3000, 0.2)
    frame = pd.DataFrame(X, columns=NAMES)
    options = {"max_crosses": 0, "max_lines": None, "warn_baseline": False, "cv": 3}
    model = ScorecardClassifier("f1", positive=positive, **options).fit(frame, y)
    X, y = day(3000, 0.3)
    summaries = summarize_day(model, pd.DataFrame(X, columns=NAMES), y)
    again = refit(model, summaries.columns)
    assert again.model.binner_.bins_ == model.binner_.bins_
    frame = pd.DataFrame(X, columns=NAMES)
    caught = again.model.predict(frame) == positive
    truth = y == positive
    # The rates of normal scores are near those of the rows.
    assert caught[truth].mean() == pytest.approx(again.after.tpr, abs=0.1)
    assert caught[~truth].mean() == pytest.approx(again.after.fpr, abs=0.1)
    old = model.predict(frame) == positive
    assert old[truth].mean() == pytest.approx(again.before.tpr, abs=0.1)


def test_a_summary_of_the_wrong_type_is_refused():
    day = Days(0)
    X, y = day(500, 0.3)
    frame = pd.DataFrame(X, columns=NAMES)
    card = ScorecardClassifier("f1", max_crosses=0, max_lines=None, warn_baseline=False, cv=3).fit(
        frame, y
    )
    line = MomentClassifier("f1").fit(X, y)
    with pytest.raises(TypeError, match="again to BinCounts"):
        refit(card, Moments.of(X, y))
    with pytest.raises(TypeError, match="again to Moments"):
        refit(line, BinCounts.of(card.binner_, frame, y))


def test_summaries_of_other_columns_are_refused():
    day = Days(5)
    X, y = day(2000, 0.2)
    frame = pd.DataFrame(X, columns=NAMES)
    line = MomentClassifier("f1", positive="bad").fit(frame, y)
    with pytest.raises(ValueError, match="the moments have 2 features and the model"):
        refit(line, Moments.of(X[:, :2], y))
    with pytest.raises(ValueError, match=f"feature 'b' where the model has '{NAMES[0]}'"):
        refit(line, Moments.of(X, y, feature_names=["b", *NAMES[1:]]))
    options = {"max_crosses": 0, "max_lines": None, "warn_baseline": False, "cv": 3}
    card = ScorecardClassifier("f1", positive="bad", **options).fit(frame, y)
    counts = BinCounts.of(Binner(max_bins=3).fit(frame), frame, y)
    with pytest.raises(DifferentBinsError):
        refit(card, counts)
