"""Laws of the classifiers: what holds for every metric, and what scikit-learn asks of any."""

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from few_cases import SELECTION
from nearness import distance
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    parametrize_with_checks,
)

from directrix import (
    DirectClassifier,
    MomentClassifier,
    Moments,
    OperatingPointClassifier,
)
from directrix.estimators import ScorecardClassifier
from directrix.linear.pencil import EigenPencil
from directrix.metrics import AUC, Cost, RecallAtFPR
from directrix.metrics.table import TABLE

DATA = Path(os.environ.get("DIRECTRIX_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))

# Of estimators for two classes.
LABELS_DIFFER = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)
# Some checks fit a dozen rows, of which ours says that they are few; a warning here is an error.
FEW_ROWS = pytest.mark.filterwarnings("ignore::UserWarning")

every_metric = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
# A metric may well be best served by one class for all; the law holds then too.
any_line = pytest.mark.filterwarnings("ignore:.*every row:UserWarning")


def rows(n, d, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * y
    X[:, -1] *= np.where(y, 2.0, 1.0)
    return X, y


# Rows that are held out, rows that are not, and moments alone.
WAYS = {
    "held out": (10_000, 300, 4),
    "not held out": (10_000, 1500, 3),
    "moments": (0, 300, 4),
}
every_way = pytest.mark.parametrize(("sample", "n", "d"), WAYS.values(), ids=WAYS)


@pytest.fixture(autouse=True)
def few_angles(request, monkeypatch):
    """Search two metrics on fewer angles: each takes ten to a hundred times that of others."""
    if any(slow in request.node.name for slow in ("recall_at_precision", "partial_auc")):
        few = EigenPencil.search._replace(
            first_arc=3, other_arcs=2, valleys=1, rounds=1, points=3, parabolas=1, candidates=3
        )
        monkeypatch.setattr(EigenPencil, "search", few)


ESTIMATORS = [
    MomentClassifier(),
    MomentClassifier(sample=0),
    MomentClassifier(class_weight="balanced"),
    # Few candidates: what is checked is not how good the best is.
    DirectClassifier(cv=2),
    ScorecardClassifier(cv=2),
    OperatingPointClassifier(LogisticRegression(tol=1e-12, max_iter=2000)),
    OperatingPointClassifier(GaussianNB(), cv=3),
    OperatingPointClassifier(GaussianNB(), "balanced_error", response_method="predict_proba"),
]
if SELECTION.limit is not None:  # the first of each class
    ESTIMATORS = [*{type(estimator): estimator for estimator in ESTIMATORS[::-1]}.values()]


def holds_out(estimator):
    """Return whether held-out rows have a say in the fit."""
    given = estimator.get_params(deep=False)
    if isinstance(estimator, MomentClassifier):
        return given["sample"] > 0
    return "cv" in given  # to which the check gives folds


# A row of weight two is held out as a whole, and says no more about new rows than any row; two rows
# do. Where held-out rows have a say, the two fits are equal by chance only.
A_ROW_IS_A_ROW = pytest.mark.xfail(
    reason="a row is one row, whatever its weight, where rows are held out",
    raises=AssertionError,
    strict=False,
)
CHECKS = parametrize_with_checks(ESTIMATORS).mark


@FEW_ROWS
@pytest.mark.every_case
# As a list: from scikit-learn 1.6 comes a generator, of which pytest warns.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learn_finds_nothing_wrong(estimator, check, request):
    if "sample_weight_equivalence" in str(check):
        if LABELS_DIFFER:
            pytest.skip("this scikit-learn gives the two estimators it compares different labels")
        if holds_out(estimator):
            request.applymarker(A_ROW_IS_A_ROW)
    check(estimator)


@any_line
@every_metric
@every_way
def test_scores_predictions_and_probabilities_agree(row, sample, n, d):
    X, y = rows(n, d)
    ours = MomentClassifier(row.example, sample=sample).fit(X, y)
    new = rows(500, d, seed=1)[0]
    scores, predicted = ours.decision_function(new), ours.predict(new)
    probability = ours.predict_proba(new)
    assert scores.shape == predicted.shape == (500,)
    assert probability.shape == (500, 2)
    assert ours.coef_.shape == (1, d)
    assert ours.intercept_.shape == (1,)
    np.testing.assert_array_equal(predicted, ours.classes_[(scores > 0).astype(int)])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-15)
    # Strictly: of two rows the one of higher score is the likelier.
    order = np.argsort(scores)
    apart = np.diff(scores[order]) > 1e-6
    assert (np.diff(probability[order, 1])[apart] > 0).all()
    assert apart.sum() > 450
    assert ours.calibration_.how
    assert ours.operating_point_.metric == row.example
    assert (ours.operating_point_.empirical is None) == (sample == 0)


@any_line
@every_metric
def test_a_line_chosen_by_moments_needs_nothing_but_these(row):
    X, y = rows(300, 4)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    ours = MomentClassifier(row.example, sample=0).fit(X, y, weight)
    theirs = MomentClassifier(row.example).fit_summary(Moments.of(X, y, weight, sample=0))
    # Sums over folds are in another order.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-9)


@any_line
@every_metric
def test_weight_is_repetition_where_there_is_no_sample(row):
    X, y = rows(300, 4)
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 4, len(y))
    index = rng.permutation(np.repeat(np.arange(len(y)), weight))
    ours = MomentClassifier(row.example, sample=0).fit(X, y, weight)
    theirs = MomentClassifier(row.example, sample=0).fit(X[index], y[index])
    # Sums in another order differ by 1e-15, and a minimum by some thousand times that.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def in_parts(metric, order):
    """Return the line after five batches in some order, scaled to length one."""
    X, y = rows(600, 4)
    ours = MomentClassifier(metric, sample=0)
    for k in order:
        ours.partial_fit(X[k::5], y[k::5])
    return ours.coef_[0] / np.linalg.norm(ours.coef_)


