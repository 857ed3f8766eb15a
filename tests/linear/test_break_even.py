"""The break-even point: cases known by hand."""

import numpy as np
import pytest

from directrix.linear import BreakEven


def test_break_even_of_four_rows():
    positive = np.array([True, True, False, False])
    value, slope = BreakEven(kappa=0.0).value_and_grad(
        positive, np.array([3.0, 0.0, 0.5, -2.0]), np.ones(4)
    )
    # The lower positive gives way to the upper negative: one of two missed, and half a score.
    assert value == pytest.approx(0.5 + 0.25)
    assert slope == pytest.approx([0.0, -0.5, 0.5, 0.0])


@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 20), (20, 5), (7, 7)])
def test_the_gap_of_break_even_is_reached(n_pos, n_neg):
    positive = np.arange(n_pos + n_neg) < n_pos
    weight = np.ones(n_pos + n_neg)
    scores = np.where(positive, -9.0, 9.0) - np.arange(n_pos + n_neg)  # as wrong as can be
    loss = BreakEven(kappa=0.3)
    exact, smooth = (b.value_and_grad(positive, scores, weight)[0] for b in (BreakEven(0.0), loss))
    assert loss.gap(positive, weight) == pytest.approx(0.3 * min(1.0, n_neg / n_pos))
    assert exact - smooth == pytest.approx(loss.gap(positive, weight))
