"""What single displays do beyond the laws, and what they refuse."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import MomentClassifier
from directrix.displays import TradeoffDisplay
from directrix.metrics import Cost, Error, RecallAtFPR
from directrix.metrics.table import TABLE

pytest.importorskip("matplotlib").use("Agg")

X, Y = make_classification(400, 4, n_informative=3, n_redundant=0, class_sep=0.8, random_state=0)
LINE = LogisticRegression().fit(X, Y)
SCORES = LINE.decision_function(X)


@pytest.fixture(autouse=True)
def _close():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def of_classifier(classifier, X=X, y=Y, **how):
    return TradeoffDisplay.from_estimator(classifier, X, y, **how)


def test_unfitted_is_refused():
    with pytest.raises(NotFittedError, match="fit"):
        TradeoffDisplay.from_estimator(MomentClassifier(), X, Y)


def test_rows_of_one_class_are_refused():
    with pytest.raises(ValueError, match=r"of one class only .* give rows of both"):
        of_classifier(LINE, X[Y == 1], Y[Y == 1])
    with pytest.raises(ValueError, match=r"of one class only .* give rows of both"):
        of_classifier(LINE, sample_weight=Y.astype(float))


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="one score for each label"):
        of_classifier(LINE, X, Y[:-1])
    with pytest.raises(ValueError, match="sample_weight must be one finite"):
        of_classifier(LINE, sample_weight=np.ones(3))


def test_labels_not_fitted_to_are_refused():
    with pytest.raises(ValueError, match=r"was not fitted to, \[2\]: drop these rows"):
        of_classifier(LINE, X, np.where(np.arange(400) < 5, 2, Y))


def test_more_than_two_classes_are_refused():
    flowers = load_iris(return_X_y=True)
    classifier = LogisticRegression(max_iter=1000).fit(*flowers)
    with pytest.raises(ValueError, match="has 3 classes, and displays are of two"):
        TradeoffDisplay.from_estimator(classifier, *flowers)


def test_estimators_without_scores_are_refused():
    class Guess(BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002
            self.classes_ = np.unique(y)
            return self

    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        TradeoffDisplay.from_estimator(Guess().fit(X, Y), X, Y)


def test_probabilities_are_cut_at_one_half():
    bayes = GaussianNB().fit(X, Y)
    threshold, error = of_classifier(bayes).point
    assert threshold == 0.5
    assert error == pytest.approx((bayes.predict(X) != Y).mean())


def test_the_metric_of_other_classifiers_means_something_else():
    near = KNeighborsClassifier(metric="euclidean").fit(X, Y)
    assert of_classifier(near).metric == Error()


def test_of_a_pipeline_the_metric_is_that_of_its_end():
    pipeline = make_pipeline(StandardScaler(), MomentClassifier("f1", sample=0)).fit(X, Y)
    assert of_classifier(pipeline).metric == pipeline[-1].operating_point_.metric


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_metric_has_a_trade_off_or_says_why_not(row):
    if not row.example.uses_threshold:
        with pytest.raises(ValueError, match="no threshold changes: give another metric"):
            TradeoffDisplay.from_predictions(Y, SCORES, metric=row.example)
        return
    display = TradeoffDisplay.from_predictions(Y, SCORES, metric=row.example, against="quota")
    assert display.ax_.get_ylabel()
    kept = display.values[display.kept]
    best = kept.max() if row.example.greater_is_better else kept.min()
    if row.name not in ("precision_at_k", "recall_at_k", "prbep"):
        cut = best_threshold(row.example)
        assert row.example.score(Y, SCORES - cut) == pytest.approx(best)
    else:  # at the quota, between the two nearest thresholds
        at = np.interp(display.quota, display.x, display.values)
        assert row.example.score(Y, SCORES) == pytest.approx(at, abs=0.02)


def best_threshold(metric):
    """Return the threshold of best score, by trying all."""
    levels = np.sort(SCORES)
    cuts = np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])
    sign = 1.0 if metric.greater_is_better else -1.0
    return max(cuts, key=lambda cut: sign * metric.score(Y, SCORES - cut))


def test_a_limit_that_is_broken_is_drawn_thin():
    display = TradeoffDisplay.from_predictions(Y, SCORES, metric=RecallAtFPR(0.05))
    fpr = np.array([(SCORES[Y == 0] > cut).mean() for cut in display.x])
    np.testing.assert_array_equal(display.kept, fpr <= 0.05)
    np.testing.assert_array_equal(np.isnan(display.line_.get_ydata()), ~display.kept)
    assert not np.isnan(display.broken_.get_ydata()).any()


def test_costs_are_least_where_the_threshold_was_set_for_them():
    cost = Cost(fp=2.0, fn=6.0)
    display = TradeoffDisplay.from_predictions(Y, SCORES, metric=cost, against="cost")
    nearest = np.argmin(np.abs(np.log(display.x / 3.0)))
    assert display.values[nearest] == display.values.min()
    assert display.values[0] > display.values.min() < display.values[-1]


def test_the_operating_point_stands_at_the_ratio_it_is_best_for():
    cost = Cost(fp=1.0, fn=8.0)
    cut = best_threshold(cost)
    display = TradeoffDisplay.from_predictions(
        Y, SCORES, metric=cost, against="cost", threshold=cut
    )
    ratio, value = display.point
    assert value == pytest.approx(cost.score(Y, SCORES - cut))
    at = Cost(fp=1.0, fn=ratio)
    assert at.score(Y, SCORES - cut) == pytest.approx(at.score(Y, SCORES - best_threshold(at)))


def test_what_to_draw_against_is_checked():
    with pytest.raises(ValueError, match="'threshold', 'cost', 'quota', not 'time'"):
        TradeoffDisplay.from_predictions(Y, SCORES, against="time")


def test_another_label_may_be_the_positive_one():
    metric = Cost(fp=1.0, fn=8.0)
    display = TradeoffDisplay.from_predictions(Y, SCORES, metric=metric, pos_label=0)
    expected = TradeoffDisplay.from_predictions(1 - Y, SCORES, metric=metric)
    np.testing.assert_array_equal(display.values, expected.values)
    with pytest.raises(ValueError, match=r"pos_label=7 is not a label: y_true has \[0, 1\]"):
        TradeoffDisplay.from_predictions(Y, SCORES, pos_label=7)
