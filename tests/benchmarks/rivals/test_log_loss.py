import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from benchmarks.rivals.base import LEAST, LogLoss


def test_it_is_that_of_the_probabilities():
    rng = np.random.default_rng(0)
    y, log_odds = rng.random(200) < 0.3, 3.0 * rng.normal(size=200)
    assert LogLoss().score(y, log_odds) == pytest.approx(log_loss(y, expit(log_odds)), rel=1e-12)


def test_a_certain_mistake_costs_as_much_as_the_least_probability():
    mistakes = np.array([False, True]), np.array([np.inf, -np.inf])
    assert LogLoss().score(*mistakes) == pytest.approx(-np.log(LEAST), rel=1e-12)
    right = np.array([True, False]), np.array([np.inf, -np.inf])
    assert LogLoss().score(*right) == pytest.approx(LEAST, rel=1e-6)
