"""Cards from one penalised likelihood: one card for all metrics."""

import numpy as np
import pytest
from scipy.special import expit, logit

from directrix import ScorecardClassifier
from directrix.metrics import RecallAtFPR


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    return X, rng.random(800) < expit(X[:, 0] + np.sin(2.0 * X[:, 1]) - 1.0)


def test_metrics_share_one_card_and_have_thresholds_of_their_own(rows):
    X, y = rows
    first, second = ScorecardClassifier().fit_each(["auc", RecallAtFPR(0.05)], X, y)
    np.testing.assert_array_equal(first.predict_points(X), second.predict_points(X))
    assert abs(first.card_.cutoff - second.card_.cutoff) > 1.0
    for left, right in zip(first.card_.columns, second.card_.columns, strict=True):
        np.testing.assert_array_equal(left, right)


def test_points_are_whole_by_default_in_every_size(rows):
    X, y = rows
    model = ScorecardClassifier("auc").fit(X, y)
    for lines in [size.lines for size in model.sizes()]:
        card = model.compact(lines).card_
        points = np.concatenate([*card.columns, *(cross.points.ravel() for cross in card.crosses)])
        assert card.is_whole
        assert card.intercept == 0.0
        assert all(column.min() == 0.0 for column in card.columns)
        assert 50 <= points.max() <= 100


@pytest.mark.parametrize("metric", ["auc", "error", "cost(fp=1, fn=5)", RecallAtFPR(0.05)])
@pytest.mark.parametrize("points", ["log-odds", "integer", "pdo"])
def test_probabilities_are_one_line_of_the_points_in_log_odds(rows, points, metric):
    X, y = rows
    model = ScorecardClassifier(metric, points=points).fit(X, y)
    total, odds = model.predict_points(X), logit(model.predict_proba(X)[:, 1])
    slope, intercept = np.polyfit(total, odds, 1)
    np.testing.assert_allclose(odds, slope * total + intercept, atol=1e-9)
    if points == "pdo":
        doublings = (logit(1.0 / 51.0) - odds) / np.log(2.0)
        np.testing.assert_allclose(total, 600.0 + 20.0 * doublings, atol=1e-6)
    if points == "log-odds":
        assert slope == pytest.approx(1.0)
