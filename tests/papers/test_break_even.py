"""The break-even point: cases known by hand, and the maximum over all labellings."""

from itertools import combinations

import numpy as np
import pytest
from contracts.cases import draw_rows

from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedPRBEP


def test_break_even_of_four_rows():
    positive = np.array([True, True, False, False])
    scores = np.array([3.0, 0.0, 0.5, -2.0])
    value, slope = SmoothedPRBEP(epsilon=0.0).value_and_grad(positive, scores, np.ones(4))
    # The lower positive gives way to the upper negative: one of two missed, and half a score.
    assert value == pytest.approx(0.5 + 0.25)
    assert slope == pytest.approx([0.0, -0.5, 0.5, 0.0])


@pytest.mark.parametrize("seed", range(8))
def test_without_smoothing_it_is_the_maximum_over_all_labellings(seed):
    positive, scores, _ = draw_rows(seed, 10, ties=seed % 2 == 1)
    n, n_pos = len(scores), int(positive.sum())
    y, best = np.where(positive, 1.0, -1.0), -np.inf
    for chosen in combinations(range(n), n_pos):  # at the break-even point as many are positive
        z = -np.ones(n)
        z[list(chosen)] = 1.0
        missed = 1.0 - (positive & (z > 0)).sum() / n_pos
        best = max(best, missed + scores @ (z - y) / n)  # eq. 2
    value, _ = SmoothedPRBEP(0.0).value_and_grad(positive, scores, np.ones(n))
    assert value == pytest.approx(best, abs=1e-14)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 20), (20, 5), (7, 7)])
def test_smoothing_lowers_it_by_what_the_labels_can_take_of_epsilon(n_pos, n_neg):
    n = n_pos + n_neg
    positive = np.arange(n) < n_pos
    scores = np.where(positive, -9.0, 9.0) - np.arange(n)  # as wrong as can be
    exact, smooth = (
        SmoothedPRBEP(epsilon).value_and_grad(positive, scores, np.ones(n))[0]
        for epsilon in (0.0, 0.3)
    )
    # μ d(β) with μ = 2ε / n, where 2 min(n₊, n₋) labels are wrong.
    assert exact - smooth == pytest.approx(0.3 * 2.0 * min(n_pos, n_neg) / n)
