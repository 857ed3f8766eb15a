"""A formula written down once gives the probabilities of the classifier it came from."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit

from directrix import DirectClassifier, MomentClassifier
from directrix.estimators.scoring import Sigmoid

pytestmark = pytest.mark.filterwarnings("ignore:logistic regression is as good")

RNG = np.random.default_rng(6)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] + RNG.normal(size=120) > 0


@dataclass
class NumpyArithmetic:
    """Arithmetic whose values are arrays."""

    def add(self, value, number):
        return value + number

    def multiply(self, value, number):
        return value * number

    def slopes(self, value, below, above):
        return np.where(value < 0, below, above) * value

    def sigmoid(self, value):
        return expit(value)


@pytest.mark.parametrize(
    "classifier",
    [
        MomentClassifier("f1", sample=0),
        DirectClassifier("recall@fpr=0.1", cv=3),
    ],
    ids=repr,
)
def test_the_response_is_the_probability_of_the_last_class(classifier):
    formula = classifier.fit(X, Y).scoring_formula()
    scores = X @ np.array(formula.coefficients) + formula.intercept
    probability = formula.response.probability(scores, NumpyArithmetic())
    np.testing.assert_allclose(probability, classifier.predict_proba(X)[:, 1], atol=1e-14)


def test_the_greatest_slope_is_that_of_the_log_odds():
    assert Sigmoid(0.0, 0.5, 2.0).greatest_slope == 2.0
