"""Points, scores and the formula of a fitted card are the same numbers."""

import numpy as np
import pytest

from directrix import ScorecardClassifier
from directrix.classifiers.scorecard.model import CardModel


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=300), [0.0, 0.8][: request.param - 1])
    how = {"learn_from": "counts", "cv": 2, "max_lines": None, "warn_baseline": False}
    return ScorecardClassifier("auc", **how).fit(X, y), X


def test_scores_are_points_less_the_cutoff(fitted):
    model, X = fitted
    assert isinstance(model, CardModel)
    points = model.predict_points(X).reshape(len(X), -1)
    for k, card in enumerate(model.cards_):
        np.testing.assert_allclose(card.scores(model.binner_.cells(X)), points[:, k] - card.cutoff)
    if len(model.classes_) == 2:
        np.testing.assert_array_equal(model.decision_function(X), points[:, 0])


def test_the_formula_has_the_cards_and_their_probabilities(fitted):
    model, _ = fitted
    formula = model.scoring_formula()
    assert formula.cards == model.cards_
    assert len(formula.responses) == len(model.cards_)
    assert formula.n_features == 2
