import numpy as np

from directrix.documents.reliability import Reliability


def test_calibrated_probabilities_are_reliable():
    rng = np.random.default_rng(0)
    probability = rng.random(50_000)
    outcome = rng.random(50_000) < probability
    reliability = Reliability.of(probability, outcome, np.ones(50_000))
    assert reliability.error < 0.01
    inside = [entry.low <= entry.predicted <= entry.high for entry in reliability.bins]
    assert sum(inside) >= 12
    assert sum(entry.weight for entry in reliability.bins) == 50_000


def test_equal_probabilities_stay_together():
    probability = np.array([0.2] * 50 + [0.7] * 50)
    reliability = Reliability.of(probability, np.arange(100) % 2 == 0, np.ones(100))
    assert [entry.weight for entry in reliability.bins] == [50, 50]
    assert [entry.observed for entry in reliability.bins] == [0.5, 0.5]


def test_rows_of_weight_zero_make_no_bin():
    probability = np.array([0.1, 0.2, 0.8, 0.9])
    outcome = np.array([False, True, False, True])
    reliability = Reliability.of(probability, outcome, np.array([0.0, 1.0, 1.0, 1.0]))
    assert sum(entry.weight for entry in reliability.bins) == 3
    assert all(entry.weight > 0 for entry in reliability.bins)
