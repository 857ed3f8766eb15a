import numpy as np
import pytest

from directrix.fitting.evidence import HeldOut
from directrix.fitting.histogram_choice import point_at
from directrix.fitting.training_rows import Rows
from directrix.metrics import AUC, RecallAtFPR


def held_out(n=3000):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.3
    rows = Rows(np.zeros((n, 1)), positive, np.ones(n), rng.integers(0, 5, n))
    scores = rng.normal(size=n) + 1.5 * positive
    return rows, scores, HeldOut.of_rows(rows, scores)


def test_the_threshold_is_beyond_that_of_the_fit_by_the_score():
    rows, scores, counted = held_out()
    point = point_at(RecallAtFPR(0.05), counted)
    beyond = point.threshold
    assert (scores > beyond)[~rows.positive].mean() == pytest.approx(0.05, abs=0.004)
    assert point.empirical.tpr == pytest.approx((scores > beyond)[rows.positive].mean())
    assert point.rows == rows.name


def test_a_ranking_is_refused():
    with pytest.raises(ValueError, match="no threshold"):
        point_at(AUC(), held_out()[2])
