"""Which days a store keeps: those of the last ``keep_days`` days before its latest one."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

#: A day so many days after the latest one is taken for a mistyped year if it would remove all
#: others. A store that was not used for some months may go on.
_A_YEAR = 365


def is_span(days: Any) -> bool:
    """Return whether a number of days to keep is valid; None keeps all."""
    return days is None or (type(days) is int and days >= 1)


def expired(days: list[date], keep_days: int | None) -> list[date]:
    """Return the days that are too old.

    Parameters
    ----------
    days : list of date
        In order.
    keep_days : int or None
    """
    if keep_days is None:
        return []
    return [day for day in days if days[-1] - day >= timedelta(days=keep_days)]


def require_other_days_kept(day: date, days: list[date], keep_days: int | None) -> None:
    """Raise ValueError for a day that is mistyped, it seems, and would remove all others.

    Parameters
    ----------
    day : date
        To be added.
    days : list of date
        Of the store, in order.
    keep_days : int or None
    """
    if keep_days is None or not days:
        return
    if day - days[-1] >= timedelta(days=max(keep_days, _A_YEAR)):
        msg = (
            f"{day} would remove all other days, of which the last is {days[-1]}, because the "
            f"store keeps {keep_days} days: check the date, or begin another store"
        )
        raise ValueError(msg)
