"""What each feature is worth: the metric that moments predict without it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from directrix.frontier import Frontier
from directrix.metrics import Metric
from directrix.moments import Moments

#: Features that are left out one by one, those of the largest effect.
MOST = 50
#: Features up to which that is cheap: each takes a decomposition.
_WIDEST = 300


class Feature(NamedTuple):
    """One feature of a line.

    Parameters
    ----------
    name : str
    coefficient : float
    effect : float
        Change of the score for one standard deviation of the feature.
    negative, positive : float
        Mean of each class.
    without : float
        Best metric of any line without it, from the moments; NaN where it was not asked.
    """

    name: str
    coefficient: float
    effect: float
    negative: float
    positive: float
    without: float


class WhatIf(NamedTuple):
    """The features, by the size of their effect, and the metric with all of them."""

    features: tuple[Feature, ...]
    with_all: float


def what_if(model: Any, names: list[str], moments: Moments, metric: Metric) -> WhatIf:
    """Leave features out of the moments, one by one."""
    coef = model.coef_[0]
    effect = coef * moments.standardize().scale
    order = np.argsort(-np.abs(effect), kind="stable")[:MOST]
    cheap = 1 < moments.n_features <= _WIDEST
    with_all = _best(moments, metric)
    features = []
    for k in order:
        others = np.delete(np.arange(moments.n_features), k)
        without = _best(moments.select(others), metric) if cheap else float("nan")
        means = float(moments.negative.mean[k]), float(moments.positive.mean[k])
        features.append(Feature(names[k], float(coef[k]), float(effect[k]), *means, without))
    return WhatIf(tuple(features), with_all)


def _best(moments: Moments, metric: Metric) -> float:
    with warnings.catch_warnings():  # without a feature, a constant may be the best there is
        warnings.simplefilter("ignore")
        best = Frontier(moments).best(metric)
    return float(metric.of_loss(best.risk))
