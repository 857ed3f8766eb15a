from dataclasses import replace

import pytest

from directrix.monitoring.day_check import (
    Alerts,
    ColumnCheck,
    DayCheck,
    DriftTest,
    Prevalence,
    PromiseCheck,
    ScoreStability,
)

NAN = float("nan")


@pytest.fixture
def check():
    return DayCheck(
        "2026-01-01",
        100.0,
        1000.0,
        Prevalence(0.1, 0.05, 0.15, 0.1),
        Alerts(12.0, 11.0, 8.0, 14.0, 11.0),
        (0.5, 0.05),
        ScoreStability(0.01, 0.02, "within noise"),
        tuple(ColumnCheck(f"c{k}", 0.0, 0.1, "within noise", 0.5) for k in range(7)),
        (DriftTest("scores", 9.0, 8, 0.3), DriftTest("columns", 9.0, 8, 0.02)),
        (),
        0.01,
    )


def test_p_values_of_two_tests_are_doubled(check):
    assert check.p_value == pytest.approx(0.04)
    assert check.verdict == "unchanged"
    strict = replace(check, alarm_rate=0.05)
    assert (strict.verdict, strict.alarm) == ("drift", True)
    assert "explains the columns" in strict.explanation()


def test_a_share_outside_its_interval_is_prior_shift(check):
    moved = replace(check, prevalence=Prevalence(0.2, 0.15, 0.25, 0.1))
    assert (moved.verdict, moved.alarm) == ("prior shift", False)


def test_a_broken_promise_is_an_alarm(check):
    broken = PromiseCheck("recall", 0.5, 0.4, 0.6, 0.2, 0.1, 0.3, kept=False)
    alarmed = replace(check, promises=(broken,))
    assert alarmed.alarm
    assert alarmed.broken == (broken,)
    assert "NOT KEPT" in str(alarmed)
    nothing = PromiseCheck("recall", NAN, NAN, NAN, 0.2, 0.1, 0.3, kept=True)
    assert "nothing was promised" in str(replace(check, promises=(nothing,)))
    assert replace(check, promises=(nothing,)).to_dict()["promises"][0]["promised"] is None


def test_precision_follows_the_prevalence(check):
    value, low, high = check.precision()
    assert value == pytest.approx(0.05 / (0.05 + 0.045))
    assert low < value < high


def test_only_the_first_columns_are_printed(check):
    assert "and 2 more in .columns" in str(check)
    assert "c6" not in str(check)
