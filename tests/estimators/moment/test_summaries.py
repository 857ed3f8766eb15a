"""What a summary does for the classifier: names, folds, and rows that come in parts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from directrix import DirectClassifier, MomentClassifier, Moments, summarize
from directrix.engines import HashFolds
from directrix.exceptions import ColumnNotFoundError
from directrix.export import load, save
from directrix.linear import Frontier
from directrix.linear.sample_search import least_correlation
from directrix.metrics import AUC, Error, RecallAtFPR
from directrix.metrics.table import TABLE
from directrix.tables import Table


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


@pytest.mark.parametrize("features", ["auto", "linear", "cosines"])
def test_a_model_of_mapped_features_scores_tables_as_they_are(features):
    X, y = rows()
    table = named(X).assign(
        kind=np.where(X[:, 1] > 0, "a", "b"), day=np.where(X[:, 2] > 2, np.nan, 1)
    )
    summary = summarize(table, target=y, features=features)
    classifier = MomentClassifier("auc").fit_summary(summary)
    mapped = summary.map.transform(Table.of(table))
    expected = mapped @ classifier.coef_[0] + classifier.intercept_[0]
    shuffled = table[table.columns[::-1]].assign(other="not read")
    np.testing.assert_allclose(classifier.decision_function(shuffled), expected, atol=1e-9)
    with pytest.raises(ColumnNotFoundError, match="kind"):
        classifier.predict(table.drop(columns="kind"))


@pytest.mark.parametrize(
    "classifier",
    [MomentClassifier(), DirectClassifier(warn_baseline=False)],
    ids=["Moment", "Direct"],
)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_summary_with_segments_gives_the_rates_in_each(classifier, weight):
    X, y = rows(3_000)
    rng = np.random.default_rng(1)
    table = named(X).assign(land=rng.choice(["DE", "FR", "LV"], len(y)), y=y)
    table["weight"] = rng.integers(1, 4, len(y)) / 2
    roles = {"target": "y", "segment": "land", "weight": weight, "features": [*named(X)]}
    summary = summarize(table, fold=HashFolds(5), **roles)
    point = clone(classifier).fit_summary(summary).operating_point_
    by_name = {each.name: each for each in point.segments}
    assert list(by_name) == ["DE", "FR", "LV"]
    weights = table["weight"] / table["weight"].mean() if weight else pd.Series(1.0, table.index)
    of_land = (weights * table["y"]).groupby(table["land"]).sum()
    for land, total in weights.groupby(table["land"]).sum().items():
        assert by_name[land].rows == pytest.approx(total)
    recall = sum(by_name[land].recall.value * share for land, share in of_land.items())
    assert recall / of_land.sum() == pytest.approx(point.empirical.tpr, abs=1e-9)
    without = summarize(table, fold=HashFolds(5), **roles | {"segment": None})
    assert clone(classifier).fit_summary(without).operating_point_.segments is None


#: Log odds of the positives, and the features that describe them.
TRUTHS = {
    "": lambda X: 1.2 * X[:, 0] - X[:, 1],
    "splines": lambda X: 2.0 * np.abs(X[:, 0]) - 1.6,
    "splines and cosines": lambda X: 3.0 * np.sign(X[:, 0] * X[:, 1]),
}


def drawn(log_odds, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return named(X), rng.random(n) < 1 / (1 + np.exp(-log_odds(X)))


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("truth", TRUTHS)
def test_features_are_those_that_the_truth_needs(truth, folded):
    table, y = drawn(TRUTHS[truth], 3000, 0)
    summary = summarize(table, target=y, features="cosines")
    summary = summary if folded else summary.unfolded()
    others = np.setdiff1d(np.arange(summary.n_features), summary.map.sets[truth])
    new, labels = drawn(TRUTHS[truth], 20_000, 1)
    mapped = summary.map.transform(Table.of(new))
    metrics = AUC(), Error(), RecallAtFPR(0.05)
    for ours in MomentClassifier().fit_summary_each(metrics, summary):
        assert ours.report_.chosen.partition(", with ")[2] == truth
        assert not ours.coef_[0, others].any()
        scores = mapped @ ours.coef_[0] + ours.intercept_[0]
        metric, intervals = ours.metric, ours.operating_point_.intervals
        if metric.limit is None:
            value, (low, high) = metric.score(labels, scores), intervals.metric
        else:
            value, (low, high) = float((scores[labels] > 0).mean()), intervals.tpr
        assert low - 0.01 <= value <= high + 0.01


def test_a_choice_of_features_promises_nothing_on_noise():
    # The mean of 20 fits: four standard errors of a mean of areas of 300 positives each.
    promised = []
    for seed in range(20):
        table, y = drawn(lambda X: 0.0 * X[:, 0], 600, seed)
        summary = summarize(table, target=y, features="auto")
        point = MomentClassifier("auc").fit_summary(summary).operating_point_
        assert point.intervals.metric[0] < 0.5
        promised.append(point.expected.metric)
    assert abs(np.mean(promised) - 0.5) < 4 * 0.0236 / 20**0.5


@pytest.mark.parametrize("frame", NAMED.values(), ids=NAMED)
def test_names_of_the_features_are_kept(frame):
    X, y = rows()
    names = ["age", "pay", "size", "day"]
    if not hasattr(StandardScaler().fit(frame(X)), "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the names of such a frame")
    for ours in (
        MomentClassifier("auc").fit(frame(X), y),
        MomentClassifier("auc").partial_fit(frame(X), y),
    ):
        assert ours.feature_names_in_.tolist() == names
        assert ours.moments_.feature_names == tuple(names)
        again = MomentClassifier().fit_summary(ours.moments_)
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


@pytest.mark.parametrize("first", [False, True])
def test_rows_of_one_class_are_waited_with_until_the_other_comes(first):
    X, y = rows()
    ours = MomentClassifier("auc")
    own = y == first
    with pytest.warns(UserWarning, match=f"all rows so far are of class .*{first}") as caught:
        ours.partial_fit(X[own], y[own], classes=[False, True])
    assert caught[0].filename == __file__
    assert set(ours.predict(X)) == {first}
    assert ours.predict_proba(X).shape == (len(X), 2)
    ours.partial_fit(X[~own], y[~own])
    whole = MomentClassifier("auc").partial_fit(X, y)
    np.testing.assert_allclose(ours.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.intercept_, whole.intercept_, rtol=1e-10)
    assert ours.moments_.count == len(X)
    assert AUC().score(y, ours.decision_function(X)) > 0.75


def test_the_first_rows_of_one_class_need_both_labels():
    X, _ = rows()
    with pytest.raises(ValueError, match="one class only"):
        MomentClassifier().partial_fit(X, np.zeros(len(X)))


def test_fit_forgets_what_was_before_and_partial_fit_does_not():
    X, y = rows()
    ours = MomentClassifier(sample=0).fit(X[:200], y[:200])
    ours.partial_fit(X[200:], y[200:])
    assert ours.moments_.count == 400
    np.testing.assert_array_equal(
        ours.fit(X[:200], y[:200]).coef_,
        MomentClassifier(sample=0).fit(X[:200], y[:200]).coef_,
    )


def test_parameters_are_kept_as_given():
    options = {
        "metric": RecallAtFPR(0.02),
        "positive": True,
        "sample": 100,
        "guarantee": 0.9,
        "limits": {"fpr": 0.2},
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
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}], ids=str)
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
    ):
        with pytest.raises(ValueError, match=message):
            classifier().fit_source(source, target=X.shape[1])


# ── going on ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
def test_few_rows_of_a_class_are_enough_to_begin():
    X, y = rows(gap=3.0)
    for n_pos in (1, 2, 3):
        index = np.append(np.flatnonzero(y)[:n_pos], np.flatnonzero(~y)[:50])
        ours = MomentClassifier("auc").partial_fit(X[index], y[index])
        assert np.isfinite(ours.predict_proba(X)).all()
    assert ours.partial_fit(X, y).moments_.count == 53 + len(y)


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
    first = MomentClassifier(sample=0).fit(X[:200], y[:200])
    save(first, tmp_path / "some.model")
    first.moments_.save(tmp_path / "some.moments")
    again = load(tmp_path / "some.model")
    with pytest.raises(ValueError, match=r"keeps no summary to add rows to: call fit_summary"):
        again.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(again.coef_, first.coef_)
    again.fit_summary(Moments.load(tmp_path / "some.moments")).partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(again.coef_, first.partial_fit(X[200:], y[200:]).coef_)


# ── the sample of a summary ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("classifier", [MomentClassifier, DirectClassifier])
@pytest.mark.parametrize("folded", [True, False])
def test_a_sample_trains_as_well_as_all_rows(classifier, folded):
    X, y = rows(20_000)
    fold = np.arange(len(y)) % 5 if folded else None
    summary = Moments.of(X, y, fold=fold, sample=2_000)
    ours = classifier(RecallAtFPR(0.05)).fit_summary(summary)
    all_rows = classifier(RecallAtFPR(0.05)).fit(X, y)
    new = np.random.default_rng(1)
    labels = new.random(40_000) < 0.3
    X = new.normal(size=(40_000, 4))
    X[:, 0] += 1.2 * labels
    X[:, -1] *= np.where(labels, 2.0, 1.0)
    recalls = [
        RecallAtFPR(0.05).score(labels, each.decision_function(X)) for each in (ours, all_rows)
    ]
    assert recalls[0] > recalls[1] - 0.02
    # The limit is kept in expectation: four deviations of a share of 2,000 negatives.
    assert abs(ours.predict(X)[~labels].mean() - 0.05) < 4.0 * np.sqrt(0.05 * 0.95 / 2_000)
    point = ours.operating_point_
    assert point.intervals.tpr[0] < ours.predict(X)[labels].mean() < point.intervals.tpr[1]
    # The weights of the sampled rows restore the share of positives.
    shares = point.empirical.tpr * y.mean(), point.empirical.fpr * (1.0 - y.mean())
    assert point.empirical.precision == pytest.approx(shares[0] / sum(shares), rel=1e-6)


def test_a_direct_fit_of_a_summary_keeps_a_limit_by_a_fold_and_needs_a_sample():
    X, y = rows(4_000)
    summary = Moments.of(X, y, fold=np.arange(4_000) % 5)
    ours = DirectClassifier("error", guarantee=0.9, limits={"fpr": 0.1}, warn_baseline=False)
    ours.fit_summary(summary)
    assert "fpr <= 0.1" in ours.operating_point_.guarantee
    with pytest.raises(ValueError, match="no rows: make it with sample="):
        DirectClassifier("error").fit_summary(summary.without_sample())


def test_lines_that_differ_between_folds_correlate_little():
    fold, rng = np.arange(200) % 2, np.random.default_rng(0)
    whole = rng.normal(size=(200, 3))
    held_out = whole.copy()
    held_out[fold == 1, 1] *= -1.0
    held_out[:, 2] = 1.0
    np.testing.assert_allclose(
        least_correlation(whole, held_out, fold), [1.0, -1.0, 0.0], atol=1e-12
    )
