"""The value of rounded cards, against brute force over limits and scikit-learn's likelihood."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from directrix.classifiers.scorecard.card.rounding_objective import (
    _SHARE,
    RoundingObjective,
    explained,
    logistic_curves,
)
from directrix.metrics import Curve, resolve


def rows(seed=0, n=600):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    points = rng.poisson(6 + 3 * positive)
    return points, positive, rng.integers(1, 4, n).astype(float)


def counts(points, positive, weight):
    place = points.max() - points
    size = int(place.max()) + 1
    return np.stack([np.bincount(place[s], weight[s], size) for s in (positive, ~positive)])


@pytest.mark.parametrize("metric", ["recall@fpr=0.1", "fpr@recall=0.7", "precision@recall=0.4"])
def test_a_metric_with_a_limit_is_its_mean_over_limits(metric):
    points, positive, weight = rows()
    of_metric = resolve(metric)
    objective = RoundingObjective.of(of_metric, positive, weight)
    level = of_metric.limit.value
    side = weight[~positive if of_metric.limit.rate == "fpr" else positive]
    error = np.sqrt(level * (1 - level) * 2 * np.square(side).sum() / side.sum() ** 2)
    assert objective.half == pytest.approx(np.sqrt(3) * error)
    # The middles of 20,000 equal parts: off by at most a jump over one part, 5e-5.
    limits = level + objective.half * (2 * (np.arange(20_000) + 0.5) / 20_000 - 1)
    curve = Curve.of(positive, points, weight)
    values = [of_metric.with_limit(limit).best_value(curve) for limit in limits]
    sign = 1.0 if of_metric.greater_is_better else -1.0
    table = counts(points, positive, weight)[None]
    expected = (1 - _SHARE) * explained(table)[0] + _SHARE * sign * np.mean(values)
    assert objective.values(table)[0] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_is_that_of_logistic_regression(seed):
    points, positive, weight = rows(seed)
    model = LogisticRegression(C=np.inf, tol=1e-10)
    chance = model.fit(points[:, None], positive, weight).predict_proba(points[:, None])[:, 1]
    prior = np.average(positive, weights=weight)
    log_likelihood, null = (
        weight @ np.where(positive, np.log(p), np.log1p(-p))
        for p in (chance, np.full(len(points), prior))
    )
    table = counts(points, positive, weight)[None]
    assert explained(table)[0] == pytest.approx(1 - log_likelihood / null, abs=1e-9)
    moved = points + (np.arange(len(points)) % 9 == 0)
    after = counts(moved, positive, weight)[None]
    # One step from the curve of a card that differs little.
    near = explained(after, logistic_curves(table))[0]
    assert near == pytest.approx(explained(after)[0], abs=1e-5)


@pytest.mark.parametrize("metric", ["error", "auc", "recall@precision=0.5", "precision@k=0.1"])
def test_other_metrics_are_added_to_the_auc(metric):
    assert RoundingObjective.of(resolve(metric), *rows()[1:]).half is None