@any_line
@every_metric
def test_the_order_of_the_batches_does_not_matter(row, figure):
    line, other = (in_parts(row.example, order) for order in (range(5), (2, 0, 4, 1, 3)))
    moved = np.abs(other - line).max()
    figure(f"partial_fit, {row.name}: five batches in another order move the line {moved:.0e}")
    # Sums in another order differ by 1e-16. AUC is one solve; where a risk is least the vertex of
    # a parabola says, whose width is small, so that rounding counts some ten thousand times.
    assert moved <= (1e-13 if row.name == "auc" else 1e-10)


def test_it_does_not_matter_in_which_call_a_row_comes():
    X, y = rows(600, 4)
    once = MomentClassifier("auc").partial_fit(X, y)
    parts = MomentClassifier("auc")
    for index in np.array_split(np.random.default_rng(0).permutation(600), 4):
        parts.partial_fit(X[index], y[index])
    assert distance(parts.moments_, once.moments_) <= 1e-13  # fold by fold
    np.testing.assert_allclose(parts.coef_, once.coef_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("limit", [0.2, 0.05, 0.01])
def test_on_the_rows_the_false_positives_keep_their_limit(limit):
    X, y = rows(20_000, 5)
    ours = MomentClassifier(RecallAtFPR(limit)).fit(X, y)
    assert ours.operating_point_.rows == "the training rows"
    assert ours.operating_point_.empirical.fpr <= limit
    # On other rows, in and beside the sample, up to chance: five deviations of two shares.
    spread = np.sqrt(2.0 * limit * (1 - limit) / 10_000)
    for seed in (0, 1):
        X, y = rows(20_000, 5, seed=seed)
        assert abs(ours.predict(X)[~y].mean() - limit) <= 5.0 * spread


def test_in_a_pipeline_units_do_not_matter():
    X, y = rows(1500, 3)
    scale = np.array([1e-3, 1.0, 1e4])
    plain = make_pipeline(StandardScaler(), MomentClassifier("auc")).fit(X, y)
    other = make_pipeline(StandardScaler(), MomentClassifier("auc")).fit(X * scale + 7.0, y)
    scores = plain.decision_function(X)
    np.testing.assert_allclose(other.decision_function(X * scale + 7.0), scores, atol=1e-9)
    assert plain.score(X, y) > 0.7


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_can_be_calibrated_anew(method):
    X, y = rows(1500, 3)
    calibrated = CalibratedClassifierCV(MomentClassifier("auc"), method=method, cv=3).fit(X, y)
    probability = calibrated.predict_proba(X)[:, 1]
    assert probability.mean() == pytest.approx(y.mean(), abs=0.03)
    assert AUC().score(y, probability) > 0.75


def test_the_threshold_can_be_tuned_anew():
    X, y = rows(1500, 3)
    tuned = TunedThresholdClassifierCV(MomentClassifier("auc"), scoring="f1", cv=3).fit(X, y)
    assert tuned.best_score_ > 0.5
    assert 0.2 < tuned.predict(X).mean() < 0.8


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_every_row_can_be_predicted_by_lines_that_have_not_seen_it(method):
    X, y = rows(1500, 3)
    out = cross_val_predict(MomentClassifier("auc"), X, y, cv=3, method=method)
    scores = out[:, 1] if method == "predict_proba" else out.astype(float)
    assert AUC().score(y, scores) > (0.65 if method == "predict" else 0.75)


@pytest.mark.skipif(
    not (DATA / "magic04.svm.bz2").is_file(), reason="the folder DIRECTRIX_DATA has no magic04"
)
def test_real_rows_are_recalled_better_at_few_false_positives(figure):
    X, y = load_svmlight_file(str(DATA / "magic04.svm.bz2"), n_features=10)
    parts = train_test_split(X.toarray(), y > 0, test_size=0.5, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = parts
    metric = RecallAtFPR(0.01)
    ours = MomentClassifier(metric).fit(X_train, y_train)
    theirs = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    recalls = [metric.score(y_test, each.decision_function(X_test)) for each in (ours, theirs)]
    figure(
        f"magic04, recall at 1 % false positives on held-out rows: {recalls[0]:.3f}, "
        f"logistic regression {recalls[1]:.3f}"
    )
    assert recalls[0] >= 0.14
    assert recalls[0] > recalls[1]


def direct(metric="error", **options):
    """Return a classifier with few folds; what it says of logistic regression is not asked here."""
    return DirectClassifier(metric, **{"cv": 3, "warn_baseline": False} | options)


def splits(y):
    """Return folds that do not depend on what is in the rows."""
    return list(StratifiedKFold(3).split(np.zeros((len(y), 1)), y))


def assert_same_line(ours, theirs, atol):
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=atol)
    assert ours.report_.chosen == theirs.report_.chosen


@any_line
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}], ids=str)
@pytest.mark.parametrize("metric", ["error", "f1", RecallAtFPR(0.1)], ids=str)
def test_rows_of_weight_zero_are_absent_and_order_does_not_matter(metric, options):
    X, y = rows(300, 4)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300) * (np.arange(300) % 3 > 0)
    ours = direct(metric, **options).fit(np.where(weight[:, None] > 0, X, 1e6), y, weight)
    kept = weight > 0
    theirs = direct(metric, **options).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    order = np.random.default_rng(3).permutation(300)
    moved = direct(metric, **options).fit(X[order], y[order], weight[order])
    assert_same_line(moved, ours, atol=1e-9)


