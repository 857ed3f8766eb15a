"""Reports in words."""

import pytest

from directrix.classifiers.direct.report import Gap


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (Gap(0.02, -0.01, 0.05), "better than the rest by +0.0200 (-0.0100 to +0.0500)"),
        (Gap(-0.02, -0.05, 0.01), "worse than the rest by 0.0200 (-0.0100 to +0.0500)"),
        (Gap(0.0, 0.0, 0.0), "the same as the rest"),
        (Gap(0.02, float("nan"), float("nan")), "better than the rest by +0.0200"),
    ],
)
def test_a_gap_is_never_a_negative_gain(gap, text):
    assert gap.text("the rest") == text
