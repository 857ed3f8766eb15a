"""Budget: a number of alerts that is kept on most new days, by order statistics of days.

A share of rows does not keep a number of alerts: days differ in their rows and in their positives.
Both are in the threshold at which a day would just have kept the budget. `fit.guarantee` sets the
threshold by those of many days; `Rule` of `fit.operating_point` flags the rows of new days by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import FewDaysError
from directrix.rows.labels import shape_text

#: Rounding of (1 - c) (D + 1), which is meant to be a whole number.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Budget:
    """At most so many alerts in each period, such as 200 a day; for ``limits=`` of a classifier.

    With ``guarantee=0.95`` the budget is kept on 95 % of new days: exactly, if new days are drawn
    as those that set the threshold were. The period of each row is given to `fit` as ``day=``, an
    array under the name of the period, or is a column of the table with that name. Days are dates,
    without the time of day.

    Without a metric, rows are flagged as for "auc": those above the threshold at which recall less
    false-positive rate is largest, or fewer where the budget asks for it.

    Parameters
    ----------
    alerts : int, or dict of them by team
        Largest number of rows that are predicted positive in a period.
    per : str
        Name of the column with the period of each row.
    by : str, optional
        Name of the column with the team of each row, where each team has a budget of its own.

    Examples
    --------
    >>> from directrix.metrics import Budget
    >>> Budget(200, per="day").label
    'at most 200 alerts a day'
    >>> Budget({"A": 120, "B": 80}, per="day", by="team").label
    'at most 120 alerts a day for A, 80 for B'
    """

    alerts: int | Mapping[Any, int]
    per: str = "day"
    by: str | None = None

    def __post_init__(self) -> None:
        of_teams = isinstance(self.alerts, Mapping)
        if of_teams != (self.by is not None) or (of_teams and not self.alerts):
            msg = (
                "a budget is one number, or a dict of numbers by team together with by=, as in "
                f'Budget({{"A": 120, "B": 80}}, by="team"): not {self}'
            )
            raise ValueError(msg)
        for number in self.by_team.values():
            given: Any = number
            whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
            if not whole or given < 0:
                msg = f"a budget is a whole number of alerts, 0 or more, not {number!r}"
                raise ValueError(msg)

    @property
    def by_team(self) -> dict[Any, int]:
        """Alerts of each team; of None, if there are no teams."""
        return dict(self.alerts) if isinstance(self.alerts, Mapping) else {None: self.alerts}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the budget needs in a fit."""
        return (self.per,) if self.by is None else (self.per, self.by)

    @property
    def label(self) -> str:
        """The budget in words."""
        teams = [f"{number:,}" for number in self.by_team.values()]
        if self.by is not None:
            names = zip(teams, self.by_team, strict=True)
            teams = [f"{number} for {team}" for number, team in names]
            teams[0] = teams[0].replace(" for", f" alerts a {self.per} for")
            return f"at most {', '.join(teams)}"
        return f"at most {teams[0]} alerts a {self.per}"

    def kept(self, scores: FloatArray, periods: Periods, share: float) -> KeptBudget:
        """Return the thresholds at which a share of new days stays within the budget.

        Parameters
        ----------
        scores : array of shape (n,)
            Of rows that neither fitted nor chose the model; rows above a threshold are alerts.
        periods : Periods
        share : float
        """
        thresholds = []
        n_days = int(periods.day.max()) + 1
        for number, (team, alerts) in enumerate(self.by_team.items()):
            inside = slice(None) if periods.team is None else periods.team == number
            of_days = day_thresholds(scores[inside], periods.day[inside], n_days, alerts)
            thresholds.append((team, order_threshold(of_days, share)))
        kept = KeptBudget(self, share, n_days, tuple(thresholds), ())
        return kept.counted(scores, periods)


class Periods(NamedTuple):
    """The day of each row as a number, and its team as its position in the budget."""

    day: IntArray
    team: IntArray | None = None

    @classmethod
    def of(cls, budget: Budget, given: Mapping[str, Any], n_rows: int) -> Periods:
        """Return the days and teams of rows, from columns by name; days are numbered."""
        values = _column(budget.per, given, n_rows)
        if budget.per == "day":
            _refuse_times(values)
        day = np.unique(values, return_inverse=True)[1]
        if budget.by is None:
            return cls(day.astype(np.int64))
        return cls(day.astype(np.int64), team_numbers(budget, given[budget.by], n_rows))

    def take(self, index: Any) -> Periods:
        """Return the days and teams of some rows; days are renumbered."""
        day = np.unique(self.day[index], return_inverse=True)[1].astype(np.int64)
        return Periods(day, None if self.team is None else self.team[index])


def team_numbers(budget: Budget, teams: Any, n_rows: int) -> IntArray:
    """Return the team of each row as its position in the budget; refuse one without a budget."""
    names = _column(str(budget.by), {str(budget.by): teams}, n_rows)
    known = {team: number for number, team in enumerate(budget.by_team)}
    unknown = [name for name in dict.fromkeys(names.tolist()) if name not in known]
    if unknown:
        msg = f"{budget.by} {unknown[0]!r} has no budget: there are {', '.join(map(repr, known))}"
        raise ValueError(msg)
    return np.array([known[name] for name in names.tolist()], dtype=np.int64)


