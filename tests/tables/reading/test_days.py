"""Dates and durations are the same number of days in every unit and library."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from fractions import Fraction

import numpy as np
import pytest

from directrix.tables.table import date_text, days_of, days_of_times

MOMENT = datetime(2024, 2, 29, 13, 7, 59, 123456)  # noqa: DTZ001 - a naive one is meant


def test_days_are_counted_from_1970():
    assert days_of(date(1970, 1, 1)) == 0.0
    assert days_of(date(1969, 12, 31)) == -1.0
    assert days_of(datetime(1970, 1, 2, 12, tzinfo=UTC)) == 1.5
    assert days_of(time(6)) == 0.25
    assert days_of(timedelta(days=-1, hours=12)) == -0.5


def test_days_are_rounded_once_from_the_exact_value():
    seconds = Fraction(13 * 3600 + 7 * 60 + 59) + Fraction(123456, 10**6)
    day = date(2024, 2, 29).toordinal() - date(1970, 1, 1).toordinal()
    # The fraction of the day is rounded before the whole days are added.
    assert days_of(MOMENT) == day + float(seconds / 86_400)


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_every_unit_gives_the_same_number(unit):
    rng = np.random.default_rng(0)
    micro = rng.integers(-(10**15), 10**15, size=1000).astype("datetime64[us]")
    expected = [days_of(moment) for moment in micro.tolist()]
    assert days_of_times(micro.astype(f"datetime64[{unit}]")).tolist() == expected


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "10ms"])
def test_every_unit_of_numpy_can_be_read(unit):
    days = days_of_times(np.array(["1971", "NaT"], dtype=f"datetime64[{unit}]"))
    # A week begins on a Thursday, as 1970 did.
    assert days[0] == (364.0 if unit == "W" else 365.0)
    assert np.isnan(days[1])


def test_time_zones_are_converted():
    east = timezone(timedelta(hours=5, minutes=30))
    assert days_of(MOMENT.replace(tzinfo=east)) == days_of(MOMENT - timedelta(hours=5, minutes=30))


def test_timestamps_of_pandas_have_nanoseconds():
    pandas = pytest.importorskip("pandas")
    moment = pandas.Timestamp("2024-02-29 13:07:59.123456789", tz="Asia/Kolkata")
    assert days_of(moment) == days_of_times(np.array([moment.to_datetime64()]))[0]
    assert days_of(pandas.Timedelta("1 days 12:00:00")) == 1.5


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 12, tzinfo=UTC), "2024-02-29 12:00:00"),
        (datetime(1960, 1, 1, 0, 0, 10, tzinfo=UTC), "1960-01-01 00:00:10"),
        (datetime(2024, 2, 29, 23, 59, 59, 500_000, tzinfo=UTC), "2024-02-29 23:59:59.5"),
    ],
)
def test_days_are_shown_as_a_date(moment, text):
    assert date_text(days_of(moment)) == text
