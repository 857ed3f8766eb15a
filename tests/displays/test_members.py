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
from sklearn.svm import LinearSVC

from directrix import Frontier, MomentClassifier, Moments, SmoothClassifier
from directrix.displays import (
    FrontierDisplay,
    LossDisplay,
    MarginDisplay,
    PathDisplay,
    TradeoffDisplay,
)
from directrix.displays.frontier import boundary_of
from directrix.losses import BreakEven, Hinge, PairwiseHinge
from directrix.metrics import (
    AUC,
    PRBEP,
    Cost,
    Error,
    FPRAtRecall,
    PartialAUC,
    PrecisionAtK,
    RecallAtFPR,
    RecallAtK,
    RecallAtPrecision,
)
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


def of_classifier(display, classifier, X=X, y=Y, **how):
    return display.from_estimator(classifier, X, y, **how)


OF_ROWS = (FrontierDisplay, MarginDisplay, TradeoffDisplay)
displays_of_rows = pytest.mark.parametrize("display", OF_ROWS, ids=lambda display: display.__name__)


@pytest.mark.parametrize("display", [*OF_ROWS, PathDisplay], ids=lambda display: display.__name__)
def test_unfitted_is_refused(display):
    with pytest.raises(NotFittedError, match="fit"):
        display.from_estimator(SmoothClassifier(), X, Y)


@displays_of_rows
def test_rows_of_one_class_are_refused(display):
    with pytest.raises(ValueError, match=r"of one class only .* give rows of both"):
        of_classifier(display, LINE, X[Y == 1], Y[Y == 1])
    with pytest.raises(ValueError, match=r"of one class only .* give rows of both"):
        of_classifier(display, LINE, sample_weight=Y.astype(float))


@displays_of_rows
def test_lengths_that_differ_are_refused(display):
    with pytest.raises(ValueError, match="one score for each label"):
        of_classifier(display, LINE, X, Y[:-1])
    with pytest.raises(ValueError, match="sample_weight must be one finite"):
        of_classifier(display, LINE, sample_weight=np.ones(3))


@displays_of_rows
def test_labels_not_fitted_to_are_refused(display):
    with pytest.raises(ValueError, match=r"was not fitted to, \[2\]: drop these rows"):
        of_classifier(display, LINE, X, np.where(np.arange(400) < 5, 2, Y))


@displays_of_rows
def test_more_than_two_classes_are_refused(display):
    flowers = load_iris(return_X_y=True)
    classifier = LogisticRegression(max_iter=1000).fit(*flowers)
    with pytest.raises(ValueError, match="has 3 classes, and displays are of two"):
        display.from_estimator(classifier, *flowers)


def test_estimators_without_scores_are_refused():
    class Guess(BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002
            self.classes_ = np.unique(y)
            return self

    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        MarginDisplay.from_estimator(Guess().fit(X, Y), X, Y)


def test_probabilities_are_cut_at_one_half():
    bayes = GaussianNB().fit(X, Y)
    display = of_classifier(FrontierDisplay, bayes)
    predicted = bayes.predict(X)
    assert display.point == pytest.approx((predicted[Y == 0].mean(), predicted[Y == 1].mean()))
    assert of_classifier(MarginDisplay, bayes).threshold == 0.5


def test_the_metric_of_other_classifiers_means_something_else():
    near = KNeighborsClassifier(metric="euclidean").fit(X, Y)
    assert of_classifier(TradeoffDisplay, near).metric == Error()
    assert of_classifier(FrontierDisplay, near).metric == AUC()


def test_of_a_pipeline_the_frontier_is_that_of_what_arrives_at_its_end():
    last = make_pipeline(StandardScaler(), LinearSVC()).fit(X, Y)
    display = of_classifier(FrontierDisplay, last)
    expected = Frontier(Moments.of(StandardScaler().fit_transform(X), Y)).curve()
    np.testing.assert_allclose(display.frontier.tpr, expected.tpr)
    pipeline = make_pipeline(StandardScaler(), MomentClassifier("f1", learn_from="moments")).fit(
        X, Y
    )
    assert of_classifier(TradeoffDisplay, pipeline).metric == pipeline[-1].operating_point_.metric


def test_frontier_has_a_log_scale_where_the_limit_is_far_left():
    moments = Moments.of(X, Y)
    small = FrontierDisplay.from_moments(moments, RecallAtFPR(0.01))
    assert small.ax_.get_xscale() == "log"
    assert small.limit_.get_label() == "limit: FPR at most 1 %"
    assert small.plot(xscale="linear").ax_.get_xlim() == (0.0, 1.0)
    assert FrontierDisplay.from_moments(moments, "auc").ax_.get_xscale() == "linear"


@pytest.mark.parametrize(
    ("metric", "holds"),
    [
        (RecallAtFPR(0.1), lambda f, _: f - 0.1),
        (PartialAUC(0.2), lambda f, _: f - 0.2),
        (FPRAtRecall(0.8), lambda _, t: t - 0.8),
        (RecallAtPrecision(0.6), lambda f, t: 0.4 * 0.25 * t - 0.6 * 0.75 * f),
        (PrecisionAtK(0.1), lambda f, t: 0.25 * t + 0.75 * f - 0.1),
        (RecallAtK(50), lambda f, t: 0.25 * t + 0.75 * f - 0.5),
        (PRBEP(), lambda f, t: 0.25 * t + 0.75 * f - 0.25),
    ],
    ids=lambda value: value.label if hasattr(value, "risk") else "",
)
def test_limits_are_where_they_are_kept_just_so(metric, holds):
    limit = boundary_of(metric, 0.25, 100.0)
    assert len(limit.fpr) > 50
    assert limit.tpr.min() >= 0
    assert limit.tpr.max() <= 1
    np.testing.assert_allclose(holds(limit.fpr, limit.tpr), 0.0, atol=1e-12)


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
    with pytest.raises(ValueError, match="'level' or 'iteration', not 'time'"):
        PathDisplay.from_estimator(smooth(), against="time")


def test_another_label_may_be_the_positive_one():
    display = MarginDisplay.from_predictions(Y, SCORES, pos_label=0)
    assert display.positive.name == "0"
    assert display.positive.mean == pytest.approx(SCORES[Y == 0].mean())
    with pytest.raises(ValueError, match=r"pos_label=7 is not a label: y_true has \[0, 1\]"):
        MarginDisplay.from_predictions(Y, SCORES, pos_label=7)


def test_many_rows_make_few_points_with_both_ends():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=5000), np.arange(5000) % 2
    display = MarginDisplay.from_predictions(y, scores)
    for side, members in ((display.positive, scores[y == 1]), (display.negative, scores[y == 0])):
        assert 150 <= len(side.seen) <= 200
        ends = (members[[members.argmin(), members.argmax()]] - members.mean()) / members.std()
        np.testing.assert_allclose(side.seen[[0, -1]], ends)
        assert np.abs(side.seen - side.expected)[20:-20].max() < 0.15  # they are normal


