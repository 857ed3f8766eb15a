"""Other operating points of one model, and the score of a classifier."""

import pickle
from copy import copy
from dataclasses import replace
from html import escape

import numpy as np
import pytest

from directrix import DirectClassifier, MomentClassifier, Moments, ScorecardClassifier
from directrix.engines import HashFolds
from directrix.exceptions import NoHeldOutScoresError
from directrix.export import load, save
from directrix.metrics import AUC, FBeta, PrecisionAtRecall, RecallAtFPR
from directrix.metrics.table import resolve

pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
POINTS = ["recall@fpr=0.02", "precision@recall=0.8", "f1"]


def rows(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * y
    X[:, 1] = np.where(y, 2.0 * X[:, 1], X[:, 1])
    return X, y


X, Y = rows(3000, 0)
NEW, NEW_Y = rows(40_000, 1)
FITS = {
    "direct": lambda: DirectClassifier("auc", cv=3).fit(X, Y),
    "direct, first label": lambda: DirectClassifier("auc", cv=3, positive=0).fit(X, 1 - Y),
    "direct, guaranteed": lambda: DirectClassifier("recall@fpr=0.05", guarantee=0.9).fit(X, Y),
    "direct, from a source": lambda: DirectClassifier("auc").fit_source(
        X, target=Y, fold=HashFolds(3), progress=False
    ),
    "moment": lambda: MomentClassifier("auc").fit(X, Y),
    "card": lambda: ScorecardClassifier("auc", cv=3, max_crosses=0, max_lines=None).fit(X, Y),
    "card, integer": lambda: ScorecardClassifier(
        "f1", cv=3, max_crosses=0, max_lines=None, points="integer"
    ).fit(X, Y),
    "card, double odds": lambda: ScorecardClassifier(
        "f1", cv=3, max_crosses=0, max_lines=None, points="pdo", positive=0
    ).fit(X, 1 - Y),
}


@pytest.fixture(scope="module", params=FITS)
def classifier(request):
    return FITS[request.param]()


def caught(classifier, at=None):
    """Return which new rows are predicted to be of the label that the classifier catches."""
    return classifier.predict(NEW, at) == classifier.positive_


def test_the_rates_on_new_rows_are_in_the_intervals(classifier):
    for text, point in zip(POINTS, classifier.operating_points(POINTS), strict=True):
        above = caught(classifier, text)
        tpr, fpr = above[NEW_Y].mean(), above[~NEW_Y].mean()
        for rate, interval in ((tpr, point.intervals.tpr), (fpr, point.intervals.fpr)):
            # Intervals are for one rate in twenty; these are wider by the noise of the new rows.
            reach = 0.6 * (interval[1] - interval[0]) + 0.005
            assert interval[0] - reach <= rate <= interval[1] + reach
        np.testing.assert_array_equal(above, caught(classifier, point))
        assert point.metric == resolve(text)


def test_points_name_the_rows_that_show_their_rates(classifier):
    named = classifier.operating_point_.rows
    assert {point.rows for point in classifier.operating_points(POINTS)} == {named}
    apart = "rows set apart for the guarantee"
    assert (named == apart) == (getattr(classifier, "guarantee", None) is not None)


def test_the_limit_of_a_point_is_kept(classifier):
    assert caught(classifier, RecallAtFPR(0.02))[~NEW_Y].mean() <= 0.035
    assert caught(classifier, PrecisionAtRecall(0.8))[NEW_Y].mean() >= 0.74


def test_the_point_of_the_fit_changes_nothing(classifier):
    np.testing.assert_array_equal(
        caught(classifier), caught(classifier, classifier.operating_point_)
    )


def test_a_copy_at_another_point_predicts_as_that_point(classifier, tmp_path):
    before = caught(classifier)
    for text, point in zip(POINTS, classifier.operating_points(POINTS), strict=True):
        moved = classifier.with_threshold(point)
        np.testing.assert_array_equal(caught(moved), caught(classifier, text))
        assert moved.operating_point_ == point
        (again,) = moved.operating_points([text])
        assert again.expected == point.expected
        assert again.threshold == pytest.approx(point.threshold, abs=1e-12)
        assert point.threshold == pytest.approx(
            classifier.threshold_above(classifier.score_above(point))
        )
        save(moved, tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").predict(NEW), moved.predict(NEW))
        probability = moved.predict_proba(NEW)[:, 1]
        order = np.argsort(classifier.decision_function(NEW), kind="stable")
        assert (np.diff(probability[order]) >= -1e-12).all()
    np.testing.assert_array_equal(caught(classifier), before)
    for threshold in (0.3, "f1"):
        with pytest.raises(TypeError, match=rf"operating_points\(\[.*not {threshold!r}"):
            classifier.with_threshold(threshold)


def test_the_score_is_that_of_the_metric_of_the_fit(classifier):
    label = (classifier.positive_ == 1) == NEW_Y
    before = classifier.score(NEW, label)
    changed = copy(classifier).set_params(metric="balanced_error")
    assert changed.score(NEW, label) == before


@pytest.mark.parametrize("name", ["card, integer", "card, double odds"])
def test_whole_points_have_thresholds_between_them(name, monkeypatch):
    fitted = FITS[name]()
    stated = fitted.operating_points(POINTS)
    monkeypatch.setattr(type(fitted), "_stated_threshold", lambda _, threshold: threshold)
    points, rises = fitted.predict_points(NEW), fitted.card_.higher_is_positive
    for between, exact in zip(stated, fitted.operating_points(POINTS), strict=True):
        assert between.threshold % 1 == 0.5
        above = points > between.threshold if rises else points < between.threshold
        np.testing.assert_array_equal(caught(fitted, exact), above)


def test_points_survive_pickling(classifier):
    again = pickle.loads(pickle.dumps(classifier))  # noqa: S301 - our own
    np.testing.assert_array_equal(caught(again, "f1"), caught(classifier, "f1"))


def test_points_print_as_a_table():
    points = FITS["moment"]().operating_points(POINTS)
    lines = str(points).splitlines()
    assert lines[0] == "expected on new rows"
    assert lines[1].split()[:3] == ["for", "threshold", "recall"]
    assert [line.split("  ")[0] for line in lines[2:]] == [
        "recall at FPR 2 %",
        "precision at recall 80 %",
        "F1",
    ]
    assert points._repr_html_().count("<tr>") == 4
    (one,) = points[:1]
    html = one._repr_html_()
    assert html.count("<tr>") == 5
    for texts in one.table():
        for text in texts:
            assert escape(text) in html
    noted = replace(one, guarantee="fpr < 0.1")
    assert "<p" not in html
    assert "kept on new rows: fpr &lt; 0.1" in noted.to_html()
    assert isinstance(points, tuple)


def test_one_metric_may_be_given_without_a_list():
    classifier = FITS["moment"]()
    assert len(classifier.operating_points("f1")) == 1
    assert len(classifier.operating_points(FBeta())) == 1


def test_a_ranking_has_no_threshold():
    with pytest.raises(ValueError, match="AUC ranks rows"):
        FITS["moment"]().operating_points([AUC()])


def test_a_model_without_held_out_scores_says_so(tmp_path):
    summary = MomentClassifier("f1").fit_summary(Moments.of(X, Y, sample=0))
    with pytest.raises(NoHeldOutScoresError, match="fitted to a summary") as error:
        summary.predict(NEW, at="recall@fpr=0.01")
    assert error.value.classifier == "MomentClassifier"
    fitted = FITS["direct"]()
    point = fitted.operating_points(["f1"])[0]
    save(fitted, tmp_path / "model.dx")
    loaded = load(tmp_path / "model.dx")
    with pytest.raises(NoHeldOutScoresError):
        loaded.operating_points(["f1"])
    np.testing.assert_array_equal(loaded.predict(NEW, at=point), fitted.predict(NEW, at=point))
