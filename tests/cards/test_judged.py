"""Cards from one penalised likelihood: one card for all metrics, whose points are log-odds."""

import numpy as np
import pytest
from scipy.special import expit

from directrix import ScorecardClassifier
from directrix.fit.evidence import RowEvidence
from directrix.fit.training_rows import Rows
from directrix.metrics import RecallAtFPR


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    return X, rng.random(800) < expit(X[:, 0] + np.sin(2.0 * X[:, 1]) - 1.0)


def test_metrics_share_one_card_and_have_thresholds_of_their_own(rows):
    X, y = rows
    first, second = ScorecardClassifier().fit_each(["auc", RecallAtFPR(0.05)], X, y)
    gap = first.predict_points(X) - second.predict_points(X)
    np.testing.assert_allclose(gap, gap[0], atol=1e-12)
    assert abs(gap[0]) > 0.1
    for left, right in zip(first.card_.columns, second.card_.columns, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("points", [None, "integer"])
def test_scores_are_log_odds_up_to_the_unit_of_points(rows, points):
    X, y = rows
    model = ScorecardClassifier("auc", points=points).fit(X, y)
    odds = np.log(1.0 / (1.0 / model.predict_proba(X)[:, 1] - 1.0))
    slope, intercept = np.polyfit(model.decision_function(X), -odds, 1)
    np.testing.assert_allclose(-odds, slope * model.decision_function(X) + intercept, atol=1e-9)
    if points is None:
        assert slope == pytest.approx(-1.0)


def test_a_probability_that_the_metric_fixes_is_that_of_the_threshold():
    positive = np.arange(40) % 2 == 0
    scores = np.where(positive, 1.0, -1.0) + np.linspace(-1.5, 1.5, 40)
    evidence = RowEvidence(Rows(None, positive, np.ones(40)), scores, log_odds=True)
    assert evidence.calibrated(0.3, None, "rows")(0.0) == pytest.approx(expit(0.3))
    assert evidence.calibrated(0.3, 0.2, "rows")(0.0) == pytest.approx(0.2)
