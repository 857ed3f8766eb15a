from dataclasses import replace

import pytest

from directrix.monitoring.day_check import (
    Alerts,
    ColumnCheck,
    DayCheck,
    DayEffects,
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


FEW, MANY = DayEffects(0.1, 0.9, 1.4, 0.5), DayEffects(0.1, 0.0, 60.0, 0.5)


def differing(check, psi, usual, effects=MANY, *, column=False):
    """Return a check of a day with a large stability index that no test calls drift."""
    named = None if effects is None else {"scores": effects, "columns": effects}
    if column:
        one = ColumnCheck("job", psi, 0.1, "large change", 0.5, usual)
        return replace(check, columns=(one, *check.columns), effects=named)
    stable = ScoreStability(psi, 0.02, "large change", usual)
    return replace(check, score_stability=stable, effects=named)


def test_a_day_that_differs_as_much_as_reference_days_is_of_usual_variation(check):
    day = differing(check, 1.67, (0.9, 2.1))
    assert (day.verdict, day.alarm) == ("usual variation", False)
    assert day.explanation() == (
        "usual variation: the day differs from the reference (PSI of the scores 1.67), but no more "
        "than reference days differ from each other (0.90 to 2.10; p = 0.04)"
    )
    assert "reference days 0.9000 to 2.1000" in str(day)


def test_a_day_that_differs_more_than_all_reference_days_is_unclear(check):
    day = differing(check, 1.67, (0.9, 1.1))
    assert (day.verdict, day.alarm) == ("unclear", False)
    more = "more than reference days differ from each other (0.90 to 1.10), but not by enough"
    assert more in day.explanation()
    assert "Caution" not in day.explanation()


@pytest.mark.parametrize("usual", [(0.9, 1.1), (0.9, 2.1)])
def test_reference_days_that_tell_little_are_a_caution(check, usual):
    day = differing(check, 1.67, usual, FEW)
    assert "tell no more than 1.4 independent days would" in day.explanation()


def test_without_effects_of_days_chance_explains_what_no_test_finds(check):
    day = differing(check, 0.3, None, None)
    assert day.verdict == "usual variation"
    assert "no more than chance explains" in day.explanation()


@pytest.mark.parametrize("effects", [None, FEW, MANY])
@pytest.mark.parametrize("column", [False, True])
@pytest.mark.parametrize("usual", [None, (0.1, 0.2), (0.1, 9.0)])
def test_unchanged_is_never_said_beside_a_large_index(check, effects, column, usual):
    day = differing(check, 0.4, usual, effects, column=column)
    assert "unchanged" not in str(day)
    assert ("PSI of column job" if column else "PSI of the scores") in day.explanation()


def test_a_prevalence_that_could_be_anything_is_not_known(check):
    day = replace(check, prevalence=Prevalence(0.0, 0.0, 1.0, 0.06))
    assert "not known: 0 to 100 % would explain the scores alike; reference 6.00 %" in str(day)
    assert "precision   not known" in str(day)
    assert "at this prevalence" not in str(day)


def test_precision_is_not_known_if_no_reference_row_is_an_alert(check):
    assert "no reference row is above the threshold" in str(replace(check, rates=(0.0, 0.0)))


def test_precision_is_not_known_after_a_drift(check):
    day = replace(check, alarm_rate=0.05)
    assert "precision   not known, as the classes have changed; the reference has recall" in str(
        day
    )


def test_labels_of_the_day_tell_its_prevalence(check):
    day = replace(check, prevalence=Prevalence(0.1, 0.05, 0.15, 0.1, 0.125))
    assert "prevalence  labels 12.50 %; 10.00 % (5.00 to 15.00); reference 10.00 %" in str(day)


@pytest.mark.parametrize(
    ("promise", "state"),
    [
        (PromiseCheck("recall", 0.5, 0.4, 0.6, 0.45, 0.1, 0.9, kept=True), "kept"),
        (PromiseCheck("recall", 0.5, 0.4, 0.6, 0.2, 0.1, 0.9, kept=True), "worse, but chance"),
        (PromiseCheck("FPR", 0.5, 0.4, 0.6, 0.2, 0.1, 0.9, kept=True, rises=False), "kept"),
        (PromiseCheck("FPR", 0.5, 0.4, 0.6, 0.7, 0.1, 0.9, kept=True, rises=False), "worse, but"),
    ],
)
def test_a_worse_rate_that_chance_explains_is_not_called_kept(promise, state):
    assert promise.state.startswith(state)


def test_what_drift_takes_is_printed_unless_prior_shift_explains_the_day(check):
    stable = ScoreStability(0.01, 0.02, "within noise", drift_from=0.051)
    day = replace(check, score_stability=stable)
    assert "(chance up to 0.0200; drift from about 0.051)" in str(day)
    moved = replace(day, prevalence=Prevalence(0.2, 0.15, 0.25, 0.1))
    assert "drift from" not in str(moved)
    hopeless = replace(check, score_stability=stable._replace(drift_from=400.0))
    assert "reference days differ too much to call any index drift" in str(hopeless)
