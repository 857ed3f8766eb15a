import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit

from directrix import DirectClassifier, ScorecardClassifier
from directrix.exceptions import (
    NotBetterThanBaselineWarning,
    OneClassPredictedWarning,
    OutOfReachError,
)
from directrix.exceptions.columns import ColumnNotFoundError, LazyTableError
from directrix.export import load, save
from directrix.metrics import AUC, Error, PartialAUC, RecallAtFPR

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=150) > 0
MEMBERS = [
    DirectClassifier("auc", cv=3),
    ScorecardClassifier("auc", cv=3, max_crosses=0, max_lines=None),
]
members = pytest.mark.parametrize("member", MEMBERS, ids=lambda each: type(each).__name__)


def copy_of(member, **params):
    return type(member)(**{**member.get_params(), **params})


@members
def test_more_than_two_labels_are_named_with_what_to_do(member):
    labels = np.array(list("abcdefg"))[np.arange(150) % 7]
    words = "7 labels, 'a', 'b', 'c', 'd', 'e' and 2 more. Fit one classifier for each"
    with pytest.raises(ValueError, match=re.escape(words)):
        copy_of(member).fit(X, labels)


@pytest.mark.parametrize("member", [*MEMBERS, copy_of(MEMBERS[1])], ids=repr)
@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
def test_metrics_that_share_candidates_have_their_own_classifiers(member):
    metrics = [AUC(), Error(), RecallAtFPR(0.1), PartialAUC(0.3)]
    for metric, ours in zip(metrics, copy_of(member).fit_each(metrics, X, Y), strict=True):
        alone = copy_of(member, metric=metric).fit(X, Y)
        assert ours.metric == ours.report_.metric == metric
        assert ours.report_.chosen == alone.report_.chosen
        if isinstance(ours, ScorecardClassifier):
            baselines = [each.report_.unbinned_baseline for each in (ours, alone)]
            assert baselines[0] == pytest.approx(baselines[1])
        np.testing.assert_allclose(ours.decision_function(X), alone.decision_function(X), atol=1e-9)


@members
def test_parameters_that_do_not_go_together_are_refused(member):
    with pytest.raises(ValueError, match="limits= needs guarantee="):
        copy_of(member, limits={"fpr": 0.1}).fit(X, Y)


@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
@members
def test_of_each_group_one_row_counts_for_a_guarantee(member):
    guarded = copy_of(member, metric="recall@fpr=0.1", guarantee=0.9)
    with pytest.raises(OutOfReachError) as caught:
        guarded.fit(X, Y, groups=np.arange(150) % 10)
    assert caught.value.rows <= 4  # a third of ten groups


@members
def test_a_guaranteed_report_is_about_the_delivered_threshold(member):
    guarded = copy_of(member, metric="recall@fpr=0.2", guarantee=0.9, warn_baseline=False)
    fitted = guarded.fit(np.vstack([X, X + 1e-3]), np.append(Y, Y))
    point = fitted.operating_point_
    assert point.guarantee is not None
    assert fitted.report_.expected == (point.expected.metric, *point.intervals.metric)


@members
@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
def test_of_one_positive_nothing_is_expected(member):
    y = np.arange(150) == 7
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotBetterThanBaselineWarning)
        fitted = copy_of(member).fit(X, y)
    assert not caught
    assert "is not known: one class has fewer than two rows" in fitted.report_.summary()
    point = fitted.operating_point_
    assert point.expected is point.intervals is None
    assert point.rows == "the training rows"


@members
@pytest.mark.parametrize("points", ["log-odds", "integer"])
def test_one_class_for_every_row_is_said_once(member, points):
    more = {"points": points} if isinstance(member, ScorecardClassifier) else {}
    alike, rare = np.zeros((200, 2)), np.arange(200) % 10 == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        copy_of(member, metric="error", **more).fit(alike, rare)
    said = [each for each in caught if each.category is OneClassPredictedWarning]
    assert len(said) == 1
    assert "every row is predicted negative" in str(said[0].message)
    assert said[0].filename == __file__


@members
@pytest.mark.parametrize(
    ("sample_weight", "class_weight", "named"),
    [
        (None, None, ""),
        (np.full(150, 2.0), None, ""),
        (1.0 + np.arange(150) % 3, None, "sample_weight"),
        (None, "balanced", "class_weight"),
        (1.5 + np.arange(150) % 2, {True: 3}, "sample_weight and class_weight"),
    ],
)
def test_rates_say_what_they_are_weighted_by(member, sample_weight, class_weight, named):
    fitted = copy_of(member, class_weight=class_weight, warn_baseline=False)
    fitted.fit(X, Y, sample_weight)
    line = f"rates are weighted by {named}"  # a sentence in reports
    assert fitted.operating_point_.weighted_by == fitted.report_.weighted_by == named
    for text in (str(fitted.operating_point_), fitted.report_.summary()):
        lines = [each.lower().removesuffix(".") for each in text.splitlines()]
        assert (line in lines) == bool(named)
    (other,) = fitted.operating_points(["f1"])
    assert other.weighted_by == named
    (again,) = fitted.fit_each(["auc"], X, Y, sample_weight)
    assert again.report_.weighted_by == named


@pytest.mark.parametrize("name", ["report_", "operating_point_", "calibration_", "card_"])
def test_a_classifier_that_is_not_fitted_says_so(name):
    member = ScorecardClassifier("auc")
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        getattr(member, name)
    assert not hasattr(member, name)  # scikit-learn's error is an AttributeError too


@members
def test_a_report_is_not_in_a_model_file(member, tmp_path):
    save(copy_of(member, warn_baseline=False).fit(X, Y), tmp_path / "model")
    loaded = load(tmp_path / "model")
    with pytest.raises(AttributeError, match=r"has no report_: .* model files do not store it"):
        _ = loaded.report_


@members
def test_columns_that_are_missing_are_named_with_similar_ones(member):
    frame = pd.DataFrame(X, columns=["age", "income", "rate"])
    fitted = copy_of(member, warn_baseline=False).fit(frame, Y)
    with pytest.raises(ColumnNotFoundError, match="did you mean 'incomes'") as info:
        fitted.predict(frame.rename(columns={"income": "incomes"}))
    assert isinstance(info.value, ValueError)  # as scikit-learn raises
    assert info.value.similar == ("incomes",)
    with pytest.raises(ColumnNotFoundError, match="did you mean 'income'"):
        copy_of(member, monotone={"incone": "increasing"}).fit(frame, Y)


@members
def test_rows_that_are_not_in_memory_have_their_own_fit(member):
    lazy = pytest.importorskip("polars").DataFrame(X).lazy()
    with pytest.raises(LazyTableError, match=r"collect\(\) first, or train .* by fit_source"):
        copy_of(member).fit(lazy, Y)
    fitted = copy_of(member, warn_baseline=False).fit(X, Y)
    with pytest.raises(LazyTableError, match="polars LazyFrame"):
        fitted.predict(lazy)


@members
def test_splitters_of_time_are_refused_with_those_that_work(member):
    with pytest.raises(ValueError, match=r"TimeSeriesSplit does not; .* PredefinedSplit"):
        copy_of(member, cv=TimeSeriesSplit(3)).fit(X, Y)
    periods = PredefinedSplit(np.arange(len(X)) // 50)
    assert copy_of(member, cv=periods, warn_baseline=False).fit(X, Y).report_.tried
