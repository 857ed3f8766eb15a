"""Days: dates in their many forms, and sums of daily summaries whose weights fall with age."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from directrix.moments import Summary
from directrix.rows.sums import tree_sum

#: Age in half-lives from which a day adds nothing to a sum in float64.
_NEGLIGIBLE = 64.0

S = TypeVar("S", bound=Summary)


def as_day(day: Any) -> date:
    """Return a day as a date."""
    given = day
    if isinstance(day, str):
        try:
            return date.fromisoformat(day)
        except ValueError:
            msg = f"{day!r} is not a day: write it as '2026-01-31', without a time"
            raise ValueError(msg) from None
    if isinstance(day, np.datetime64):
        day = day.astype("datetime64[D]").item()
    if hasattr(day, "date"):  # a datetime, or pandas.Timestamp
        day = day.date()
    # NaT of pandas is a datetime that equals nothing.
    if not isinstance(day, date) or day != day:  # noqa: PLR0124
        msg = f"a day is a date or a text such as '2026-01-31', not {given!r}"
        raise TypeError(msg)
    return day


def decayed(days: Mapping[Any, S], *, half_life: float = 30.0, until: Any = None) -> S:
    r"""Sum daily summaries, with weights that halve every ``half_life`` days.

    .. math:: \sum_t 2^{-(T - t) / h}\, S_t

    for days t up to T. The result is the summary of all rows, each with its factor as sample
    weight; ``effective_count`` of each class of moments tells how many rows of equal weight it is
    worth.

    Parameters
    ----------
    days : dict of summaries by day
        Keys are dates, or texts such as ``"2026-01-31"``.
    half_life : float
        Age in days at which a row counts half. Days older than 64 half-lives are left out.
    until : date or str, optional
        The day T, on which rows have their full weight; by default the latest. Later days are left
        out.

    Examples
    --------
    >>> from directrix import Moments
    >>> from directrix.monitoring import decayed
    >>> days = {"2026-01-01": Moments.of([[0.0], [1.0]], [0, 1])}
    >>> days["2026-01-31"] = Moments.of([[2.0], [5.0]], [0, 1])
    >>> decayed(days, half_life=30).positive.mean.round(3)
    array([3.667])
    """
    if not (np.isfinite(half_life) and half_life > 0):
        msg = f"half_life must be a positive number of days, not {half_life!r}"
        raise ValueError(msg)
    # Keys with times of day may be of one day, so the days are not keys of a dict.
    dated = sorted(((as_day(day), days[day]) for day in days), key=itemgetter(0))
    last = as_day(until) if until is not None else dated[-1][0] if dated else date.min
    aged = [((last - day).days / half_life, summary) for day, summary in dated if day <= last]
    terms = [summary * 2.0**-age for age, summary in aged if age <= _NEGLIGIBLE]
    if not terms:
        msg = f"there are no days to add up{'' if until is None else f' until {last}'}"
        raise ValueError(msg)
    total: S = tree_sum(terms)
    return total
