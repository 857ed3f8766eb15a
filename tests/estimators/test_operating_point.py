"""Laws of thresholds around the scores of any model, and what its estimators may be."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from directrix import DirectClassifier, OperatingPointClassifier, ScorecardClassifier
from directrix.cards import judged
from directrix.estimators import direct
from directrix.exceptions import (
    CopiedRowsWarning,
    FittedEstimatorWarning,
    MissingScoresError,
    NoHeldOutScoresError,
    OneClassPredictedWarning,
    OtherScaleWarning,
    OutOfReachError,
    ReversedScoresWarning,
    UnweightedEstimatorWarning,
)
from directrix.export import load, save
from directrix.fit.finish import finish
from directrix.fit.held_out_scores import CrossFitting, ScoreScale, splits_of
from directrix.metrics import Cost, RecallAtFPR
from directrix.metrics.table import TABLE

METRICS = ["error", "f1", "recall@fpr=0.05", "precision@recall=0.8", Cost(fp=1, fn=10), "auc"]
every_metric = pytest.mark.parametrize("metric", METRICS, ids=str)
# Increasing maps of scores: other units, log-odds, percentages, ranks.
MAPS = {
    "shifted": lambda s: 3.0 * s - 70.0,
    "probabilities": lambda s: 1.0 / (1.0 + np.exp(-s)),
    "percentages": lambda s: 100.0 / (1.0 + np.exp(-s)),
    "exponential": np.exp,
    "ranks": lambda s: np.searchsorted(np.unique(s), s).astype(float),
}


def scored(n=1500, seed=0, share=0.2, distance=1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return rng.normal(size=n) + distance * y, y


def table(n=900, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.5 * y
    return X, y


def rates(point):
    return np.concatenate([point.expected, point.empirical, np.ravel(point.intervals)])


# ── The same code as that of lines and cards ──────────────────────────────────────────────────────


@pytest.fixture
def kept(monkeypatch):
    """Keep what sets the threshold of a line or card: rows, and their held-out scores."""
    found = {}

    def keeping(metric, choice, evidence, guarantee=None, apart=None):
        end = finish(metric, choice, evidence, guarantee, apart)
        found["held out"] = evidence.rows.positive, evidence.scores - end.point.threshold
        if apart is not None:
            found["apart"] = apart.rows.positive, apart.scores
        return end

    monkeypatch.setattr(direct, "finish", keeping)
    monkeypatch.setattr(judged, "finish", keeping)
    return found


MODELS = [DirectClassifier, partial(ScorecardClassifier, max_lines=None)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("metric", ["recall@fpr=0.1", "fpr@recall=0.6"])
def test_a_guarantee_is_that_of_a_line_or_card_with_the_same_scores(model, metric, kept):
    fitted = model(metric, guarantee=0.9, cv=2, warn_baseline=False).fit(*table())
    positive, scores = kept["apart"]
    ours = OperatingPointClassifier(None, metric, guarantee=0.9).fit(scores, positive)
    point, given = ours.operating_point_, fitted.operating_point_
    assert rates(point) == pytest.approx(rates(given), abs=1e-12)
    assert point.guarantee == given.guarantee


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("metric", ["error", "f1", "recall@fpr=0.05", "auc"])
def test_held_out_scores_of_a_line_or_card_give_its_threshold(model, metric, kept):
    fitted = model(metric, cv=2, warn_baseline=False).fit(*table())
    positive, scores = kept["held out"]
    ours = OperatingPointClassifier(None, metric).fit(scores, positive)
    empirical = ours.operating_point_.empirical
    np.testing.assert_allclose(empirical, fitted.operating_point_.empirical, rtol=0, atol=1e-12)
    assert (ours.predict(scores) == (scores > 0)).all()


# ── Laws of given scores ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("change", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("guarantee", [None, 0.9])
def test_an_increasing_map_of_the_scores_changes_no_rate(change, guarantee):
    scores, y = scored()
    metric = "recall@fpr=0.05"
    before = OperatingPointClassifier(None, metric, guarantee=guarantee).fit(scores, y)
    after = OperatingPointClassifier(None, metric, guarantee=guarantee).fit(change(scores), y)
    assert rates(after.operating_point_) == pytest.approx(rates(before.operating_point_), abs=1e-12)
    assert (after.predict(change(scores)) == before.predict(scores)).all()
    again = before.operating_points(["f1"])[0].expected
    assert after.operating_points(["f1"])[0].expected == pytest.approx(again, abs=0.02)


@every_metric
def test_the_order_of_rows_does_not_matter(metric):
    scores, y = scored()
    order = np.random.default_rng(1).permutation(len(y))
    first = OperatingPointClassifier(None, metric).fit(scores, y)
    second = OperatingPointClassifier(None, metric).fit(scores[order], y[order])
    assert first.operating_point_ == second.operating_point_
    assert first.calibration_ == second.calibration_


@pytest.mark.parametrize("levels", [2, 5, 40])
@pytest.mark.parametrize("guarantee", [None, 0.9])
def test_tied_scores_are_on_one_side_together(levels, guarantee):
    scores, y = scored()
    tied = np.round(scores * levels / 8.0)
    model = OperatingPointClassifier(None, "fpr@recall=0.5", guarantee=guarantee).fit(tied, y)
    flagged = model.predict(tied)
    assert model.operating_point_.threshold not in tied
    assert model.operating_point_.empirical.tpr == pytest.approx(flagged[y].mean(), abs=1e-12)
    assert model.operating_point_.empirical.fpr == pytest.approx(flagged[~y].mean(), abs=1e-12)


def test_equal_scores_predict_one_class():
    with pytest.warns(UserWarning, match="every row is predicted"):
        model = OperatingPointClassifier(None).fit(np.full(50, 0.3), np.arange(50) < 20)
    assert not model.predict(np.full(3, 0.3)).any()


SCORES, TRUTH = scored(100)
REFUSED = {
    "no positive": (SCORES, np.zeros(100), {}, "one class only"),
    "no negative": (SCORES, np.ones(100, dtype=bool), {}, "one class only"),
    "one text": (SCORES, ["a"] * 100, {}, "one class only"),
    "another label": (SCORES, TRUTH, {"positive": "fraud"}, "positive='fraud' is not a label: giv"),
    "missing label": (SCORES, [None, *TRUTH[1:]], {}, "missing labels .* the first at position 0"),
    "two columns": (np.full((100, 2), 0.5), TRUTH, {}, "the column of the positive class"),
    "exchanged": (TRUTH, SCORES, {}, r"y has the value .*: are these scores"),
    "no guarantee": (SCORES, TRUTH, {"limits": {"fpr": 0.1}}, "limits= needs guarantee="),
}


@pytest.mark.parametrize(("scores", "y", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(scores, y, options, message):
    with pytest.raises(ValueError, match=message):
        OperatingPointClassifier(None, **options).fit(scores, y)


@pytest.mark.parametrize("n_positive", [1, 2, 5])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tiny_classes_have_a_threshold(n_positive):
    scores = np.arange(60.0)
    model = OperatingPointClassifier(None, "f1").fit(scores, scores >= 60 - n_positive)
    assert model.predict(scores).sum() == n_positive
    assert (model.operating_point_.expected is None) == (n_positive == 1)


def test_a_limit_out_of_reach_says_how_many_rows_it_takes():
    scores, y = scored(60)
    with pytest.raises(OutOfReachError, match="needs 299 negatives") as caught:
        OperatingPointClassifier(None, "recall@fpr=0.01", guarantee=0.95).fit(scores, y)
    assert caught.value.needed == 299


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_missing_are_named(bad):
    scores, y = scored(150)
    scores[[7, 30]] = bad
    with pytest.raises(MissingScoresError, match="2 rows, the first at position 7") as caught:
        OperatingPointClassifier(None).fit(scores, y)
    assert (caught.value.rows, caught.value.first) == (2, 7)
    model = OperatingPointClassifier(None).fit(*scored(150))
    with pytest.raises(MissingScoresError, match="position 1"):
        model.predict([0.0, bad])


def test_an_estimator_that_gives_nan_is_named():
    class Broken(LogisticRegression):
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(MissingScoresError, match="predict_proba of Broken"):
        OperatingPointClassifier(Broken()).fit(*table(100))


@pytest.mark.parametrize(
    ("limits", "rate", "at_most"),
    [
        ({"fpr": 0.1}, "fpr", True),
        ({"alerts": 0.1}, "alerts", True),
        ({"recall": 0.7}, "tpr", False),
        ({"precision": 0.4}, "precision", False),
    ],
    ids=str,
)
def test_a_guarantee_is_kept_on_draws(limits, rate, at_most):
    fresh, truth = scored(50_000, seed=99, share=0.3)
    broken = 0
    for seed in range(100):
        scores, y = scored(1000, seed=seed, share=0.3)
        model = OperatingPointClassifier(None, limits=limits, guarantee=0.9).fit(scores, y)
        flagged = model.predict(fresh)
        found = {
            "tpr": flagged[truth].mean(),
            "fpr": flagged[~truth].mean(),
            "alerts": flagged.mean(),
            "precision": truth[flagged].mean(),
        }[rate]
        limit = next(iter(limits.values()))
        broken += found > limit if at_most else found < limit
    assert broken <= 10 + 2 * np.sqrt(100 * 0.1 * 0.9)


@pytest.mark.parametrize("metric", ["f1", "recall@fpr=0.05"])
def test_intervals_cover_what_new_rows_show_and_are_no_wider_than_needed(metric):
    fresh, truth = scored(50_000, seed=98)
    covered = np.zeros(3)
    for seed in range(200):
        model = OperatingPointClassifier(None, metric).fit(*scored(800, seed=seed))
        flagged = model.predict(fresh)
        shown = flagged[truth].mean(), flagged[~truth].mean(), truth[flagged].mean()
        intervals = model.operating_point_.intervals
        covered += [
            low <= rate <= high for (low, high), rate in zip(intervals, shown, strict=False)
        ]
    assert (covered >= 0.92 * 200).all()
    assert (covered <= 0.985 * 200).all()


def test_the_recall_at_a_limit_is_as_sure_as_that_of_as_many_positives():
    # The negatives have set the threshold: the positives above it are independent of it.
    scores, y = scored(5000)
    point = OperatingPointClassifier(None, "recall@fpr=0.05").fit(scores, y).operating_point_
    low, high = point.intervals.tpr
    recall, n = point.expected.tpr, y.sum()
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(recall * (1 - recall) / n), rel=0.05)


def cross_fitted(X, y, cv):
    weight, splits = np.ones(len(y)), splits_of(cv, X, y, y, None, apart=False)
    fitting = CrossFitting(GaussianNB(), X, y, weight, positive=True, params={}, asked="auto")
    return fitting.run(splits, np.arange(len(y)), refit=True)


@every_metric
def test_intervals_of_a_cross_fitted_estimator_allow_for_the_final_one(metric):
    X, y = table()
    model = OperatingPointClassifier(GaussianNB(), metric).fit(X, y)
    fit = cross_fitted(X, y, 5)
    given = OperatingPointClassifier(None, metric).fit(fit.scores, y[fit.tested])
    assert model.operating_point_.expected == given.operating_point_.expected
    wider, narrower = (np.ravel(np.diff(m.operating_point_.intervals)) for m in (model, given))
    assert (wider > narrower).all()
    at = ["recall@fpr=0.1", "f1"]
    for both in zip(model.operating_points(at), given.operating_points(at), strict=True):
        wider, narrower = (np.ravel(np.diff(point.intervals)) for point in both)
        assert (wider > narrower).all()


@pytest.mark.parametrize("positive", ["bad", "good"])
@pytest.mark.parametrize("change", [MAPS["shifted"], MAPS["probabilities"]])
def test_files_keep_every_bit(positive, change, tmp_path):
    scores, y = scored()
    scores = change(scores if positive == "good" else -scores)
    y = np.where(y, "good", "bad")
    model = OperatingPointClassifier(None, "f1", positive=positive).fit(scores, y)
    save(model, tmp_path / "a.model")
    again = load(tmp_path / "a.model")
    save(again, tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    assert again.operating_point_ == model.operating_point_
    assert (again.predict_proba(scores) == model.predict_proba(scores)).all()
    at = ["recall@fpr=0.01", "error"]
    assert again.operating_points(at) == model.operating_points(at)
    copied = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert copied.operating_point_ == model.operating_point_


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1, 1],
        ["a", "b"],
        [False, True],
        [np.datetime64("2026-01-01"), np.datetime64("2026-01-02")],
    ],
    ids=str,
)
def test_labels_of_any_type(labels):
    scores, y = scored(300)
    labels = np.array(labels)
    model = OperatingPointClassifier(None, "f1").fit(scores, labels[y.astype(int)])
    assert (
        model.predict(scores) == labels[(model.decision_function(scores) > 0).astype(int)]
    ).all()
    flagged = OperatingPointClassifier(None, "f1").fit(scores, y).predict(scores)
    assert (flagged == (model.decision_function(scores) > 0)).all()


@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")
def test_scores_of_the_wrong_class_warn():
    scores, y = scored(200)
    with pytest.warns(ReversedScoresWarning, match="Make False the positive label") as caught:
        OperatingPointClassifier(None, "auc").fit(-scores, y)
    assert caught[0].message.auc < 0.2


def test_percentages_for_a_threshold_of_probabilities_warn():
    scores, y = scored(200)
    probability = 1.0 / (1.0 + np.exp(-scores))
    model = OperatingPointClassifier(None, "f1").fit(probability, y)
    with pytest.warns(OtherScaleWarning, match="are these percentages") as caught:
        model.predict(100.0 * probability)
    assert caught[0].message.rows == np.count_nonzero(100.0 * probability > 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OtherScaleWarning)
        model.predict(probability)
        OperatingPointClassifier(None, "f1").fit(100.0 * probability, y).predict(probability - 1.0)


def test_scores_of_noise_do_not_warn_of_the_wrong_class():
    for seed in range(20):
        scores, y = scored(300, seed=seed, distance=0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ReversedScoresWarning)
            OperatingPointClassifier(None, "auc").fit(scores, y)


def test_rates_are_weighted():
    scores, y = scored(400)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    point = OperatingPointClassifier(None, "f1").fit(scores, y, weight).operating_point_
    flagged = scores > point.threshold
    fpr, tpr = (np.average(flagged[y == side], weights=weight[y == side]) for side in (0, 1))
    assert point.empirical.fpr == pytest.approx(fpr, abs=1e-12)
    assert point.empirical.tpr == pytest.approx(tpr, abs=1e-12)
    assert point.weighted_by == "sample_weight"


def test_probabilities_are_calibrated_whatever_the_scale():
    scores, y = scored(20_000, share=0.05)
    for change in MAPS.values():
        model = OperatingPointClassifier(None, "recall@fpr=0.05").fit(change(scores), y)
        probability = model.predict_proba(change(scores))[:, 1]
        assert probability.mean() == pytest.approx(y.mean(), abs=0.01)


# ── Estimators ────────────────────────────────────────────────────────────────────────────────────

ESTIMATORS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(max_iter=10),
    "forest": RandomForestClassifier(20, random_state=0),
    "svm": LinearSVC(),
    "neighbours": KNeighborsClassifier(15),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_is_cross_fitted_and_fitted_to_all_rows(name):
    X, y = table()
    model = OperatingPointClassifier(clone(ESTIMATORS[name]), "recall@fpr=0.1").fit(X, y)
    alone = clone(ESTIMATORS[name]).fit(X, y)
    assert (model.estimator_.predict(X) == alone.predict(X)).all()
    fresh, truth = table(20_000, seed=1)
    flagged = model.predict(fresh)
    assert flagged[~truth].mean() == pytest.approx(0.1, abs=0.04)
    point = model.operating_point_
    assert point.intervals.tpr[0] < flagged[truth].mean() < point.intervals.tpr[1]
    above = model.positive_scores(fresh) > point.threshold
    assert (above == flagged).all()
    assert "Cross-fitted in 5 folds." in str(model.report_)


@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")
def test_held_out_scores_are_those_of_copies_without_the_row():
    # Labels are noise and neighbours know them by heart: held-out rows must not.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), rng.random(600) < 0.5
    model = OperatingPointClassifier(KNeighborsClassifier(1), "auc").fit(X, y)
    assert model.operating_point_.expected.metric == pytest.approx(0.5, abs=0.06)


def test_decision_functions_of_another_scale_are_put_on_that_of_the_final_estimator():
    class OfAnyScale(LogisticRegression):
        """A logistic regression whose scores grow with its rows."""

        def fit(self, X, y):
            self.unit_ = float(len(y)) ** 3
            return super().fit(X, y)

        def decision_function(self, X):
            return self.unit_ * super().decision_function(X) + 10.0 * self.unit_

    X, y = table()
    plain = OperatingPointClassifier(
        LogisticRegression(), "recall@fpr=0.1", response_method="decision_function"
    ).fit(X, y)
    other = OperatingPointClassifier(
        OfAnyScale(), "recall@fpr=0.1", response_method="decision_function"
    ).fit(X, y)
    assert (plain.predict(X) == other.predict(X)).mean() > 0.999
    assert rates(plain.operating_point_) == pytest.approx(rates(other.operating_point_), abs=1e-9)


class _SeesFilters(LogisticRegression):
    """Notes whether a fit has replaced the filters of warnings, which all threads share."""

    seen = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append(warnings.filters)
        return super().fit(X, y)


def test_a_fit_leaves_the_filters_of_warnings_to_all_threads():
    X, y = table()
    OperatingPointClassifier(_SeesFilters(), "f1").fit(X, y)
    assert all(filters is warnings.filters for filters in _SeesFilters.seen)


class _SurerOfFewRows(LogisticRegression):
    """A logistic regression whose log-odds are the larger the fewer rows it was fitted to."""

    def fit(self, X, y):
        super().fit(X, y)
        self.coef_ *= 1000.0 / len(y)
        self.intercept_ *= 1000.0 / len(y)
        return self


@pytest.mark.parametrize("cv", [5, TimeSeriesSplit(3)], ids=["folds", "time"])
def test_probabilities_of_folds_are_put_on_the_scale_of_the_final_estimator(cv):
    X, y = table(2000)
    fresh, truth = table(50_000, seed=1)
    flagged = [
        OperatingPointClassifier(estimator, "recall@fpr=0.1", cv=cv).fit(X, y).predict(fresh)
        for estimator in (LogisticRegression(), _SurerOfFewRows())
    ]
    shares = [each[~truth].mean() for each in flagged]
    assert shares[1] == pytest.approx(shares[0], rel=0.02)


def test_a_frozen_estimator_is_not_fitted():
    X, y = table()
    fitted = LogisticRegression().fit(X[:400], y[:400])
    frozen = OperatingPointClassifier(FrozenEstimator(fitted), "f1").fit(X[400:], y[400:])
    scores = fitted.predict_proba(X[400:])[:, 1]
    given = OperatingPointClassifier(None, "f1").fit(scores, y[400:])
    assert frozen.estimator_ is fitted
    assert frozen.operating_point_ == given.operating_point_
    assert (frozen.predict_proba(X) == given.around(fitted).predict_proba(X)).all()


def test_an_estimator_that_is_fitted_and_not_frozen_warns_that_it_is_fitted_again():
    X, y = table()
    fitted = LogisticRegression().fit(X[:400], y[:400])
    with pytest.warns(FittedEstimatorWarning, match="LogisticRegression is fitted already") as seen:
        model = OperatingPointClassifier(fitted, "f1").fit(X[400:], y[400:])
    assert seen[0].filename == __file__
    assert model.estimator_ is not fitted
    OperatingPointClassifier(clone(fitted), "f1").fit(X[400:], y[400:])


def test_an_estimator_of_other_classes_is_refused():
    X, y = table()
    fitted = LogisticRegression().fit(X, np.where(y, "bad", "good"))
    with pytest.raises(ValueError, match="was fitted to the classes"):
        OperatingPointClassifier(FrozenEstimator(fitted)).fit(X, y)


def test_truths_are_zeros_and_ones_to_a_frozen_estimator():
    X, y = table()
    fitted = FrozenEstimator(LogisticRegression().fit(X, y.astype(int)))
    truths, numbers = (OperatingPointClassifier(fitted, "f1").fit(X, each) for each in (y, y + 0))
    assert truths.predict(X).dtype == bool
    assert (truths.predict(X) == (numbers.predict(X) == 1)).all()


class ByPosition(LogisticRegression):
    """An estimator that does not look at names of columns, as that of LightGBM does not."""

    def predict_proba(self, X):
        return super().predict_proba(pd.DataFrame(np.asarray(X), columns=self.feature_names_in_))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("frozen", [True, False])
def test_columns_go_by_their_names(frame, frozen):
    X, y = table()
    rows = pd.DataFrame(X[:, :3] * [1.0, 10.0, 100.0], columns=list("abc"))
    estimator = FrozenEstimator(ByPosition().fit(rows, y)) if frozen else ByPosition()
    model = OperatingPointClassifier(estimator, "f1").fit(frame(rows), y)
    expected = model.decision_function(frame(rows))
    others = rows[["c", "a"]].assign(day="monday", b=rows["b"])
    assert (model.decision_function(frame(others)) == expected).all()


@pytest.mark.parametrize("frozen", [True, False])
def test_what_no_fit_takes_is_refused(frozen):
    X, y = table()
    model = OperatingPointClassifier(FrozenEstimator(LogisticRegression().fit(X, y)))
    if not frozen:
        model, X = OperatingPointClassifier(None), X[:, 0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weights'"):
        model.fit(X, y, sample_weights=np.ones(len(y)))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LogisticRegression, r"is a class: give an instance, LogisticRegression\(...\)"),
        ("booster", "str is not a classifier in the style of scikit-learn: give the scores"),
        (Ridge(), "Ridge has neither predict_proba nor decision_function"),
    ],
)
def test_what_is_no_estimator_is_refused(estimator, message):
    with pytest.raises(TypeError, match=message):
        OperatingPointClassifier(estimator).fit(*table(200))


def test_rows_for_a_model_of_scores_are_refused_with_the_remedy():
    model = OperatingPointClassifier(None, "f1").fit(*scored())
    with pytest.raises(TypeError, match=r"these are not numbers: give scores, or take rows by mod"):
        model.predict(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"take rows of a table by model.around\(estimator\)"):
        model.predict(np.ones((4, 2)))


def test_with_a_guarantee_other_rows_set_the_threshold():
    X, y = table()
    model = OperatingPointClassifier(GaussianNB(), "recall@fpr=0.1", guarantee=0.9).fit(X, y)
    assert model.estimator_.class_count_.sum() == pytest.approx(len(y) * 2 / 3, abs=2)
    assert model.operating_point_.guarantee == "fpr <= 0.1, with confidence 0.9"
    splits = TimeSeriesSplit(3)
    later = OperatingPointClassifier(GaussianNB(), "recall@fpr=0.1", guarantee=0.9, cv=splits)
    train, _ = list(splits.split(X))[-1]
    assert later.fit(X, y).estimator_.class_count_.sum() == len(train)


@pytest.mark.parametrize(
    "cv",
    [TimeSeriesSplit(4), PredefinedSplit(np.arange(900) // 150), StratifiedKFold(3), KFold(3)],
    ids=lambda cv: type(cv).__name__,
)
def test_time_folds_and_other_splitters(cv):
    X, y = table()
    model = OperatingPointClassifier(GaussianNB(), "f1", cv=cv).fit(X, y)
    fit = cross_fitted(X, y, cv)
    scores = np.full(len(y), np.nan)
    scores[fit.tested] = fit.scores
    for train, test in cv.split(X, y):  # the scale is another, and the order is the same
        alone = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        assert (np.argsort(scores[test]) == np.argsort(alone)).all()
    tested = np.isfinite(scores)
    given = OperatingPointClassifier(None, "f1").fit(scores[tested], y[tested])
    assert model.operating_point_.threshold == given.operating_point_.threshold


def test_splitters_that_test_a_row_twice_name_the_right_ones():
    with pytest.raises(ValueError, match=r"at most once.*PredefinedSplit.*TimeSeriesSplit"):
        OperatingPointClassifier(GaussianNB(), cv=ShuffleSplit(5, test_size=0.5)).fit(*table())
    with pytest.raises(ValueError, match="does not train on"):
        OperatingPointClassifier(GaussianNB(), cv=[(np.arange(900), np.arange(900))]).fit(*table())
    X, y = table()
    order = np.argsort(y)
    with pytest.raises(ValueError, match="one class only"):
        OperatingPointClassifier(GaussianNB(), cv=TimeSeriesSplit(4)).fit(X[order], y[order])


def test_groups_are_held_out_together():
    X, y = table(300)
    groups = np.tile(np.arange(300), 3)
    copies = np.tile(X, (3, 1)), np.tile(y, 3)
    one = OperatingPointClassifier(KNeighborsClassifier(1), "balanced_error")
    with pytest.warns(CopiedRowsWarning):
        leaky = one.fit(*copies).operating_point_.expected.metric
    whole = one.fit(*copies, groups=groups).operating_point_.expected.metric
    by_splitter = OperatingPointClassifier(
        KNeighborsClassifier(1), "balanced_error", cv=GroupKFold(5)
    )
    assert leaky < 0.1
    assert whole > 0.2
    assert by_splitter.fit(*copies, groups=groups).operating_point_.expected.metric > 0.2
    kept = OperatingPointClassifier(KNeighborsClassifier(5), "recall@fpr=0.5", guarantee=0.9)
    point = kept.fit(*copies, groups=groups).operating_point_
    X_new, y_new = table(3000, seed=1)
    assert kept.predict(X_new)[y_new == 0].mean() < 0.5
    assert point.intervals.fpr[1] - point.intervals.fpr[0] > 0.1  # a hundred rows, not 300


@pytest.mark.filterwarnings("ignore::directrix.exceptions.RefitDiffersWarning")
def test_texts_and_data_frames_reach_the_estimator_untouched():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    texts = [f"{'good' if v else 'bad'} word{rng.integers(5)}" for v in y ^ (rng.random(400) < 0.1)]
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
    for X in (texts, np.array(texts, dtype=object), pd.Series(texts)):
        model = OperatingPointClassifier(pipeline, "f1").fit(X, y)
        assert (model.predict(X) == y).mean() > 0.8
    frame = pd.DataFrame({"a": rng.normal(size=400) + y, "b": pd.Categorical(texts)})
    frame.loc[::7, "a"] = np.nan
    booster = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    model = OperatingPointClassifier(booster, "f1", cv=2).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.predict(frame).shape == (400,)
    counts = sparse.csr_array(np.abs(rng.normal(size=(400, 3))) + y[:, None])
    assert OperatingPointClassifier(MultinomialNB(), "f1").fit(counts, y).n_features_in_ == 3


def test_folds_do_not_depend_on_the_order_of_numbers():
    X, y = table()
    order = np.random.default_rng(1).permutation(len(y))
    first = OperatingPointClassifier(GaussianNB(), "f1").fit(X, y)
    second = OperatingPointClassifier(GaussianNB(), "f1").fit(X[order], y[order])
    assert rates(first.operating_point_) == pytest.approx(rates(second.operating_point_), abs=1e-9)


@pytest.mark.filterwarnings("ignore::directrix.exceptions.RefitDiffersWarning")
def test_weights_and_other_parameters_are_routed():
    X, y = table()
    weight = np.where(y, 5.0, 1.0) * np.linspace(0.5, 1.5, len(y))
    with pytest.warns(UnweightedEstimatorWarning, match="KNeighborsClassifier takes no"):
        OperatingPointClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)
    model = OperatingPointClassifier(SGDClassifier(loss="log_loss", random_state=0), "f1")
    started = model.fit(X, y, coef_init=np.ones((1, 4)), sample_weight=weight)
    assert started.operating_point_.weighted_by == "sample_weight"
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = OperatingPointClassifier(inner, "f1", cv=GroupKFold(3))
        fitted = model.fit(X, y, sample_weight=weight, groups=np.arange(len(y)) // 2)
        alone = LogisticRegression().fit(X, y, sample_weight=weight)
        assert (fitted.estimator_.coef_ == alone.coef_).all()
        requests = OperatingPointClassifier(inner, "f1").set_fit_request(sample_weight=True)
        requests.set_score_request(sample_weight=False)
        params = {"sample_weight": weight}
        assert len(cross_val_score(requests, X, y, params=params, cv=3)) == 3


def test_an_estimator_without_scores_is_refused():
    assert OperatingPointClassifier(Perceptron(), "f1").fit(*table(200)).report_
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba"):
        OperatingPointClassifier(LinearSVC(), response_method="predict_proba").fit(*table(200))
    with pytest.raises(ValueError, match="response_method must be"):
        OperatingPointClassifier(LinearSVC(), response_method="predict").fit(*table(200))


def test_other_operating_points_and_another_threshold():
    X, y = table()
    model = OperatingPointClassifier(GaussianNB(), "f1").fit(X, y)
    strict = model.operating_points(["recall@fpr=0.05"])[0]
    above = model.positive_scores(X) > strict.threshold
    assert (model.predict(X, at=strict) == above).all()
    assert (model.predict(X, at="recall@fpr=0.05") == above).all()
    moved = model.with_threshold(strict)
    assert (moved.predict(X) == above).all()
    np.testing.assert_allclose(
        moved.predict_proba(X)[above], model.predict_proba(X)[above], atol=0.2
    )
    (again,) = moved.operating_points(["f1"])
    (point,) = model.operating_points(["f1"])
    assert again.threshold == pytest.approx(point.threshold)
    with pytest.raises(NoHeldOutScoresError, match="recalibrated"):
        model.with_threshold(strict, model.calibration_).operating_points(["f1"])


def test_score_histograms_add_up():
    X, y = table()
    model = OperatingPointClassifier(GaussianNB(), "f1").fit(X, y)
    whole = model.score_histogram(X, target=y)
    parts = [model.score_histogram(X[k::2], target=y[k::2]) for k in (0, 1)]
    assert (parts[0] + parts[1]).counts.tolist() == whole.counts.tolist()
    above = whole.weight_above(0.0)
    assert above.tolist() == [model.predict(X)[y == k].sum() for k in (False, True)]


def test_limits_need_a_guarantee_and_choose_a_metric():
    scores, y = scored()
    model = OperatingPointClassifier(None, limits={"fpr": 0.1, "recall": 0.3}, guarantee=0.9)
    assert model.fit(scores, y).metric_ == RecallAtFPR(0.1)
    assert OperatingPointClassifier(None).fit(scores, y).metric_ == TABLE[0].example
    assert model.score(scores, y) == pytest.approx(RecallAtFPR(0.1).score(y, scores))


def test_a_model_no_better_than_a_constant_says_so():
    X, y = make_classification(400, random_state=0)
    with pytest.warns(OneClassPredictedWarning):
        model = OperatingPointClassifier(DummyClassifier(), "auc").fit(X, y)
    assert "No better than a constant" in str(model.report_)
    assert "DummyClassifier" in model.report_._repr_html_()


def test_the_scale_of_probabilities_is_increasing_to_both_ends():
    p = np.array([0.0, 1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-9, 1.0])
    scale = ScoreScale.of(p, p > 0.3, np.ones(len(p)), probabilities=True)
    positions = scale.positions(p)
    assert (np.diff(positions) > 0).all()
    np.testing.assert_allclose([scale.score_at(z) for z in positions], p, atol=1e-12)
