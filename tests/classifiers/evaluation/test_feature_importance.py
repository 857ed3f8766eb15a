import numpy as np
import pytest

from directrix import Frontier, MomentClassifier, Moments
from directrix.classifiers.evaluation import MAX_FEATURES, feature_importances
from directrix.metrics import RecallAtFPR


def summary(d, n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    shift = np.zeros(d)
    shift[:2] = 1.5, -1.0
    return Moments.of(rng.normal(size=(n, d)) + np.outer(y, shift), y)


def test_features_are_left_out_in_turn():
    moments, metric = summary(3), RecallAtFPR(0.1)
    model = MomentClassifier(metric).fit_summary(moments)
    importances = feature_importances(model, ["a", "b", "c"], moments, metric)
    assert [feature.name for feature in importances.features] == ["a", "b", "c"]
    assert importances.with_all == pytest.approx(1 - Frontier(moments).best(metric).risk)
    first = importances.features[0]
    without = 1 - Frontier(moments.select([1, 2])).best(metric).risk
    assert first.without == pytest.approx(without)
    assert first.coefficient == model.coef_[0, 0]
    assert first.effect == pytest.approx(model.coef_[0, 0] * moments.standardize().scale[0])
    assert (first.negative, first.positive) == (moments.negative.mean[0], moments.positive.mean[0])


def test_a_single_feature_cannot_be_left_out():
    moments = summary(2).select([0])
    model = MomentClassifier("auc").fit_summary(moments)
    (feature,) = feature_importances(model, ["a"], moments, RecallAtFPR(0.1)).features
    assert np.isnan(feature.without)


def test_with_many_features_only_effects_are_reported():
    moments, metric = summary(301, n=800), RecallAtFPR(0.1)
    model = MomentClassifier(metric).fit_summary(moments)
    names = [f"x{index}" for index in range(301)]
    features = feature_importances(model, names, moments, metric).features
    assert len(features) == MAX_FEATURES
    assert all(np.isnan(feature.without) for feature in features)
    effects = [abs(feature.effect) for feature in features]
    assert effects == sorted(effects, reverse=True)
