"""What a summary does for the classifier: names, folds, and rows that come in parts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from directrix import DirectClassifier, MomentClassifier, Moments
from directrix.export import load, save
from directrix.frontier import Frontier, validated_shrinkage
from directrix.metrics import AUC, RecallAtFPR
from directrix.metrics.table import TABLE


def rows(n=400, d=4, gap=1.2):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, d))
    X[:, 0] += gap * y
    X[:, -1] *= np.where(y, 2.0, 1.0)
    return X, y


def named(X):
    return pd.DataFrame(X, columns=["age", "pay", "size", "day"])


NAMED = {"pandas": named, "polars": lambda X: pl.DataFrame(X, schema=list(named(X).columns))}


@pytest.mark.parametrize("frame", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("shrinkage", ["oas", "cv"])
def test_names_of_the_features_are_kept(frame, shrinkage):
    X, y = rows()
    names = ["age", "pay", "size", "day"]
    if not hasattr(StandardScaler().fit(frame(X)), "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the names of such a frame")
    for ours in (
        MomentClassifier("auc", shrinkage=shrinkage).fit(frame(X), y),
        MomentClassifier("auc", shrinkage=shrinkage).partial_fit(frame(X), y),
    ):
        assert ours.feature_names_in_.tolist() == names
        assert ours.moments_.feature_names == tuple(names)
        again = MomentClassifier(shrinkage=0.1).fit_summary(ours.moments_)
        assert again.feature_names_in_.tolist() == names
        assert again.predict(frame(X)).shape == y.shape
        with pytest.raises(ValueError, match="feature names"):
            ours.predict(frame(X)[names[::-1]])


def test_rows_without_names_leave_none():
    X, y = rows()
    ours = MomentClassifier().fit(X, y)
    assert not hasattr(ours, "feature_names_in_")
    assert ours.moments_.feature_names is None
    assert ours.n_features_in_ == MomentClassifier().fit_summary(ours.moments_).n_features_in_ == 4


def test_validated_shrinkage_with_rows_is_much_where_rows_are_few():
    noise = np.random.default_rng(0).normal(size=(120, 60))
    y = np.arange(120) % 2 == 0
    few = MomentClassifier("auc", shrinkage="cv").fit(noise + 0.3 * y[:, None], y)
    assert few.shrinkage_ >= 0.1
    assert few.moments_.folded  # so that the next day's rows can be added
    X, y = rows(5000, 10)
    X = X @ np.linalg.cholesky(0.02 * np.eye(10) + 0.98).T
    many = MomentClassifier("auc", shrinkage="cv").fit(X, y)
    assert many.shrinkage_ <= 0.1
    light = MomentClassifier("auc", shrinkage=many.shrinkage_).fit(X, y)
    heavy = MomentClassifier("auc", shrinkage=1.0).fit(X, y)
    aucs = [AUC().score(y, ours.decision_function(X)) for ours in (light, many, heavy)]
    assert aucs[2] < aucs[1] == pytest.approx(aucs[0], abs=5e-3)


def test_validated_shrinkage_of_a_folded_summary_is_that_of_its_folds():
    X, y = rows()
    moments = Moments.of(X, y, fold=np.arange(len(y)) % 5)
    ours = MomentClassifier("auc", shrinkage="cv").fit_summary(moments)
    assert ours.shrinkage_ == validated_shrinkage(moments, "auc").share
    fixed = MomentClassifier("auc", shrinkage=ours.shrinkage_).fit_summary(moments)
    np.testing.assert_array_equal(ours.coef_, fixed.coef_)
    assert ours.moments_ == moments
    assert fixed.moments_ == moments.unfolded()
    with pytest.raises(ValueError, match="needs a summary of two folds"):
        MomentClassifier(shrinkage="cv").fit_summary(moments.unfolded())


@pytest.mark.parametrize("shrinkage", ["oas", "cv"])
@pytest.mark.parametrize("first", [False, True])
def test_rows_of_one_class_are_waited_with_until_the_other_comes(first, shrinkage):
    X, y = rows()
    ours = MomentClassifier("auc", shrinkage=shrinkage)
    own = y == first
    with pytest.warns(UserWarning, match=f"all rows so far are of class .*{first}") as caught:
        ours.partial_fit(X[own], y[own], classes=[False, True])
    assert caught[0].filename == __file__
    assert set(ours.predict(X)) == {first}
    assert ours.predict_proba(X).shape == (len(X), 2)
    ours.partial_fit(X[~own], y[~own])
    whole = MomentClassifier("auc", shrinkage=shrinkage).partial_fit(X, y)
    np.testing.assert_allclose(ours.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.intercept_, whole.intercept_, rtol=1e-10)
    assert ours.moments_.count == len(X)
    assert AUC().score(y, ours.decision_function(X)) > 0.75


def test_the_first_rows_of_one_class_need_both_labels():
    X, _ = rows()
    with pytest.raises(ValueError, match="one class only"):
        MomentClassifier().partial_fit(X, np.zeros(len(X)))


def test_validated_shrinkage_waits_for_rows_of_both_classes_in_two_folds():
    X, y = rows(gap=3.0)
    index = np.array([np.flatnonzero(y)[0], *np.flatnonzero(~y)[:50]])
    ours = MomentClassifier("auc", shrinkage="cv")
    with pytest.warns(UserWarning, match="too few rows of both classes.*'oas'") as caught:
        ours.partial_fit(X[index], y[index])
    assert caught[0].filename == __file__
    assert ours.shrinkage_ == "oas"
    ours.partial_fit(X, y)
    assert 0 < ours.shrinkage_ <= 1


def test_fit_forgets_what_was_before_and_partial_fit_does_not():
    X, y = rows()
    ours = MomentClassifier(learn_from="moments").fit(X[:200], y[:200])
    ours.partial_fit(X[200:], y[200:])
    assert ours.moments_.count == 400
    np.testing.assert_array_equal(
        ours.fit(X[:200], y[:200]).coef_,
        MomentClassifier(learn_from="moments").fit(X[:200], y[:200]).coef_,
    )


def test_parameters_are_kept_as_given():
    options = {
        "metric": RecallAtFPR(0.02),
        "positive": True,
        "shrinkage": 0.2,
        "learn_from": "moments",
        "class_weight": {True: 2.0},
        "verbose": 1,
    }
    ours = MomentClassifier(**options)
    assert ours.get_params() == options
    copy = clone(ours)
    assert copy.get_params() == options
    assert copy is not ours
    assert clone(ours.fit(*rows())).get_params() == options
    assert MomentClassifier().set_params(metric="auc").metric == "auc"
    assert MomentClassifier().get_params()["metric"] == "error"
    assert "RecallAtFPR(fpr=0.02)" in repr(ours)


# ── summaries that lack rows ──────────────────────────────────────────────────────────────────────


def lacking():
    X, y = rows()
    none = np.empty((0, X.shape[1]))
    return {
        "empty": (Moments.empty(3), "the summary is empty: add"),
        "no rows": (Moments.of(none, [], classes=[False, True]), "neither has any: add"),
        "one label": (Moments.of(X[y], y[y]), r"there are 1: \[True\]. Name both"),
        "positives": (Moments.of(X[y], y[y], classes=[False, True]), "class False has none: add"),
        "negatives": (Moments.of(X[~y], y[~y], classes=[False, True]), "class True has none: add"),
    }


@pytest.mark.parametrize("what", lacking())
@pytest.mark.parametrize(
    "options", [{}, {"shrinkage": "cv"}, {"class_weight": "balanced"}], ids=str
)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_summary_without_rows_of_both_classes_is_refused_in_words(row, options, what):
    moments, message = lacking()[what]
    with pytest.raises(ValueError, match=message):
        MomentClassifier(row.example, **options).fit_summary(moments)
    for ask in (lambda each: each.best(row.example), Frontier.curve, Frontier.candidate_angles):
        with pytest.raises(ValueError, match=message):
            ask(Frontier(moments))


@pytest.mark.parametrize("classifier", [MomentClassifier, DirectClassifier])
def test_a_source_without_rows_of_both_classes_is_refused_in_words(classifier):
    X, y = rows()
    table = np.column_stack([X, y])
    for source, message in (
        (table[:0], "there are no rows to"),
        (iter([table[:0]]), "there are no rows to"),
        (table[y], r"one class only, \[1.0\]"),
        (table[:3], "too few for these folds. Give fold="),
    ):
        with pytest.raises(ValueError, match=message):
            classifier().fit_source(source, target=X.shape[1])


# ── going on ──────────────────────────────────────────────────────────────────────────────────────


def test_other_classes_in_a_later_call_are_refused():
    X, y = rows()
    ours = MomentClassifier().partial_fit(X, y, classes=[False, True])
    ours.partial_fit(X, y, classes=[True, False])
    for other in ([False, 2], [True], ["a", "b"], [0, 1, 2]):
        with pytest.raises(ValueError, match=r"those of the first call, \[False, True\], not \["):
            ours.partial_fit(X, y, classes=other)
    assert ours.moments_.count == 2 * len(y)


def test_a_loaded_classifier_goes_on_once_it_has_its_summary(tmp_path):
    X, y = rows()
    first = MomentClassifier(learn_from="moments").fit(X[:200], y[:200])
    save(first, tmp_path / "some.model")
    first.moments_.save(tmp_path / "some.moments")
    again = load(tmp_path / "some.model")
    with pytest.raises(ValueError, match=r"keeps no summary to add rows to: call fit_summary"):
        again.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(again.coef_, first.coef_)
    again.fit_summary(Moments.load(tmp_path / "some.moments")).partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(again.coef_, first.partial_fit(X[200:], y[200:]).coef_)