def test_scores_without_a_normal_distribution_are_refused():
    with pytest.raises(ValueError, match="all scores of class 1 are equal"):
        MarginDisplay.from_predictions(Y, np.where(Y == 1, 1.0, SCORES))
    with pytest.raises(ValueError, match="a score is infinite"):
        MarginDisplay.from_predictions(Y, np.where(SCORES > 1, np.inf, SCORES))


def smooth(**how):
    return SmoothClassifier("error", loss="sigmoid", alpha=0.01, cv=2, **how).fit(X, Y)


def test_a_path_needs_levels_and_rows():
    with pytest.raises(ValueError, match=r"has one level, .* fit with levels="):
        PathDisplay.from_estimator(smooth(), X, Y)
    with pytest.raises(ValueError, match="give X and y as they were fitted"):
        PathDisplay.from_estimator(smooth(levels=(1, 2)))
    with pytest.raises(TypeError, match="and this is a LogisticRegression"):
        PathDisplay.from_estimator(LINE, X, Y)


@pytest.mark.parametrize("start", ["moments", "zero", "previous"])
def test_a_path_ends_where_the_fit_did(start):
    classifier = smooth(levels=(1, 2), start=start)
    display = PathDisplay.from_estimator(classifier, X, Y)
    chosen = [str(each.loss) for each in classifier.candidates_].index(str(classifier.loss_))
    last = classifier.history_[-1]
    assert display.objective[chosen] == pytest.approx(last.value, abs=1e-6)


def test_of_a_sweep_the_path_is_that_of_the_chosen_ridge_and_ratio():
    classifier = SmoothClassifier("balanced_error", alpha=1e-3, cv=2).fit(X, Y)
    display = PathDisplay.from_estimator(classifier, X, Y)
    assert display.steps[0] == "logistic"
    assert len(display.steps) == 3
    assert classifier.alpha_ == 1e-3


@pytest.mark.parametrize("loss", [PairwiseHinge(), BreakEven()], ids=lambda loss: loss.name)
def test_losses_of_all_rows_together_are_refused(loss):
    with pytest.raises(ValueError, match="of all rows together"):
        LossDisplay.from_losses([Hinge(), loss])


def test_losses_are_checked():
    with pytest.raises(TypeError, match="losses must be one or more"):
        LossDisplay.from_losses(["hinge"])
    with pytest.raises(ValueError, match="side must be one of"):
        LossDisplay.from_losses(Hinge(), side="left")


def test_one_axes_has_the_loss_alone():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = LossDisplay.from_losses(Hinge(), ax=ax)
    assert display.ax_ is ax
    assert len(display.lines_) == 1
    assert display.slopes_ == []
