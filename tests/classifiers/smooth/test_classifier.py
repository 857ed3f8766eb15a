import os
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import directrix.classifiers.smooth
from directrix import Moments, SmoothClassifier
from directrix.classifiers.smooth import certified_gap
from directrix.exceptions import OneClassPredictedWarning
from directrix.fitting.solvers import SOLVERS
from directrix.fitting.training_rows import Standardization
from directrix.frontier import Frontier
from directrix.linear import Logistic, PairwiseHinge, Ramp, Sigmoid, ZeroOne
from directrix.linear.lbfgs import stop_after
from directrix.linear.objectives import DataObjective
from directrix.linear.table import LOSSES as LOSS_TABLE
from directrix.metrics import AUC, BalancedError, Error, RecallAtFPR
from directrix.solve import lbfgs

DATA = Path(os.environ.get("DIRECTRIX_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))


def rows(n=300, d=3, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.5 * y
    return X, y


def short(metric="error", **options):
    """Return a classifier of a short sweep."""
    return SmoothClassifier(metric, **{"alpha": 1e-2, "cv": 2} | options)


@pytest.mark.parametrize("loss", [None, "logistic", "sigmoid", "smoothed_roc_area"])
def test_the_history_falls_and_time_goes_on(loss):
    X, y = rows()
    ours = short(loss=loss, start="zero").fit(X, y)
    values, metrics, seconds = np.array(ours.history_).T
    assert len(values) > 2
    assert (np.diff(values) < 0).all()
    assert (np.diff(seconds) > 0).all()
    assert seconds[0] >= 0
    assert metrics[-1] < metrics[0]  # at zero all rows tie
    assert ours.n_iter_ >= len(values) - 1
    # The last is the metric of the line on the rows it was made of.
    exact = [(ours.decision_function(X) > t) != y for t in np.sort(ours.decision_function(X))]
    assert metrics[-1] == pytest.approx(np.mean(exact, axis=1).min(), abs=1e-12)


CERTIFIED = [
    loss for _, losses in LOSS_TABLE for loss in losses if loss.convex and loss.shift_invariant
]


@pytest.mark.parametrize("loss", CERTIFIED, ids=lambda loss: loss.name)
@pytest.mark.parametrize("iterations", [2, 100])
def test_no_line_is_better_by_more_than_the_certified_gap(loss, iterations):
    X, y = rows(120, 2)
    objective = DataObjective(X - X.mean(axis=0), y, np.ones(len(y)), loss, 1e-2)
    solution = lbfgs(objective, np.array([0.3, 1.0, 0.0]), callback=stop_after(iterations))
    sharp = objective.sharpened(np.inf)
    closer = lbfgs(sharp, solution.coef, tol=1e-9, ftol=0.0).value
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # of smooth ones planes are a poor model
        planes = SOLVERS["bundle"].run(objective, np.zeros(3), np.random.default_rng(0), None)
    gap = certified_gap(objective, solution)
    assert sharp(solution.coef)[0] - min(closer, planes.value) <= gap + 1e-12
    assert planes.lower_bound <= closer + 1e-12  # and so do planes
    if iterations == 100:
        assert gap < 0.1


def test_a_loss_that_knows_where_to_cut_says_nothing_of_its_gap():
    X, y = rows()
    assert short(loss="logistic").fit(X, y).certified_gap_ is None
    found = short("auc", loss="pairwise_hinge").fit(X, y).certified_gap_
    assert 0 <= found < 0.1


def test_a_bundle_certifies_its_own_gap():
    X, y = rows(120, 2)
    for loss in ("hinge", "pairwise_hinge"):
        ours = short("auc", loss=loss, solver="bundle").fit(X, y)
        assert 0 <= ours.certified_gap_ <= 1.1e-3 * ours.history_[-1].value


def test_what_is_not_convex_certifies_nothing():
    X, y = rows()
    assert short(loss="sigmoid").fit(X, y).certified_gap_ is None
    assert short(loss="pairwise_hinge", alpha=0.0).fit(X, y).certified_gap_ is None


def test_candidates_are_all_that_was_tried_and_the_best_is_chosen():
    X, y = rows()
    ours = SmoothClassifier("auc", alpha=(1e-1, 1e-3), levels=(1.0, 3.0), cv=3).fit(X, y)
    # 4 costs and the logistic loss; two plateaus each for the weaker ridge; pairs, twice, for both.
    assert len(ours.candidates_) == 4 + 4 * 3 + 4
    assert {each.alpha for each in ours.candidates_} == {1e-1, 1e-3}
    assert {each.ratio for each in ours.candidates_} == {1.0, 0.1, 10.0, 50.0, None}
    pairwise = [PairwiseHinge()] * 2 + [Ramp(PairwiseHinge())] * 2
    assert [each.loss for each in ours.candidates_[-4:]] == pairwise
    assert all(0.7 < each.metric <= 1.0 for each in ours.candidates_)
    own = [each.metric for each in ours.candidates_ if each[:2] == (ours.loss_, ours.alpha_)]
    best = max(each.metric for each in ours.candidates_)
    assert any(value > best - 0.01 for value in own)


def test_several_metrics_from_one_sweep_are_those_of_a_sweep_each():
    X, y = rows()
    metrics = ["error", RecallAtFPR(0.1), "f1", "auc"]
    several = short().fit_each(metrics, X, y)
    for metric, one in zip(metrics, several, strict=True):
        own = short(metric).fit(X, y)
        np.testing.assert_array_equal(one.coef_, own.coef_)
        np.testing.assert_array_equal(one.intercept_, own.intercept_)
        assert one.operating_point_ == own.operating_point_
    with pytest.raises(ValueError, match="a loss stands for one metric"):
        short(loss="logistic").fit_each(metrics, X, y)


def test_a_convex_loss_ends_at_one_line_from_wherever_it_starts():
    X, y = rows()
    splits = list(StratifiedKFold(2).split(X, y))
    lines = []
    for start in ("moments", "zero", np.array([3.0, -1.0, 1.0, 0.5])):
        ours = SmoothClassifier(loss="logistic", alpha=1e-2, start=start, cv=splits).fit(X, y)
        lines.append(ours.coef_[0])
    # Up to what a descent has left to fall.
    assert lines[1] == pytest.approx(lines[0], abs=0.02)
    assert lines[2] == pytest.approx(lines[0], abs=0.02)


def test_a_start_is_where_the_history_begins():
    X, y = rows()
    units = Standardization.of(X, np.ones(len(y)))

    def value(line):
        function = DataObjective(units.rows(X), y, np.ones(len(y)), Sigmoid(), 1e-2)
        return function(units.line_there(line))[0]

    begins = {"zero": np.zeros(4), "line": np.array([3.0, -1.0, 1.0, 0.5])}
    zero = short(loss="sigmoid", start="zero").fit(X, y)
    assert zero.history_[0].value == pytest.approx(value(begins["zero"]), rel=1e-12)
    line = short(loss="sigmoid", start=begins["line"]).fit(X, y)
    assert line.history_[0].value == pytest.approx(value(begins["line"]), rel=1e-12)
    before = np.append(line.coef_[0], line.intercept_)
    again = line.set_params(start="previous").fit(X, y)
    assert again.history_[0].value == pytest.approx(value(before), rel=1e-12)
    moments = short(loss="sigmoid").fit(X, y)
    assert moments.history_[0].value < zero.history_[0].value


def test_previous_is_zero_at_first():
    X, y = rows()
    ours, theirs = (short(loss="sigmoid", start=each).fit(X, y) for each in ("previous", "zero"))
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "here"}, "start must be 'moments', 'zero', 'previous' or a line.*not 'here'"),
        ({"start": np.zeros(3)}, r"start must have 4 numbers, the intercept last.*\(3,\)"),
        ({"start": np.zeros((1, 4))}, r"start must have 4 numbers.*\(1, 4\)"),
        ({"alpha": -1.0}, "alpha must be 'auto' or numbers from zero up, not -1.0"),
        ({"alpha": "much"}, "alpha must be 'auto' or numbers from zero up, not 'much'"),
        ({"alpha": ()}, r"alpha must be 'auto' or numbers from zero up, not \(\)"),
        ({"alpha": np.nan}, "alpha must be .* not nan"),
        ({"levels": (1.0, np.inf)}, "levels must be 'auto' or numbers from zero up, not"),
        ({"levels": "sharp"}, "levels must be .* not 'sharp'"),
        ({"cv": 1}, "cv must be a number of folds, 2 or more, .* not 1"),
        ({"cv": 2.5}, "cv must be a number of folds, 2 or more, .* not 2.5"),
        ({"cv": ShuffleSplit(3)}, "cv must test each row once"),
        ({"cv": [(np.arange(9), np.arange(9, 300))]}, "cv must test each row once"),
        ({"cv": [(np.arange(99), np.arange(150, 300))]}, "train each split on all rows that it"),
        (
            {"metric": "acuracy"},
            "no metric named 'acuracy' .did you mean 'error'..: give one of 'error'",
        ),
        ({"loss": "hinges"}, "no loss named 'hinges': give one of 'logistic', 'hinge'"),
        ({"loss": None, "solver": "bundle"}, "solver='bundle' needs a loss"),
        ({"class_weight": "unfair"}, "class_weight must be 'balanced' or a dict"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options, message):
    X, y = rows()
    with pytest.raises(ValueError, match=message):
        SmoothClassifier(**{"loss": "sigmoid", "alpha": 1e-2, "cv": 2} | options).fit(X, y)


def test_rows_can_be_held_out_in_scikit_learns_ways():
    X, y = rows()
    groups = np.arange(300) // 10
    splits = list(GroupKFold(3).split(X, y, groups))
    ours = short("auc", cv=splits).fit(X, y)
    assert ours.operating_point_.rows == "held-out rows"
    held_out = np.empty(300)
    for train, test in splits:
        # At one ridge the candidates' lines are those of the other rows, whatever the others do.
        assert np.intersect1d(groups[train], groups[test]).size == 0
        held_out[test] = 1.0
    assert held_out.all()
    splitter = short("auc", cv=StratifiedKFold(2)).fit(X, y)
    listed = short("auc", cv=list(StratifiedKFold(2).split(X, y))).fit(X, y)
    np.testing.assert_array_equal(splitter.coef_, listed.coef_)
    assert splitter.candidates_ == listed.candidates_ != ours.candidates_


def test_a_split_without_both_classes_is_refused():
    X, y = rows()
    order = np.argsort(y)
    with pytest.raises(ValueError, match=r"cv must hold out rows of both classes.*in split 0"):
        short(cv=KFold(3)).fit(X[order], y[order])


def test_of_many_rows_a_sample_chooses_and_all_are_fitted(monkeypatch):
    X, y = rows(2000)
    monkeypatch.setattr(directrix.classifiers.smooth, "MOST_ROWS", 100)
    ours = short(loss="logistic", alpha=1e-2, start="zero").fit(X, y)
    monkeypatch.undo()
    whole = short(loss="logistic", alpha=1e-2, start="zero").fit(X, y)
    part = short(loss="logistic", alpha=1e-2).fit(X[:200], y[:200])
    # Lines are as long as the rows that set their threshold make them.
    ours_unit, whole_unit, part_unit = (
        each.coef_ / np.linalg.norm(each.coef_) for each in (ours, whole, part)
    )
    near, far = (np.abs(each - whole_unit).max() for each in (ours_unit, part_unit))
    assert near < 0.01 < far
    wide, narrow = (np.ptp(each.operating_point_.intervals.tpr) for each in (ours, whole))
    assert wide > 2.0 * narrow  # what the sample says is of the sample


def with_outliers(n, seed):
    """Return two clear classes, and a few rows of one far on the other's side."""
    X, y = rows(n, 2, seed, share=0.5)
    X[:, 0] += 1.5 * y
    far = np.random.default_rng(seed + 100).random(n) < 0.06
    X[far & y, 0] -= 25.0
    return X, y


def test_a_few_far_rows_do_not_spoil_the_line(figure):
    X, y = with_outliers(600, 0)
    new, its = with_outliers(4000, 1)
    ours = SmoothClassifier(cv=3).fit(X, y)
    theirs = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    errors = [Error().score(its, each.decision_function(new)) for each in (ours, theirs)]
    figure(f"far outliers: error {errors[0]:.3f}, logistic regression {errors[1]:.3f}")
    assert errors[0] < 0.11
    assert errors[0] < errors[1] - 0.03


@pytest.mark.skipif(
    not (DATA / "magic04.svm.bz2").is_file(), reason="the folder DIRECTRIX_DATA has no magic04"
)
def test_real_rows_are_recalled_better_at_few_false_positives(figure):
    X, y = load_svmlight_file(str(DATA / "magic04.svm.bz2"), n_features=10)
    parts = train_test_split(X.toarray(), y > 0, train_size=4000, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = parts
    metric = RecallAtFPR(0.01)
    ours = SmoothClassifier(metric).fit(X_train, y_train)
    theirs = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    theirs.fit(X_train, y_train)
    recalls = [metric.score(y_test, each.decision_function(X_test)) for each in (ours, theirs)]
    figure(
        f"magic04, 4,000 rows: recall at 1 % false positives {recalls[0]:.3f}, "
        f"class-weighted logistic regression {recalls[1]:.3f}"
    )
    assert recalls[0] > recalls[1]


def test_a_sparse_sweep_ranks_as_well_as_a_dense_one():
    X, y = rows()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    ours, theirs = (short("auc").fit(each, y) for each in (sparse.csr_array(X), X))
    assert AUC().score(y, ours.decision_function(X)) == pytest.approx(
        AUC().score(y, theirs.decision_function(X)), abs=0.005
    )
    assert ours.candidates_[0].loss == Logistic()


# ── which threshold ───────────────────────────────────────────────────────────────────────────────


def vertex(metric="error", **options):
    return SmoothClassifier(metric, loss="zero_one", solver="vertex", random_state=0, **options)


def test_the_search_for_the_least_training_error_keeps_its_intercept():
    X, y = rows(120, share=0.3)
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    ours = vertex().fit(X, y, sample_weight=weight)
    errors = weight @ (ours.predict(X) != y) / weight.sum()
    assert errors == pytest.approx(ours.history_[-1].value, abs=1e-12)
    # No other threshold of this line has fewer, as the search would have found it.
    assert errors == pytest.approx(Error().score(y, ours.decision_function(X), weight), abs=1e-12)
    assert ours.operating_point_.threshold == -ours.intercept_[0]
    assert ours.predict_proba([np.zeros(3)]).shape == (1, 2)


def test_its_rates_are_those_of_searches_that_have_not_seen_the_rows():
    X, y = rows(120, share=0.3)
    splits = list(StratifiedKFold(3).split(X, y))
    point = vertex(cv=splits).fit(X, y).operating_point_
    wrong = 0
    for train, test in splits:
        # The same units, and the same seed, so the same search.
        units = Standardization.of(X, np.ones(len(y)))
        objective = DataObjective(
            units.rows(X[train]), y[train], np.ones(len(train)), ZeroOne(), ridge=0.0
        )
        start = Frontier(Moments.of(units.rows(X[train]), y[train])).best("error").line
        seed = np.random.RandomState(0).randint(2**31)
        line = SOLVERS["vertex"].run(objective, start, np.random.default_rng(seed), None).coef
        scores = units.rows(X[test]) @ line[:-1] + line[-1]
        wrong += np.count_nonzero((scores > 0) != y[test])
    assert point.rows == "held-out rows"
    assert point.empirical.metric == pytest.approx(wrong / len(y), abs=1e-12)


@pytest.mark.parametrize("metric", [RecallAtFPR(0.05), BalancedError()])
def test_another_metric_than_the_error_has_its_threshold_from_held_out_rows(metric):
    X, y = rows(120, share=0.3)
    of_error = vertex(cv=3).fit(X, y).operating_point_.empirical
    point = vertex(metric, cv=3).fit(X, y).operating_point_
    if metric.limit is None:  # positives, the rarer class, count for more than with the error
        assert point.empirical.tpr > of_error.tpr
    else:
        assert point.empirical.fpr <= metric.fpr < of_error.fpr


@pytest.mark.skipif(
    not (DATA / "breast.svm.bz2").is_file(), reason="the folder DIRECTRIX_DATA has no breast"
)
@pytest.mark.parametrize(("name", "least"), [("breast", 11), ("heart", 24)])
def test_predictions_make_the_fewest_training_errors_known(name, least):
    X, y = load_svmlight_file(str(DATA / f"{name}.svm.bz2"))
    X = X.toarray()
    assert np.count_nonzero(vertex().fit(X, y).predict(X) != y) == least


def rare_rows():
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) < 30
    X[y, 0] += 0.5
    return X, y


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_one_class_without_folds_is_said_of_the_intercept_of_the_loss(loss):
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        model = SmoothClassifier(loss=loss, alpha=0.1, cv=None).fit(*rare_rows())
    assert not model.predict(rare_rows()[0]).any()
    (said,) = [str(w.message) for w in caught if w.category is OneClassPredictedWarning]
    assert said == (
        "every row is predicted negative: the intercept is that of the least training loss, no "
        "threshold was searched for. Give a number of folds as cv, so that held-out rows set the "
        "threshold, or class_weight='balanced'."
    )


def test_the_remedy_for_one_class_without_folds_helps():
    X, y = rare_rows()
    for more in ({"cv": 5, "metric": "balanced_error"}, {"cv": None, "class_weight": "balanced"}):
        model = SmoothClassifier(loss="hinge", alpha=0.1, **more).fit(X, y)
        assert set(model.predict(X)) == {False, True}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_class_of_a_loss_that_is_the_metric_is_not_said_of_the_threshold():
    alike, rare = np.zeros((200, 2)), np.arange(200) % 10 == 0
    with catch_warnings(record=True) as caught:
        simplefilter("always", OneClassPredictedWarning)
        SmoothClassifier("error", loss="zero_one", cv=5).fit(alike, rare)
    (said,) = [str(w.message) for w in caught if w.category is OneClassPredictedWarning]
    assert "no threshold was searched for. Give a loss whose threshold" in said
