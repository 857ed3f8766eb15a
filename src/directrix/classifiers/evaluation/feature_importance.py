"""Importance of each feature: the metric that the moments predict without it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from directrix.frontier import Frontier
from directrix.metrics.base import Metric
from directrix.moments import Moments

#: Features that are reported: those of the largest effect.
MAX_FEATURES = 50
#: Above this many features they are not left out in turn: each takes a decomposition.
_MAX_DECOMPOSED = 300


class FeatureImportance(NamedTuple):
    """Importance of one feature of a linear model.

    Parameters
    ----------
    name : str
    coefficient : float
    effect : float
        Change of the score for one standard deviation of the feature.
    negative, positive : float
        Mean of the feature in each class.
    without : float
        Best metric of any linear model without the feature, from the moments; NaN if there are
        too many features to compute it.
    """

    name: str
    coefficient: float
    effect: float
    negative: float
    positive: float
    without: float


class FeatureImportances(NamedTuple):
    """Importance of the features of a linear model.

    Parameters
    ----------
    features : tuple of FeatureImportance
        The features of the largest effect, largest first; at most `MAX_FEATURES`.
    with_all : float
        Best metric of any linear model with all features, from the moments.
    """

    features: tuple[FeatureImportance, ...]
    with_all: float


def feature_importances(
    model: Any, names: list[str], moments: Moments, metric: Metric
) -> FeatureImportances:
    """Return the importance of each feature, leaving them out of the moments one at a time.

    Parameters
    ----------
    model : fitted linear classifier of two classes
    names : list of str
        Names of its features.
    moments : Moments
        Summary of the rows to judge by.
    metric : Metric
    """
    coef = model.coef_[0]
    effect = coef * moments.standardize().scale
    order = np.argsort(-np.abs(effect), kind="stable")[:MAX_FEATURES]
    decomposed = 1 < moments.n_features <= _MAX_DECOMPOSED
    features = []
    for index in order:
        others = np.delete(np.arange(moments.n_features), index)
        without = _best_metric(moments.select(others), metric) if decomposed else float("nan")
        features.append(
            FeatureImportance(
                names[index],
                float(coef[index]),
                float(effect[index]),
                float(moments.negative.mean[index]),
                float(moments.positive.mean[index]),
                without,
            )
        )
    return FeatureImportances(tuple(features), _best_metric(moments, metric))


def _best_metric(moments: Moments, metric: Metric) -> float:
    with warnings.catch_warnings():  # without a feature, predicting one class may be the best
        warnings.simplefilter("ignore")
        best = Frontier(moments).best(metric)
    return float(metric.of_loss(best.risk))
