"""Laws of thresholds around any model: the decision that is described is the one of `predict`."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from directrix import OperatingPointClassifier
from directrix.exceptions import RefitDiffersWarning
from directrix.export import load, save
from directrix.fit.held_out_scores import CrossFitting, ScoreScale

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ESTIMATORS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "tree of depth 4": DecisionTreeClassifier(max_depth=4, random_state=0),
    "small forest": RandomForestClassifier(20, random_state=0),
    "logistic": LogisticRegression(),
    "naive Bayes": GaussianNB(),
    "support vectors": SVC(),
}
#: The last two flag all rows and none where scores tie or say little.
METRICS = ["error", "f1", "fpr@recall=0.999", "recall@fpr=0.001"]
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
every_metric = pytest.mark.parametrize("metric", METRICS)
either_class = pytest.mark.parametrize("positive", [True, False])


def table(n=400, seed=0, distance=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4))
    X[:, 0] += distance * y
    return X, y


def follows_its_description(model, scores, y, given=None):
    """Check that the rates of `predict` on the rows of the threshold are the described ones."""
    point, positive = model.operating_point_, y == model.positive_
    flagged = model.predict(scores if given is None else given) == model.positive_
    np.testing.assert_array_equal(flagged, scores > point.threshold)
    shown = flagged[positive].mean(), flagged[~positive].mean()
    np.testing.assert_allclose(shown, point.empirical[:2], rtol=0, atol=1e-12)


def of_one_class(model, X, scores):
    """Check that flag-all flags all rows, and flag-none none, whatever their scores are."""
    point = model.operating_point_
    flagged = model.predict(X) == model.positive_
    np.testing.assert_array_equal(flagged, scores > point.threshold)
    if point.predicts_one_class:
        assert (flagged == (point.empirical.tpr > 0)).all()


@every_estimator
@every_metric
@either_class
@pytest.mark.parametrize("distance", [1.0, 0.0])
def test_rates_of_cross_fitted_scores_are_those_of_predict(
    name, metric, positive, distance, monkeypatch
):
    X, y = table(distance=distance)
    kept, run = [], CrossFitting.run

    def keeping(fitting, *args, **options):
        kept.append(run(fitting, *args, **options))
        return kept[-1]

    monkeypatch.setattr(CrossFitting, "run", keeping)
    model = OperatingPointClassifier(ESTIMATORS[name], metric, positive=positive).fit(X, y)
    follows_its_description(model.around(None), kept[0].scores, y[kept[0].tested])
    new, _ = table(20_000, seed=1, distance=distance)
    of_one_class(model, new, model.positive_scores(new))


@every_estimator
@every_metric
@either_class
def test_rates_of_a_frozen_estimator_are_those_of_predict(name, metric, positive):
    fitted = FrozenEstimator(ESTIMATORS[name].fit(*table()))
    X, y = table(seed=1)
    model = OperatingPointClassifier(fitted, metric, positive=positive).fit(X, y)
    follows_its_description(model, model.positive_scores(X), y, X)
    new, _ = table(20_000, seed=2)
    of_one_class(model, new, model.positive_scores(new))


SCORES = {
    "probabilities": lambda rng, y: np.clip(rng.normal(0.3 + 0.4 * y, 0.3), 0.0, 1.0),
    "zeros and ones": lambda rng, y: (rng.random(len(y)) < 0.2 + 0.3 * y).astype(float),
    "tiny probabilities": lambda rng, y: 10.0 ** rng.normal(-14.0 + 4.0 * y, 3.0).clip(-300, 0),
    "equal": lambda _, y: np.full(len(y), 0.3),
    "any numbers": lambda rng, y: rng.normal(y, 1.0) * 1e6,
    "levels": lambda rng, y: np.round(rng.normal(y, 1.0)),
}


@pytest.mark.parametrize("kind", SCORES)
@every_metric
@either_class
@pytest.mark.parametrize("guarantee", [None, 0.9])
def test_rates_of_given_scores_are_those_of_predict(kind, metric, positive, guarantee, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    scores = SCORES[kind](rng, y)
    if guarantee is not None and "@" in metric:
        metric = metric.replace("0.999", "0.9").replace("0.001", "0.1")
    model = OperatingPointClassifier(None, metric, positive=positive, guarantee=guarantee and 0.9)
    if guarantee is not None and "@" not in metric:
        model.set_params(limits={"fpr": 0.1})
    model.fit(scores, y)
    follows_its_description(model, scores, y)
    ends = np.array([0.0, 1.0]) if kind != "any numbers" else 10.0 * np.array([min(scores), 1e7])
    of_one_class(model, ends, ends)
    save(model, tmp_path / "a.model")
    again = load(tmp_path / "a.model")
    np.testing.assert_array_equal(again.predict(scores), model.predict(scores))
    np.testing.assert_array_equal(again.predict(ends), model.predict(ends))


@pytest.mark.parametrize("kind", SCORES)
@either_class
def test_other_operating_points_flag_all_rows_or_none_as_they_say(kind, positive):
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    scores = SCORES[kind](rng, y)
    model = OperatingPointClassifier(None, "error", positive=positive).fit(scores, y)
    ends = np.concatenate([scores, [0.0, 1.0]])
    for point in model.operating_points(["fpr@recall=0.9999", "recall@fpr=0.0001"]):
        if point.predicts_one_class:
            of_one_class(model.with_threshold(point), ends, ends)
            flagged = model.predict(ends, at=point) == positive
            assert (flagged == (point.empirical.tpr > 0)).all()


@pytest.mark.parametrize("of_odds", [expit, np.array])
@pytest.mark.parametrize("metric", ["fpr@recall=0.9999", "recall@fpr=0.0001"])
def test_a_threshold_that_predicts_one_class_keeps_probabilities(of_odds, metric):
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    scores = of_odds(
        rng.normal(y, 1.0).clip(-1.0, 1.0)
    )  # both classes have the lowest and the highest
    model = OperatingPointClassifier(None, metric).fit(scores, y)
    assert model.operating_point_.predicts_one_class
    probability = model.predict_proba(scores)[:, 1]
    assert probability.mean() == pytest.approx(y.mean(), abs=0.01)
    usual = OperatingPointClassifier(None, "f1").fit(scores, y)
    assert np.abs(probability - usual.predict_proba(scores)[:, 1]).max() < 0.2
    again = model.operating_points(["f1"])[0].expected.metric
    assert again == pytest.approx(usual.operating_point_.expected.metric, abs=0.02)


@pytest.mark.parametrize("threshold", [-1e-9, -0.5, 1.0 + 1e-9, 2.0, 0.0, 1.0])
@either_class
def test_a_threshold_outside_of_probabilities_decides_about_all_rows(threshold, positive):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    scores = SCORES["probabilities"](rng, y)
    model = OperatingPointClassifier(None, "error", positive=positive).fit(scores, y)
    moved = model.with_threshold(replace(model.operating_point_, threshold=threshold))
    flagged = moved.predict(scores) == positive
    np.testing.assert_array_equal(flagged, scores > threshold)


def test_positions_rise_with_thresholds_that_are_outside_by_little():
    scale = ScoreScale(0.01, 2.0)
    positions = scale.positions([-0.005, 0.0, 0.5, 1.0, 1.005])
    assert (np.diff(positions) > 0).all()
    assert scale.positions([-np.inf, np.inf]).tolist() == positions[[0, -1]].tolist()
    scores = scale.scores_at(positions)
    np.testing.assert_allclose(scores, [-0.005, 0.0, 0.5, 1.0, 1.005], atol=1e-15)


@pytest.mark.parametrize("name", ["tree of depth 4", "logistic"])
def test_intervals_of_both_rates_allow_for_the_step_to_the_final_estimator(name):
    new, truth = table(20_000, seed=99)
    missed, warned, fits = 0, 0, 16
    for seed in range(fits):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = OperatingPointClassifier(ESTIMATORS[name], "f1").fit(*table(seed=seed))
        warned += any(isinstance(each.message, RefitDiffersWarning) for each in caught)
        flagged = model.predict(new)
        intervals = model.operating_point_.intervals
        for rows, (low, high) in zip((truth, ~truth), intervals[:2], strict=True):
            missed += not low <= flagged[rows].mean() <= high
    assert missed <= stats.binom.isf(1e-3, 2 * fits, 0.05)
    assert warned > fits / 6 if name == "tree of depth 4" else warned == 0


def test_copies_that_flag_other_rows_than_the_final_estimator_say_by_how_much():
    with pytest.warns(RefitDiffersWarning, match="FrozenEstimator") as caught:
        OperatingPointClassifier(ESTIMATORS["tree of depth 4"], "f1").fit(*table(seed=5))
    warning = next(w.message for w in caught if isinstance(w.message, RefitDiffersWarning))
    assert warning.estimator == "DecisionTreeClassifier"
    assert warning.levels <= 16
    assert max(abs(warning.tpr), abs(warning.fpr)) > 0.03
