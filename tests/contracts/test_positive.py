"""Laws of the positive label: catching the first label is catching the last, turned round."""

import re
from copy import copy
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from directrix import (
    DirectClassifier,
    MomentClassifier,
    Moments,
    ScorecardClassifier,
)
from directrix.engines import HashFolds
from directrix.exceptions import LabelNotFoundError
from directrix.export import load, save, to_python
from directrix.metrics import Cost, RecallAtFPR
from directrix.metrics.table import resolve
from directrix.moments import BinCounts
from directrix.tables import Binner

pytestmark = [
    pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning"),
    pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning"),
    pytest.mark.filterwarnings("ignore::directrix.exceptions.DirectionWarning"),
]


def rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < 0.3
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.3 * bad
    X[:, 1] = np.round(X[:, 1] - 0.6 * bad)
    return X, np.where(bad, "default", "paid")


X, Y = rows()
NEW, NEW_Y = rows(seed=1)
# The labels take part in the hash of folds, so that equal folds have to be given.
SPLITS = list(StratifiedKFold(3).split(X, Y))
METRIC = "recall@fpr=0.1"
PLAIN = {"max_crosses": 0, "max_lines": None}
CLASSIFIERS = {
    "direct": DirectClassifier(METRIC, cv=SPLITS),
    "direct, monotone": DirectClassifier(METRIC, cv=SPLITS, monotone={0: "increasing"}),
    "card": ScorecardClassifier(METRIC, cv=SPLITS, **PLAIN),
    "card, integer": ScorecardClassifier(METRIC, cv=SPLITS, **PLAIN, points="integer"),
    "card, double odds": ScorecardClassifier(METRIC, cv=SPLITS, **PLAIN, points="pdo"),
    "moment, risk": MomentClassifier(METRIC, sample=0),
    "moment, weights": MomentClassifier("f1", sample=0, class_weight="balanced"),
}
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


@cache
def fitted(name, positive=None, metric=None):
    classifier = clone(CLASSIFIERS[name]).set_params(positive=positive)
    if metric is not None:
        classifier.set_params(metric=metric)
    return classifier.fit(X, Y)


@every_classifier
def test_catching_the_first_label_is_catching_the_last_turned_round(name):
    first = fitted(name, positive="default")
    last = clone(CLASSIFIERS[name]).fit(X, Y == "default")
    assert first.classes_.tolist() == ["default", "paid"]
    assert first.positive_ == "default"
    # Labels take part in the order of the rows, and so in the rounding of sums.
    scores = first.decision_function(NEW), -last.decision_function(NEW)
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(first.predict(NEW) == "default", last.predict(NEW))
    probabilities = first.predict_proba(NEW)[:, 0], last.predict_proba(NEW)[:, 1]
    np.testing.assert_allclose(*probabilities, atol=1e-5)
    if hasattr(first, "operating_point_"):
        ours, theirs = first.operating_point_, last.operating_point_
        rates = (point.empirical or point.predicted for point in (ours, theirs))
        np.testing.assert_allclose(*rates, atol=1e-5)
        assert first.score(NEW, NEW_Y) == pytest.approx(last.score(NEW, NEW_Y == "default"))
    if hasattr(first, "card_"):
        points = first.predict_points(NEW), last.predict_points(NEW)
        np.testing.assert_allclose(*points, rtol=1e-4, atol=1e-5)
        assert first.reasons(NEW[:5]).texts.tolist() == last.reasons(NEW[:5]).texts.tolist()


@pytest.mark.parametrize("name", ["direct", "card", "moment, risk"])
def test_the_last_label_is_the_default(name):
    plain, asked = fitted(name), fitted(name, positive="paid")
    assert plain.positive_ == "paid"
    np.testing.assert_array_equal(plain.decision_function(NEW), asked.decision_function(NEW))


@every_classifier
def test_a_score_above_zero_is_the_last_class_whichever_is_caught(name):
    classifier = fitted(name, positive="default")
    above = classifier.decision_function(NEW) > 0
    np.testing.assert_array_equal(classifier.predict(NEW), np.where(above, "paid", "default"))
    # The tools of scikit-learn rely on it: this one asks for the scores of a label.
    flagged = recall_score(NEW_Y, classifier.predict(NEW), pos_label="default")
    scorer = make_scorer(recall_score, response_method="predict", pos_label="default")
    assert scorer(classifier, NEW, NEW_Y) == flagged


@every_classifier
def test_a_file_keeps_the_label(name, tmp_path):
    classifier = fitted(name, positive="default")
    if "cv" in classifier.get_params():
        classifier = copy(classifier).set_params(cv=3)  # splits are not written to files
    save(classifier, tmp_path / "model.dx")
    loaded = load(tmp_path / "model.dx")
    assert loaded.positive_ == "default"
    np.testing.assert_array_equal(loaded.predict(NEW), classifier.predict(NEW))
    np.testing.assert_allclose(loaded.predict_proba(NEW), classifier.predict_proba(NEW))
    if hasattr(loaded, "card_"):
        assert str(loaded.card_) == str(classifier.card_)


@pytest.mark.parametrize("name", ["direct", "card, integer", "card, double odds"])
def test_an_export_predicts_the_same(name):
    classifier = fitted(name, positive="default")
    module = {}
    exec(to_python(classifier), module)  # noqa: S102 - our own source
    predicted = [module["predict"](row) for row in NEW[:50].tolist()]
    assert predicted == classifier.predict(NEW[:50]).tolist()


