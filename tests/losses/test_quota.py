"""The top of the list: cases known by hand, and what k may be."""

import numpy as np
import pytest

from directrix.losses import BreakEven, PrecisionTop, RecallTop

POSITIVE = np.array([True, True, False, False, False])
ALL = np.ones(5)


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


@pytest.mark.parametrize("loss_class", [PrecisionTop, RecallTop])
def test_what_no_ranking_can_avoid(loss_class):
    scores = np.where(POSITIVE, 5.0, -5.0)
    for k in (1, 2, 4):
        value = loss_class(k, kappa=0.0).value_and_grad(POSITIVE, scores, ALL)[0]
        precise = max(0.0, 1.0 - 2 / k)
        assert value == pytest.approx(
            precise if loss_class is PrecisionTop else max(0.0, 1.0 - k / 2)
        )


def test_as_many_rows_as_positives_is_the_break_even():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=5)
    value, slope = BreakEven(0.2).value_and_grad(POSITIVE, scores, ALL)
    for loss_class in (PrecisionTop, RecallTop):
        for k in (2, 0.4):
            other, its = loss_class(k, 0.2).value_and_grad(POSITIVE, scores, ALL)
            assert other == pytest.approx(value, rel=1e-12)
            assert its == pytest.approx(slope, abs=1e-13)


@pytest.mark.parametrize("k", [0, -1, 5, 6])
def test_k_covers_some_rows_and_not_all(k):
    with pytest.raises(ValueError, match=f"k = {k} covers none or all of the 5 rows"):
        PrecisionTop(k).value_and_grad(POSITIVE, np.zeros(5), ALL)


@pytest.mark.parametrize("k", [0.0, 1.0, 2.5, -0.1, np.nan])
def test_k_is_a_whole_number_or_a_share(k):
    with pytest.raises(ValueError, match="a whole number of rows, or a share between 0 and 1"):
        RecallTop(k).value_and_grad(POSITIVE, np.zeros(5), ALL)
