"""Points, scores and the formula of a fitted card are the same numbers."""

import numpy as np
import pytest

from directrix import ScorecardClassifier


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300) >= 0.0
    how = {"cv": 2, "max_lines": None, "warn_baseline": False}
    return ScorecardClassifier("auc", **how).fit(X, y), X


def test_scores_are_points_less_the_cutoff(fitted):
    model, X = fitted
    points = model.predict_points(X)
    card = model.card_
    np.testing.assert_allclose(card.scores(model.binner_.cells(X)), points - card.cutoff)
    np.testing.assert_array_equal(model.decision_function(X), points - card.cutoff)


def test_the_formula_has_the_card_and_its_probability(fitted):
    model, _ = fitted
    formula = model.scoring_formula()
    assert formula.card == model.card_
    assert formula.response.offset == model.calibration_.offset
    assert formula.n_features == 2