def _refuse_times(values: AnyArray) -> None:
    """Raise ValueError for times within days: each of them would count as a day."""
    if values.dtype.kind == "M":
        within = values != values.astype("datetime64[D]")
    else:
        within = np.array(
            [isinstance(value, datetime) and value.time() != time.min for value in values.tolist()],
            dtype=bool,
        )
    if within.any():
        msg = (
            f"day has times within days, such as {values[np.argmax(within)]}, and each would count "
            "as a day: give the date of each row (of pandas, day.dt.normalize(); of polars, "
            "day.dt.date())"
        )
        raise ValueError(msg)


def _column(name: str, given: Mapping[str, Any], n_rows: int) -> AnyArray:
    values: AnyArray = np.asarray(given[name])
    if values.shape != (n_rows,):
        msg = f"{name} must have one value for each of {n_rows} rows, not {shape_text(values)}"
        raise ValueError(msg)
    missing = values != values  # noqa: PLR0124 - NaN and NaT are not equal to themselves
    if np.any(missing) or any(value is None for value in values.tolist()):
        msg = f"{name} has missing values: leave those rows out"
        raise ValueError(msg)
    return values


def day_thresholds(scores: FloatArray, day: IntArray, n_days: int, alerts: int) -> FloatArray:
    """Return, for each day, the lowest threshold that raises no more alerts than allowed.

    That is its score number ``alerts + 1`` from above: rows above it are alerts, rows tied with it
    are not. Days of no more rows than that keep the budget at any threshold.
    """
    order = np.lexsort((-scores, day))
    starts = np.searchsorted(day[order], np.arange(n_days + 1))
    found = np.full(n_days, -np.inf)
    enough = np.diff(starts) > alerts
    found[enough] = scores[order[starts[:-1][enough] + alerts]]
    return found


def order_threshold(thresholds: Sequence[float] | FloatArray, share: float) -> float:
    r"""Return the threshold at which a share of new days stays within the budget.

    .. math:: t_{(k)}, \qquad k = \lfloor (1 - c) (D + 1) \rfloor

    the k-th highest of the thresholds of D days. A new day breaks the budget if its own threshold
    is higher, and it is as likely to have any rank among the D + 1 as any other day: with
    probability :math:`k / (D + 1) \le 1 - c`, less with ties.

    Raises FewDaysError if there are fewer than :math:`1 / (1 - c) - 1` days.
    """
    n_days = len(thresholds)
    k = int(np.floor((1.0 - share) * (n_days + 1) + _ROUNDING))
    if k < 1:
        raise FewDaysError(n_days, days_needed(share), share)
    return float(np.sort(thresholds)[-k])


def days_needed(share: float) -> int:
    """Return the fewest days with which a budget can be kept on a share of new days."""
    return int(np.ceil(1.0 / (1.0 - share) - 1.0 - _ROUNDING))


@dataclass(frozen=True)
class KeptBudget:
    """Thresholds that keep a budget on a share of new days.

    Parameters
    ----------
    budget : Budget
    share : float
        Share of new days on which each team keeps its budget.
    days : int
        Days that set the thresholds.
    thresholds : tuple of pairs
        Each team, or None, and the score above which its rows are alerts.
    used : tuple of float
        Mean number of alerts of each team on a day, on the days that set the thresholds.
    """

    budget: Budget
    share: float
    days: int
    thresholds: tuple[tuple[Any, float], ...]
    used: tuple[float, ...]

    @property
    def lowest(self) -> float:
        """The lowest of the thresholds."""
        return min(value for _, value in self.thresholds)

    def counted(self, scores: FloatArray, periods: Periods) -> KeptBudget:
        """Return the thresholds with the mean number of alerts of each team on these days."""
        above = scores > self.of_rows(periods.team, len(scores))
        team = np.zeros(len(scores), dtype=np.int64) if periods.team is None else periods.team
        totals = np.bincount(team[above], minlength=len(self.thresholds))
        return replace(self, used=tuple((totals / self.days).tolist()))

    def moved(self, by: float, factor: float = 1.0) -> KeptBudget:
        """Return the thresholds for scores less a number, divided by a factor."""
        moved = tuple((team, (value - by) / factor) for team, value in self.thresholds)
        return replace(self, thresholds=moved)

    def at_least(self, threshold: float) -> KeptBudget:
        """Return thresholds that are no lower than another one."""
        raised = tuple((team, max(value, threshold)) for team, value in self.thresholds)
        return replace(self, thresholds=raised)

    def of_rows(self, team: IntArray | None, n_rows: int) -> FloatArray:
        """Return the threshold of each row; ``team`` as in `Periods`."""
        values = np.array([value for _, value in self.thresholds])
        return np.full(n_rows, values[0]) if team is None else values[team]

    def __str__(self) -> str:
        used = ", ".join(f"{number:.4g}" for number in self.used)
        return (
            f"{self.budget.label} on {100 * self.share:g} % of new {self.budget.per}s "
            f"(thresholds from {self.days} {self.budget.per}s, with {used} alerts in the mean)"
        )