@pytest.mark.parametrize("name", ["direct", "card"])
def test_a_source_is_fitted_for_the_label(name):
    parameters = {"target": Y, "fold": HashFolds(3, seed=1), "progress": False}
    classifier = clone(CLASSIFIERS[name]).set_params(cv=3, positive="default")
    first = classifier.fit_source(X, **parameters)
    assert first.classes_.tolist() == ["default", "paid"]
    caught = first.predict(NEW) == "default"
    assert RecallAtFPR(0.1).score(NEW_Y == "default", -first.decision_function(NEW)) > 0.4
    fpr = caught[NEW_Y == "paid"].mean()
    assert 0.02 < fpr < 0.2
    assert first.operating_point_.expected.fpr == pytest.approx(0.1, abs=0.06)


def test_a_summary_is_fitted_for_the_label():
    moments = Moments.of(X, Y, sample=0)
    asked = MomentClassifier(METRIC, positive="default").fit_summary(moments)
    turned = MomentClassifier(METRIC).fit_summary(moments.with_positive("default"))
    rows_of = MomentClassifier(METRIC, positive="default", sample=0).fit(X, Y)
    np.testing.assert_allclose(asked.coef_, turned.coef_)
    np.testing.assert_allclose(asked.coef_, rows_of.coef_)
    assert asked.moments_ == moments
    again = MomentClassifier(METRIC, positive="default", sample=0)
    for part in (slice(0, 200), slice(200, None)):
        again.partial_fit(X[part], Y[part])
    np.testing.assert_allclose(again.coef_, asked.coef_)


def test_counts_of_bins_are_fitted_for_the_label():
    counts = BinCounts.of(Binner().fit(X), X, Y)
    first = ScorecardClassifier(METRIC, positive="default", **PLAIN).fit_summary(counts)
    counts = BinCounts.of(Binner().fit(X), X, Y == "default")
    last = ScorecardClassifier(METRIC, **PLAIN).fit_summary(counts)
    np.testing.assert_allclose(first.predict_points(NEW), last.predict_points(NEW))
    np.testing.assert_array_equal(first.predict(NEW) == "default", last.predict(NEW))


@pytest.mark.parametrize("positive", ["neither", 1])
@every_classifier
def test_a_label_that_is_not_there_is_refused(name, positive):
    with pytest.raises(LabelNotFoundError, match="give one of 'default', 'paid'") as caught:
        fitted(name, positive=positive)
    assert caught.value.label == positive
    assert caught.value.available == ("default", "paid")


@pytest.mark.parametrize("name", ["direct", "card"])
def test_a_report_on_texts_says_which_is_caught(name):
    said = "Catches 'paid', the last label in sorted order; for the other, give positive='default'."
    assert said in str(fitted(name).report_)
    report = fitted(name, positive="default").report_
    assert "Catches 'default'.\n" in str(report)
    assert "Catches &#x27;default&#x27;" in report._repr_html_()
    numbers = clone(CLASSIFIERS[name]).fit(X, Y == "default").report_
    assert "Catches" not in str(numbers)


def test_a_printed_card_names_the_label():
    for name, side in (("card", "above"), ("card, double odds", "below")):
        first = str(fitted(name, positive="default").card_).splitlines()[0]
        assert re.search(f"total {side} [-0-9.]+ points is predicted 'default'", first)


@pytest.mark.parametrize(
    "metric", ["recall@fpr=0.1", "error", "balanced_error", "cost(fp=1, fn=5)"]
)
@pytest.mark.parametrize("name", ["direct", "card", "moment, risk"])
def test_the_score_is_the_metric_of_the_label_and_searches_use_it(name, metric):
    classifier = fitted(name, positive="default", metric=metric)
    exact = resolve(metric).score(NEW_Y == "default", -classifier.decision_function(NEW))
    sign = {METRIC: exact, "cost(fp=1, fn=5)": -exact}.get(metric, 1.0 - exact)
    assert classifier.score(NEW, NEW_Y) == pytest.approx(sign)
    scorer = resolve(metric).scorer(positive="default")
    assert scorer(classifier, NEW, NEW_Y) == pytest.approx(sign)


def test_a_search_without_scoring_tunes_the_metric():
    classifier = MomentClassifier(Cost(fp=1, fn=30), positive="default", sample=0)
    grid = {"class_weight": [None, {"paid": 30.0}]}
    search = GridSearchCV(classifier, grid, cv=3).fit(X, Y)
    by_hand = GridSearchCV(
        classifier, grid, cv=3, scoring=Cost(fp=1, fn=30).scorer(positive="default")
    ).fit(X, Y)
    assert search.best_score_ == by_hand.best_score_
    assert search.best_params_ == by_hand.best_params_ == {"class_weight": None}


def test_moments_with_another_positive_label():
    moments = Moments.of(X, Y, fold=np.arange(len(X)) % 3)
    turned = moments.with_positive("default")
    assert turned.positive == moments.negative
    assert turned.prior == pytest.approx(1.0 - moments.prior)
    assert turned.with_positive("paid") == moments
    assert moments.with_positive("paid") is moments
    assert moments.with_prior(0.2).with_positive("default").prior == pytest.approx(0.8)
    # A sum goes by the labels, in whichever order either side has them.
    both = turned + moments
    assert both.by_class["paid"].weight == 2 * moments.by_class["paid"].weight
    with pytest.raises(LabelNotFoundError):
        moments.with_positive("other")


def test_a_file_of_moments_has_sorted_classes(tmp_path):
    moments = Moments.of(X, Y)
    moments.with_positive("default").save(tmp_path / "a.moments")
    assert Moments.load(tmp_path / "a.moments") == moments
