"""Dates and durations as numbers of days."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

_EPOCH = date(1970, 1, 1).toordinal()
_MICROSECONDS = 86_400 * 10**6
#: Units of a day in each time unit of NumPy.
_PER_DAY = {
    "D": 1,
    "h": 24,
    "m": 1440,
    "s": 86_400,
    "ms": 86_400 * 10**3,
    "us": 86_400 * 10**6,
    "ns": 86_400 * 10**9,
    "ps": 86_400 * 10**12,
    "fs": 86_400 * 10**15,
}
_ZERO = timedelta(0)


def days_of_times(times: AnyArray) -> FloatArray:
    """Return dates as days since 1970-01-01, or durations as days; NaT becomes NaN.

    Whole days and the rest are converted separately: the same time in another unit (seconds,
    microseconds, nanoseconds) gives the same number, to the last bit.

    Dates with a time zone must be given in UTC.
    """
    unit, _ = np.datetime_data(times.dtype)
    if unit not in _PER_DAY or unit == "D":  # years, months and weeks are whole days
        times, unit = times.astype(f"{times.dtype.kind}8[D]"), "D"
    else:
        times = times.astype(f"{times.dtype.kind}8[{unit}]")  # not, say, units of 10 ms
    per_day = _PER_DAY[unit]
    whole, rest = np.divmod(times.astype(np.int64), per_day)
    days: FloatArray = whole + rest / per_day
    days[np.isnat(times)] = np.nan
    return days


def days_of(value: Any) -> float:
    """Return one date, time of day or duration as days, in the same way as `days_of_times`."""
    if hasattr(value, "to_datetime64"):  # a pandas Timestamp has nanoseconds
        value = value.to_datetime64()
    elif hasattr(value, "to_timedelta64"):
        value = value.to_timedelta64()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(days_of_times(np.array([value]))[0])
    whole, rest = _EPOCH, _ZERO
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC)
        whole, value = value.toordinal(), value.time()
    elif isinstance(value, date):
        whole, value = value.toordinal(), time()
    if isinstance(value, time):
        rest = timedelta(
            hours=value.hour,
            minutes=value.minute,
            seconds=value.second,
            microseconds=value.microsecond,
        )
    elif isinstance(value, timedelta):
        whole, rest = _EPOCH + value.days, value - timedelta(days=value.days)
    return whole - _EPOCH + rest / timedelta(days=1)


def date_text(days: float) -> str:
    """Return a number of days since 1970-01-01 as a date, with the time of day if there is one."""
    whole, rest = divmod(days, 1.0)
    microseconds = round(rest * _MICROSECONDS)
    moment = np.datetime64(int(whole), "D") + np.timedelta64(microseconds, "us")
    day, _, clock = str(moment).partition("T")
    clock = clock.rstrip("0").removesuffix(".") if "." in clock else clock
    return day if microseconds == 0 else f"{day} {_at_least_seconds(clock)}"


def _at_least_seconds(clock: str) -> str:
    hours, minutes, seconds = clock.split(":")
    return f"{hours}:{minutes}:{seconds:0<2}" if "." not in seconds else clock