# Which rows are left out to see how far a limit is kept follows from what is in them.
@pytest.mark.parametrize("metric", ["error", "auc", "gmean", Cost(1, 5)], ids=str)
@pytest.mark.parametrize(("scale", "offset"), [(1e3, 5.0), (1e-6, -1e-3)])
def test_units_do_not_matter_to_a_sweep(metric, scale, offset):
    X, y = rows(600, 3)
    X = np.round(2.0 * X) / 2.0  # what is added is then exact, and scores are not too close
    ours = direct(metric, cv=splits(y)).fit(X, y)
    moved = direct(metric, cv=splits(y)).fit(X * scale + offset, y)
    np.testing.assert_array_equal(moved.predict(X * scale + offset), ours.predict(X))
    np.testing.assert_allclose(moved.coef_ * scale, ours.coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.1), Cost(1, 5)], ids=str)
def test_an_offset_of_a_million_million_changes_no_prediction_of_a_sweep(metric):
    X, y = rows(600, 3)
    X = np.round(2.0 * X) / 2.0
    ours = direct(metric, cv=splits(y)).fit(X, y)
    moved = direct(metric, cv=splits(y)).fit(X + 1e12, y)
    np.testing.assert_array_equal(moved.predict(X + 1e12), ours.predict(X))
    # A mean is known to 1e-4 there; of the line that moves what the descent has left to fall.
    np.testing.assert_allclose(moved.coef_, ours.coef_, rtol=0, atol=1e-4)


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.1)], ids=str)
def test_sparse_rows_of_mean_zero_are_swept_as_dense_ones(metric):
    X, y = rows(300, 4)
    X -= X.mean(axis=0)
    ours, theirs = (direct(metric, cv=splits(y)).fit(each, y) for each in (sparse.csr_array(X), X))
    assert_same_line(ours, theirs, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(sparse.csr_array(X)), theirs.predict(X))


