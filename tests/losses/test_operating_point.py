"""Recall at a false-positive rate: cases known by hand."""

import numpy as np
import pytest

from directrix.losses import QuantileSigmoid, TopNegatives
from directrix.metrics import RecallAtFPR

POSITIVE = np.array([True, True, False, False, False, False])
SCORES = np.array([2.0, 0.5, 1.0, 0.0, -1.0, -2.0])
ALL = np.ones(6)


@pytest.mark.parametrize(
    ("fpr", "value", "slope"),
    [
        (0.01, 0.75, [0.0, -0.5, 0.5, 0.0, 0.0, 0.0]),  # the top negative, at 1
        (0.25, 0.75, [0.0, -0.5, 0.5, 0.0, 0.0, 0.0]),
        (0.5, 0.5, [0.0, -0.5, 0.25, 0.25, 0.0, 0.0]),  # the mean of two, 0.5
        (0.375, 1.0 / 3.0 + 0.25, [0.0, -0.5, 1 / 3, 1 / 6, 0.0, 0.0]),  # of one and a half
    ],
)
def test_top_negatives_by_hand(fpr, value, slope):
    loss, slopes = TopNegatives(fpr, kappa=0.0).value_and_grad(POSITIVE, SCORES, ALL)
    assert loss == pytest.approx(value)
    assert slopes == pytest.approx(slope)


def test_rows_that_weigh_less_than_one_together():
    value, slope = TopNegatives(0.1, kappa=0.0).value_and_grad(POSITIVE, SCORES, 0.1 * ALL)
    assert value == pytest.approx(0.0)  # the mean of the negatives is -0.5
    assert slope.sum() == pytest.approx(0.0)


@pytest.mark.parametrize("fpr", [0.1, 0.25, 0.3, 0.5, 0.75, 0.9])
def test_a_quota_that_ends_between_two_rows(fpr):
    """The threshold goes down to the first negative that is too many, as that of the metric."""
    truth = 1.0 - RecallAtFPR(fpr).score(POSITIVE, SCORES)
    for gamma in (1e4, np.inf):
        value = QuantileSigmoid(fpr, gamma).value_and_grad(POSITIVE, SCORES, ALL)[0]
        assert value == pytest.approx(truth, abs=1e-12)


def test_a_quantile_whose_width_is_rounded_away_still_moves():
    slope = QuantileSigmoid(0.25, 1e-3).value_and_grad(POSITIVE, 1e16 * SCORES, ALL)[1]
    assert np.isfinite(slope).all()
    level = 1e9 + np.array([1e-7, 0.0, 0.0, -1.0, -2.0, -3.0])
    slope = QuantileSigmoid(0.25, 1e9).value_and_grad(POSITIVE, level, ALL)[1]
    assert slope.sum() == pytest.approx(0.0, abs=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("fpr", [0.0, 1.0, -0.1, np.nan])
@pytest.mark.parametrize("loss_class", [TopNegatives, QuantileSigmoid])
def test_fpr_is_a_share(loss_class, fpr):
    with pytest.raises(ValueError, match="fpr must be a share between 0 and 1"):
        loss_class(fpr).value_and_grad(POSITIVE, SCORES, ALL)
