"""Days in their many forms, and weights that fall with age."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from directrix import Moments
from directrix.monitoring import decayed
from directrix.monitoring.decay import as_day

DAY = date(2026, 1, 31)


@pytest.mark.parametrize(
    "day",
    [
        "2026-01-31",
        np.str_("2026-01-31"),
        DAY,
        datetime(2026, 1, 31, 23, 59),  # noqa: DTZ001 - a time without a zone is of its own day
        datetime(2026, 1, 31, 23, 59, tzinfo=timezone(timedelta(hours=-11))),
        np.datetime64("2026-01-31"),
        np.datetime64("2026-01-31T23:59:59.999999999"),
    ],
)
def test_days_have_many_forms(day):
    assert as_day(day) == DAY
    assert type(as_day(day)) is date


def test_a_timestamp_of_pandas_is_a_day():
    pd = pytest.importorskip("pandas")
    assert as_day(pd.Timestamp("2026-01-31 23:59", tz="Asia/Tokyo")) == DAY
    assert type(as_day(pd.Timestamp("2026-01-31"))) is date


def test_days_before_1970_are_days():
    assert as_day(np.datetime64("1969-12-31T23:00")) == date(1969, 12, 31)
    assert as_day("0001-01-01") == date.min


@pytest.mark.parametrize("day", [None, 20260131, 1.5, b"2026-01-31", np.datetime64("NaT"), ()])
def test_what_is_no_day_is_refused(day):
    with pytest.raises(TypeError, match="a day is a date or a text"):
        as_day(day)


@pytest.mark.parametrize("day", ["", "2026-02-30", "31.01.2026", "2026-01-31T00:00", "yesterday"])
def test_a_text_that_is_no_day_is_refused(day):
    with pytest.raises(ValueError, match="is not a day: write it as"):
        as_day(day)


def test_weights_halve_with_each_half_life(of):
    days = {DAY - timedelta(days=10 * k): of(slice(60 * k, 60 * k + 60)) for k in range(3)}
    parts = [0.5**k * summary for k, summary in enumerate(days.values())]
    assert of.same(decayed(days, half_life=10), parts[0] + parts[1] + parts[2])


def test_the_order_of_the_days_does_not_matter(of):
    days = {DAY - timedelta(days=k): of(slice(60 * k, 60 * k + 60)) for k in range(4)}
    assert decayed(dict(reversed(days.items())), half_life=3) == decayed(days, half_life=3)


def test_later_days_are_left_out(of):
    days = {DAY + timedelta(days=k): of(slice(60 * k, 60 * k + 60)) for k in range(3)}
    until = (DAY + timedelta(days=1)).isoformat()
    expected = 0.5 * days[DAY] + days[DAY + timedelta(days=1)]
    assert decayed(days, half_life=1, until=until) == expected


def test_days_age_until_a_day_that_has_no_rows(of):
    days = {DAY: of(slice(60))}
    assert decayed(days, half_life=1, until=DAY + timedelta(days=2)) == 0.25 * days[DAY]


def test_two_keys_of_one_day_both_count(of):
    hours = {
        datetime(2026, 1, 31, hour, tzinfo=UTC): of(slice(60 * hour, 60 * hour + 60))
        for hour in range(3)
    }
    assert of.n_rows(decayed(hours)) == 180
    both = {"2026-01-31": of(slice(60)), DAY: of(slice(60, 90))}
    assert of.same(decayed(both), of(slice(90)))


def test_a_day_of_64_half_lives_adds_nothing():
    # Weight 2⁻⁶⁴ of a row beside one of weight one is below the rounding of float64.
    new = Moments.of([[0.0], [1.0]], [0, 1])
    days = {DAY - timedelta(days=65): Moments.of([[5.0], [6.0]], [0, 1]), DAY: new}
    assert decayed(days, half_life=1) == new


@pytest.mark.parametrize("half_life", [0, -1, np.inf, np.nan])
def test_a_half_life_is_a_positive_number(of, half_life):
    with pytest.raises(ValueError, match="half_life must be a positive number"):
        decayed({DAY: of(slice(60))}, half_life=half_life)


def test_no_days_are_no_sum(of):
    with pytest.raises(ValueError, match=r"no days to add up$"):
        decayed({})
    with pytest.raises(ValueError, match="no days to add up until 2026-01-30"):
        decayed({DAY: of(slice(60))}, until="2026-01-30")
    with pytest.raises(ValueError, match="no days to add up until 2099"):
        decayed({DAY: of(slice(60))}, until="2099-01-01", half_life=1)


@pytest.mark.parametrize(
    ("day", "message"),
    [
        ("2026-1-5", "'2026-1-5' is not a day: write it as '2026-01-31'"),
        (np.datetime64("NaT"), "a day is a date or a text .* not .*NaT"),
        (pd.NaT, "a day is a date or a text .* not NaT"),
    ],
)
def test_what_is_not_a_day_is_named(day, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_day(day)