HOLDERS = {
    "float32": np.float32,
    "sparse float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "pandas": lambda X: pd.DataFrame(X).add_prefix("x"),
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{k}" for k in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_whatever_holds_the_rows_the_sweep_is_the_same(holder):
    X, y = rows(300, 4)
    X = X.astype(np.float32).astype(np.float64)
    held = holder(X)
    like = sparse.csr_array(X) if sparse.issparse(held) else X
    ours, theirs = direct().fit(held, y), direct().fit(like, y)
    assert_same_line(ours, theirs, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(held), theirs.predict(like))
    assert ours.decision_function(held).dtype == np.float64
    if hasattr(held, "columns"):
        # Older scikit-learn does not know the names of newer polars frames.
        known = getattr(StandardScaler().fit(held), "feature_names_in_", None)
        assert known is None or ours.feature_names_in_.tolist() == known.tolist()
    else:
        assert not hasattr(ours, "feature_names_in_")


def test_a_fit_and_its_clone_and_its_pickle_are_the_same():
    X, y = rows(90, 2)
    ours = direct().fit(X, y)
    again = clone(ours).fit(X, y)
    read = pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own bytes
    for other in (again, read):
        np.testing.assert_array_equal(other.coef_, ours.coef_)
        np.testing.assert_array_equal(other.predict_proba(X), ours.predict_proba(X))
        assert other.get_params() == ours.get_params()
    assert read.operating_point_ == ours.operating_point_


def test_a_sweep_in_a_pipeline_and_a_grid_of_metrics():
    X, y = rows(300, 3)
    metric = RecallAtFPR(0.1)
    steps = make_pipeline(StandardScaler(), direct())
    grid = {"directclassifier__metric": ["error", "auc", metric]}
    search = GridSearchCV(steps, grid, scoring=metric.scorer(), cv=3).fit(X, y)
    assert search.best_params_["directclassifier__metric"] in grid["directclassifier__metric"]
    means = search.cv_results_["mean_test_score"]
    assert search.best_score_ == means.max() > 0.2
    assert search.score(X, y) == pytest.approx(metric.score(y, search.decision_function(X)))


# ── numbers next to the ends of what floats hold ──────────────────────────────────────────────────

EVERY = {
    "direct": DirectClassifier(cv=StratifiedKFold(3)),
    "moments": MomentClassifier(sample=0),
}
every_classifier = pytest.mark.parametrize("classifier", EVERY.values(), ids=EVERY)
simple_rows = pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")


@simple_rows
@every_classifier
@pytest.mark.parametrize("power", [-996, -664, -400, 400, 664, 996])
def test_features_of_extreme_size_are_fitted_or_refused_by_name(classifier, power):
    X, y = rows(200, 3)
    size = np.array([2.0**power, 1.0, 1.0])
    scaled = pd.DataFrame(X * size, columns=["far", "b", "c"])
    classifier = clone(classifier)
    expected = classifier.fit(X, y).coef_[0]
    if isinstance(classifier, MomentClassifier) and abs(power) > 450:
        # A summary holds squares, in the units of the features.
        with pytest.raises(ValueError, match=r"the squares of column 'far' .*(rescale|multiply)"):
            classifier.fit(scaled, y)
        return
    found = classifier.fit(scaled, y)
    # Deviations are rounded in another way, and descents stop at a relative change of 1e-8.
    np.testing.assert_allclose(found.coef_[0] * size, expected, rtol=1e-4, atol=1e-5)
    assert found.score(scaled, y) > 0.75


@every_classifier
def test_features_next_to_the_smallest_float_are_refused_by_name(classifier):
    X, y = rows(100, 2)
    with pytest.raises(ValueError, match=r"column 1 .*(Rescale|multiply)"):
        clone(classifier).fit(X * [1.0, 1e-312], y)


@every_classifier
def test_negative_weights_are_refused(classifier):
    X, y = rows(100, 2)
    weight = np.ones(100)
    weight[7] = -0.5
    with pytest.raises(ValueError, match=r"not be negative, and is -0.5 in row 7: give zero"):
        clone(classifier).fit(X, y, sample_weight=weight)


@every_classifier
@pytest.mark.parametrize("part", ["all", "positive"])
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-200, 1e200, 1e300, 1e307])
def test_extreme_weights_are_refused_with_their_range(classifier, size, part):
    X, y = rows(100, 2)
    weight = np.where(y | (part == "all"), size, 1.0)
    with pytest.raises(ValueError, match=r"add up to .* from 1e-140 to 1e\+140: multiply all"):
        clone(classifier).fit(X, y, sample_weight=weight)


@simple_rows
@pytest.mark.parametrize("size", [1e-300, 1e300])
@every_classifier
def test_extreme_class_weights_are_refused_with_their_range(classifier, size):
    X, y = rows(100, 2)
    with pytest.raises(ValueError, match=r"add up to .* from 1e-140 to 1e\+140"):
        clone(classifier).set_params(class_weight={True: size}).fit(X, y)
