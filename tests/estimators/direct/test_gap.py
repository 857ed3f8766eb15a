"""Gaps in words: above zero is better, and better is said only where it is clear."""

import numpy as np
import pytest

from directrix.fit.gap import Gap
from directrix.fit.report import DirectionEffect

NAN = float("nan")
UNCLEAR = "not clearly different from the rest"


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (Gap(0.02, 0.01, 0.03), "better than the rest by 0.0200 (0.0100 to 0.0300)"),
        (
            Gap(0.02, -0.01, 0.05),
            f"{UNCLEAR}: +0.0200 (-0.0100 to +0.0500)",
        ),
        (
            Gap(-0.02, -0.05, 0.01),
            f"{UNCLEAR}: -0.0200 (-0.0500 to +0.0100)",
        ),
        (Gap(-0.02, -0.03, -0.01), "worse than the rest by 0.0200 (0.0100 to 0.0300)"),
        (Gap(0.0, 0.0, 0.0), "the same as the rest"),
        (Gap(0.0, NAN, NAN), "the same as the rest"),
        (Gap(0.02, NAN, NAN), "compared with the rest: +0.0200 (no interval)"),
    ],
)
def test_better_and_worse_are_said_where_the_interval_excludes_zero(gap, text):
    assert gap.text("the rest") == text


def test_the_interval_is_that_of_paired_differences():
    # Five folds: t of 4 degrees of freedom, 2.776, times the deviation, times sqrt(1/5 + 1/4).
    gap = Gap.of_folds(3.0, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert gap.high - gap.mean == pytest.approx(2.776 * np.sqrt(2.5) * np.sqrt(0.45), rel=1e-3)
    assert np.isnan(Gap.of_folds(0.5, np.empty(0)).low)


def test_what_a_choice_promised_too_much_widens_the_interval():
    folds = np.array([0.01, 0.02, 0.03])
    as_shown, corrected = Gap.of_folds(0.02, folds), Gap.of_folds(-0.1, folds)
    width = as_shown.high - as_shown.mean
    assert corrected.high - corrected.mean == pytest.approx(np.hypot(width, 0.12))


def test_what_is_equal_in_every_fold_differs_for_no_clear_reason():
    gap = Gap.of_folds(0.0006, np.zeros(5))
    assert gap == (0.0006, 0.0, 0.0012)
    assert gap.text("the rest") == f"{UNCLEAR}: +0.0006 (+0.0000 to +0.0012)"
    assert Gap.of_folds(0.0, np.zeros(5)).is_none


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (
            DirectionEffect("age", "increasing", Gap(-0.0073, -0.01, -0.005)),
            (
                "Direction of age (increasing): worse than the model without it by "
                "0.0073 (0.0050 to 0.0100)."
            ),
        ),
        (
            DirectionEffect("age", "increasing", None, flat=True),
            ("Direction of age (increasing): the rows contradict it, so the column has no effect."),
        ),
    ],
)
def test_a_direction_has_an_effect_whose_sign_is_that_of_gaps(effect, text):
    assert str(effect) == text
