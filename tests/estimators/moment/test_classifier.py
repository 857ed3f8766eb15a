import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import confusion_matrix

from directrix import MomentClassifier, Moments
from directrix.metrics import AUC, Cost, Error, PrecisionAtK, RecallAtFPR


def rows(n=400, d=4, gap=1.2, seed=0, share=0.3):
    """Return rows of two classes that differ in mean and spread."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d))
    X[:, 0] += gap * y
    X[:, -1] *= np.where(y, 2.0, 1.0)
    return X, y


def many_rows(seed=0):
    """Return enough rows that none need be held out."""
    return rows(3000, 3, seed=seed)


def assert_same_line(one, other, **tolerance):
    np.testing.assert_allclose(one.coef_, other.coef_, **tolerance)
    np.testing.assert_allclose(one.intercept_, other.intercept_, **tolerance)


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.05)], ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced", {True: 3.0}], ids=str)
@pytest.mark.parametrize("make", [rows, many_rows], ids=["few", "many"])
@pytest.mark.parametrize("sample", [10_000, 0])
def test_to_fit_is_to_summarise_and_to_learn_from_the_summary(metric, class_weight, make, sample):
    X, y = make()
    X = X.astype(np.float32).astype(np.float64)  # as a sample keeps them
    ours = MomentClassifier(metric, class_weight=class_weight, sample=sample).fit(X, y)
    again = clone(ours).fit_summary(ours.moments_)
    (each,) = clone(ours).fit_summary_each([metric], ours.moments_)
    np.testing.assert_array_equal(each.coef_, again.coef_)
    # Rows are in another order: a logistic regression that is solved by steps ends a little apart.
    assert_same_line(again, ours, atol=1e-5 if sample else 0.0)
    rates = again.operating_point_.empirical, ours.operating_point_.empirical
    assert rates[0] == (pytest.approx(rates[1], abs=2e-3) if sample else None)
    assert again.moments_ == ours.moments_
    covariance = Moments.of(X, y).positive.covariance
    np.testing.assert_allclose(ours.moments_.unfolded().positive.covariance, covariance, atol=1e-14)


@pytest.mark.parametrize("make", [rows, many_rows], ids=["few", "many"])
def test_a_limit_is_kept_by_a_fold_that_had_no_other_part(make):
    X, y = make()
    ours = MomentClassifier("error", guarantee=0.9, limits={"fpr": 0.1}).fit(X, y)
    assert "fpr <= 0.1" in ours.operating_point_.guarantee
    new, labels = rows(20_000, X.shape[1], seed=1)
    assert ours.predict(new)[~labels].mean() < 0.1 + 0.02  # it may be broken in one fit of ten
    with pytest.raises(ValueError, match="guarantee= needs rows"):
        clone(ours).set_params(sample=0).fit(X, y)
    with pytest.raises(ValueError, match="keeps limits on fpr and recall"):
        clone(ours).set_params(limits={"precision": 0.5}).fit(X, y)


def test_normal_scores_are_named_first_and_few_rows_of_a_class_are_named():
    X, y = rows()
    normal = MomentClassifier(RecallAtFPR(0.01), sample=0).fit(X, y)
    assert str(normal.operating_point_).splitlines()[0].endswith(", if scores were normal")
    index = np.append(np.flatnonzero(y)[:30], np.flatnonzero(~y))
    few = MomentClassifier(RecallAtFPR(0.01)).fit(X[index], y[index])
    assert "With 30 rows of one class, rates at this limit are not known." in str(few.report_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limits": {"fpr": 0.1}}, "limits= needs guarantee="),
        (
            {"metric": "acuracy"},
            "no metric named 'acuracy' .did you mean 'error'..: give one of 'error'",
        ),
        ({"metric": "recall_at_fpr"}, r"for example RecallAtFPR\(fpr=0.01\)"),
        ({"metric": PrecisionAtK(1000)}, "asks for all of the 400 rows"),
        ({"class_weight": "unfair"}, "class_weight must be 'balanced' or a dict"),
        ({"class_weight": {True: -1.0}}, "class weights must be positive"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    X, y = rows()
    for fit in (
        lambda ours: ours.fit(X, y),
        lambda ours: ours.fit_summary(Moments.of(X, y)),
        lambda ours: ours.partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match=message):
            fit(MomentClassifier(**options))


def test_one_class_is_refused():
    X, y = rows()
    with pytest.raises(ValueError, match=r"one class only, \[1.0\].*needs rows of both"):
        MomentClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match=r"one class only, \[False\].*weight zero do not count"):
        MomentClassifier().fit(X, y, sample_weight=np.where(y, 0.0, 1.0))
    with pytest.raises(ValueError, match="both classes need rows"):
        MomentClassifier().fit_summary(Moments.of(X, np.ones(len(X)), classes=[0, 1]))
    for fewer in (Moments.of(X, np.ones(len(X))), Moments.empty(3)):
        with pytest.raises(ValueError, match="this needs two classes"):
            MomentClassifier().fit_summary(fewer)


def test_three_classes_are_refused_and_there_is_advice():
    X, _ = rows()
    y = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match=r"Only binary.*3 labels, 0, 1, 2\. Fit one classifier"):
        MomentClassifier().fit(X, y)
    with pytest.raises(ValueError, match="one_vs_rest"):
        MomentClassifier().fit_summary(Moments.of(X, y))


@pytest.mark.parametrize("sample", [10_000, 0])
def test_class_weight_counts_as_weights_of_the_rows_do(sample):
    X, y = many_rows()
    ours = MomentClassifier(sample=sample, class_weight={True: 5.0}).fit(X, y)
    theirs = MomentClassifier(sample=sample).fit(X, y, np.where(y, 5.0, 1.0))
    plain = MomentClassifier(sample=sample).fit(X, y)
    # Shrunk lines differ: the features are standardised by the rows as they are.
    wrong = [
        np.average(each.predict(X) != y, weights=np.where(y, 5.0, 1.0)) for each in (ours, theirs)
    ]
    assert wrong[0] == pytest.approx(wrong[1], abs=0.01)
    assert ours.predict(X).mean() > 1.5 * plain.predict(X).mean()
    assert ours.moments_ == plain.moments_  # what is saved is of the rows as they are


def test_balanced_classes_make_the_error_the_balanced_error():
    X, y = many_rows()
    error = MomentClassifier("error", class_weight="balanced", sample=0).fit(X, y)
    balanced = MomentClassifier("balanced_error", sample=0).fit(X, y)
    assert_same_line(error, balanced, atol=1e-6)


@pytest.mark.parametrize(("cost", "spread"), [(Cost(1e5, 1), 0.5), (Cost(1, 1e5), 2.0)], ids=str)
def test_where_one_class_for_all_is_best_it_is_said(cost, spread):
    # Positives inside the negatives and dear to claim, or all around them and dear to miss.
    label = spread > 1
    X, y = rows(gap=0.0)
    X = np.random.default_rng(5).normal(size=X.shape) * np.where(y, spread, 1.0)[:, None]
    with pytest.warns(UserWarning, match=f"every row is predicted {'pos' if label else 'neg'}"):
        ours = MomentClassifier(cost).fit(X, y)
    assert set(ours.predict(X)) == {label}
    assert np.isfinite(ours.intercept_).all()
    with pytest.warns(UserWarning, match=f"predicts {label} for every row.*balanced_error"):
        ours = MomentClassifier(cost, sample=0).fit(X, y)
    assert set(ours.predict(X)) == {label}


def test_where_a_class_has_few_rows_it_is_said():
    X, y = rows()
    index = np.append(np.flatnonzero(y)[:7], np.flatnonzero(~y))
    with pytest.warns(UserWarning, match="one class has 7 rows only"):
        MomentClassifier("auc").fit(X[index], y[index])


def test_few_rows_are_held_out_and_many_are_not():
    # From a hundred rows a feature on, in the smaller class.
    X, _ = rows(1000, 4)
    for n_pos, name in ((399, "held-out rows"), (400, "the training rows")):
        y = np.arange(1000) < n_pos
        ours = MomentClassifier().fit(X + y[:, None], y)
        assert ours.operating_point_.rows == name
        assert ours.calibration_.how.endswith(name)
    moments = MomentClassifier(sample=0).fit(*rows())
    assert moments.operating_point_.rows is None
    assert moments.calibration_.how.endswith("from the moments")


def test_held_out_rows_promise_no_more_than_new_rows_show():
    # Pure noise, and nearly as many features as rows: on its own rows a line would do far better.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 100)), np.arange(200) % 2 == 0
    ours = MomentClassifier("auc").fit(X, y)
    assert ours.operating_point_.empirical.metric < 0.65
    assert AUC().score(y, ours.decision_function(X)) > 0.75


@pytest.mark.parametrize("metric", ["error", "auc", "f1", RecallAtFPR(0.05), Cost(1, 5)], ids=str)
def test_rates_on_the_rows_are_those_of_the_predictions(metric):
    X, y = many_rows()
    ours = MomentClassifier(metric).fit(X, y)
    point = ours.operating_point_
    tn, fp, fn, tp = confusion_matrix(y, ours.predict(X)).ravel()
    assert point.empirical.tpr == pytest.approx(tp / (tp + fn), abs=1e-15)
    assert point.empirical.fpr == pytest.approx(fp / (fp + tn), abs=1e-15)
    assert point.empirical.precision == pytest.approx(tp / (tp + fp), abs=1e-15)
    measured = point.metric.score(y, ours.decision_function(X))
    if point.metric.limit is None:
        assert point.empirical.metric == pytest.approx(measured, abs=1e-12)
    else:  # it is kept on new rows, so that these could catch a few more
        assert measured - 0.02 < point.empirical.metric <= measured
    for (low, high), value in zip(point.intervals, point.expected, strict=True):
        assert low <= value <= high
    assert point.threshold == -ours.intercept_[0]
    # The scores of these rows are close to normal.
    of_moments = MomentClassifier(point.metric, sample=0).fit(X, y).operating_point_
    assert point.predicted is None
    assert of_moments.predicted.metric == pytest.approx(point.empirical.metric, abs=0.03)


def test_the_operating_point_reads_well():
    text = str(MomentClassifier(RecallAtFPR(0.05)).fit(*rows()).operating_point_)
    assert text.startswith("recall at FPR 5 %, threshold ")
    assert "on held-out rows" in text
    assert [line.split("  ")[0] for line in text.splitlines()[2:]] == [
        "recall",
        "FPR",
        "precision",
        "recall at FPR 5 %",
    ]


@pytest.mark.parametrize("sample", [10_000, 0])
@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
def test_fewer_rows_than_features_will_do(sample):
    X, y = rows(60, 90, gap=4.0)
    ours = MomentClassifier("auc", sample=sample).fit(X, y)
    assert np.isfinite(ours.coef_).all()
    new, its = rows(500, 90, gap=4.0, seed=1)
    assert AUC().score(its, ours.decision_function(new)) > 0.6


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.05)], ids=str)
@pytest.mark.parametrize("sample", [10_000, 0])
def test_an_offset_of_a_million_million_changes_no_prediction(metric, sample):
    X, y = rows(3000, 2)
    X = np.round(2.0 * X) / 2.0  # what is added is then exact, and scores are not too close
    ours = MomentClassifier(metric, sample=sample).fit(X, y)
    moved = MomentClassifier(metric, sample=sample).fit(X + 1e12, y)
    np.testing.assert_array_equal(moved.predict(X + 1e12), ours.predict(X))
    # Logistic regressions of the sample are solved by steps, and end a little apart.
    np.testing.assert_allclose(moved.coef_, ours.coef_, atol=1e-6 if sample else 1e-9)


HOLDERS = {
    "float32": np.float32,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr matrix": sparse.csr_matrix,
    "pandas": lambda X: pd.DataFrame(X).add_prefix("x"),
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{k}" for k in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("make", [rows, many_rows], ids=["few", "many"])
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_whatever_holds_the_rows_the_line_is_the_same(holder, make):
    X, y = make()
    X = X.astype(np.float32).astype(np.float64)
    X[np.abs(X) < 0.3] = 0.0
    ours = MomentClassifier(RecallAtFPR(0.05)).fit(X, y)
    other = MomentClassifier(RecallAtFPR(0.05)).fit(holder(X), y)
    assert_same_line(ours, other, rtol=1e-9, atol=1e-9)
    scores = other.decision_function(holder(X))
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, ours.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(other.predict(holder(X)), ours.predict(X))


def test_rows_of_weight_zero_are_absent():
    X, y = rows()
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    X[weight == 0] = 1e6
    ours = MomentClassifier(Error()).fit(X, y, weight)
    theirs = MomentClassifier(Error()).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)


def test_the_probability_at_the_cut_is_where_both_predictions_cost_alike():
    X, y = many_rows()
    assert MomentClassifier("error").fit(X, y).calibration_(0.0) == pytest.approx(0.5)
    assert MomentClassifier(Cost(1, 4)).fit(X, y).calibration_(0.0) == pytest.approx(0.2)
    balanced = MomentClassifier("balanced_error").fit(X, y).calibration_
    assert balanced(0.0) == pytest.approx(y.mean())


@pytest.mark.filterwarnings("ignore:every row is predicted", "ignore:the best line predicts")
@pytest.mark.parametrize("sample", [10_000, 0])
@pytest.mark.parametrize("metric", ["error", "auc", "f1", RecallAtFPR(0.05)], ids=str)
def test_classes_of_one_mean_have_no_line_but_a_classifier(metric, sample):
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 10), [0, 0, 1, 1] * 10
    ours = MomentClassifier(metric, sample=sample).fit(X, y)
    assert sample or not ours.coef_.any()
    assert np.isfinite(ours.predict_proba(X)).all()
