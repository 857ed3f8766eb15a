"""Tomorrow's threshold for a budget of alerts, from the score histograms of the last days.

No labels are needed. How many rows there will be above each threshold is forecast from the days
before, with the volume of the weekday; how far such forecasts were off on past days says how many
alerts may be aimed at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.estimators.threshold import ThresholdClassifier
from directrix.metrics import ScoreHistogram
from directrix.metrics.budget import Budget, KeptBudget, days_needed, order_threshold
from directrix.monitoring.decay import as_day
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray

#: Days after which a day counts half in a forecast.
_HALF_LIFE = 7.0
#: Days before the first forecast: two of each weekday.
_WARM_UP = 14
#: Last days whose forecasts are judged, at most.
_JUDGED = 99
#: Weeks that the volume of a weekday is a mean of, at most.
_WEEKS = 8
_SHARE = 0.95
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class TeamMove(NamedTuple):
    """The threshold of a team for a day, and the alerts to expect with it and with the old one.

    Thresholds are differences of scores to the threshold of the model that was given; ``team`` is
    None if there are no teams.
    """

    team: Any
    before: float
    after: float
    alerts_before: float
    alerts_after: float


@dataclass(frozen=True)
class BudgetMove:
    """A model with the threshold of a day for a budget, and what it changes; print it.

    Parameters
    ----------
    model : fitted classifier
        A copy of the model with the new threshold.
    budget : Budget
    share : float
        Share of days on which the budget is to be kept.
    when : date
        The day that the threshold is for.
    days : int
        Days that it was set by.
    weekdays : bool
        Whether the volume of weekdays was known; otherwise the threshold is the order statistic
        of the days' own thresholds.
    teams : tuple of TeamMove
    """

    model: Any
    budget: Budget
    share: float
    when: date
    days: int
    weekdays: bool
    teams: tuple[TeamMove, ...]

    def __str__(self) -> str:
        how = "forecasts by weekday" if self.weekdays else "the highest thresholds of days"
        on = f"on {100 * self.share:g} % of days, by {how} from {self.days} {self.budget.per}s"
        lines = [f"{self.budget.label}, {on}"]
        for move in self.teams:
            team = "" if move.team is None else f" for {move.team}"
            by = move.after - move.before
            moves = f"moves by {by:+.4g}" if by else "stays"
            after = f"{move.alerts_after:.0f}"
            stayed = f", and {move.alerts_before:.0f} if it stayed" if by else ""
            lines.append(
                f"on {_WEEKDAYS[self.when.weekday()]}, {self.when}, the threshold{team} {moves}: "
                f"expect {after} alert{'' if after == '1' else 's'}{stayed}"
            )
        return "\n".join(lines)


def keep_budget(
    model: Any,
    scores: Mapping[Any, Any],
    budget: Budget | None = None,
    *,
    guarantee: float | None = None,
    when: Any = None,
) -> BudgetMove:
    """Move the threshold of a model so that tomorrow keeps a budget of alerts.

    The share of positives and the number of rows may have changed since the fit: neither labels
    nor a new fit are needed. With 33 days or more, the rows above each threshold are forecast by
    the last days, recent ones first, and by the volume of the weekday, and past forecasts tell how
    far below the budget to aim; with fewer, the threshold is the order statistic of the days.

    Parameters
    ----------
    model : fitted classifier of this library, of two classes
    scores : dict of ScoreHistogram by day; for teams, a dict of these by team
        Scores of the days, with or without labels, as `summarize_day` counts them. Histograms of
        ``model.expected_saving(...)``, where each row is decided about by its own costs.
    budget : Budget, optional
        By default the budget that the model was fitted for.
    guarantee : float, optional
        Share of days on which the budget is kept; by default that of the fit, or 0.95.
    when : date or str, optional
        The day; by default the one after the last.

    Returns
    -------
    BudgetMove
    """
    if not isinstance(model, ThresholdClassifier):
        msg = f"{type(model).__name__} has no threshold that could be moved"
        raise TypeError(msg)
    asked = getattr(model, "limits", None) if budget is None else budget
    if not isinstance(asked, Budget):
        msg = "there is no budget to keep: give budget=Budget(200), or fit with limits=Budget(200)"
        raise ValueError(msg)  # noqa: TRY004 - what is missing is a value
    share = getattr(model, "guarantee", None) if guarantee is None else guarantee
    share = _SHARE if share is None else share
    of_teams: Any = {None: scores} if asked.by is None else scores
    missing = [team for team in asked.by_team if team not in of_teams]
    if missing:
        msg = f"there are no scores of {asked.by} {missing[0]!r}: give a dict of days for each"
        raise ValueError(msg)
    days = {team: _Days.of(of_teams[team]) for team in asked.by_team}
    first = next(iter(days.values()))
    day = first.dates[-1] + timedelta(days=1) if when is None else as_day(when)
    present = model.operating_point_.budget
    before = {} if present is None else dict(present.thresholds)
    by_row = getattr(model.operating_point_.metric, "by_row", False)
    moves = []
    for team, alerts in asked.by_team.items():
        threshold = days[team].threshold(alerts, share, day)
        # Where rows are decided about by their costs, none is flagged at a loss.
        after = max(threshold, 0.0) if by_row else threshold
        old = before.get(team, 0.0)
        counts = (days[team].expected_above(each, day) for each in (old, after))
        moves.append(TeamMove(team, old, after, *counts))
    teams = tuple(moves)
    used = tuple(move.alerts_after for move in teams)
    thresholds = tuple((move.team, move.after) for move in teams)
    kept = KeptBudget(asked, share, len(first.dates), thresholds, used)
    changed = _with_thresholds(model, kept, by_row=by_row)
    return BudgetMove(changed, asked, share, day, len(first.dates), first.has_forecasts, teams)


def _with_thresholds(model: Any, kept: KeptBudget, *, by_row: bool) -> Any:
    """Return a copy of a model with other thresholds; its rates on new rows are not known."""
    point = replace(
        model.operating_point_,
        guarantee=str(kept),
        budget=kept,
        empirical=None,
        expected=None,
        intervals=None,
        money=None,
    )
    if by_row:
        return model.with_state(point, model.calibration_, model._held_out)  # noqa: SLF001
    lowest = kept.lowest
    point = replace(point, threshold=model.threshold_above(lowest), budget=kept.moved(lowest))
    return model.with_threshold(point)


@dataclass(frozen=True)
class _Days:
    """Days in their order, with the number of rows above each edge of the bins of their scores."""

    dates: list[date]
    edges: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, scores: Mapping[Any, Any]) -> _Days:
        """Count the rows of days without regard to labels."""
        found: dict[date, list[ScoreHistogram]] = {}
        for day, histogram in scores.items():
            if not isinstance(histogram, ScoreHistogram):
                msg = (
                    f"the scores of {day} are a ScoreHistogram, such as "
                    "ScoreHistogram.of_scores(None, model.decision_function(X)), not "
                    f"{type(histogram).__name__}"
                )
                raise TypeError(msg)
            found.setdefault(as_day(day), []).append(histogram.unlabelled())
        days = {day: tree_sum(found[day]) for day in sorted(found)}
        if not days:
            msg = "there are no days to set a threshold by"
            raise ValueError(msg)
        first = next(iter(days.values()))
        total: Any = tree_sum(list(days.values()))  # refuses scores of several models or units
        counts = np.stack([histogram.counts[0] for histogram in days.values()])
        above = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
        above = np.concatenate([above, np.zeros((len(days), 1))], axis=1)
        edges = total.edges.copy()
        edges[[0, -1]] = 2.0 * first.centers[[0, -1]] - edges[[1, -2]]
        return cls(list(days), edges, above)

    @property
    def has_forecasts(self) -> bool:
        """Whether past forecasts can be judged; it depends on the share, for the usual 95 %."""
        return len(self.dates) >= _WARM_UP + days_needed(_SHARE)

    def threshold(self, alerts: int, share: float, when: date) -> float:
        """Return the threshold for a day with which a budget is kept on a share of days."""
        own = self._own_edges(alerts)
        if len(self.dates) < _WARM_UP + days_needed(share):
            return order_threshold(self.edges[own], share)
        first = max(_WARM_UP, len(self.dates) - _JUDGED)
        # Where a day kept the budget at any threshold, no forecast of it was too low.
        ratios = [
            -np.inf if own[day] == 0 else -float(self._forecast(self.dates[day], day)[own[day]])
            for day in range(first, len(self.dates))
        ]
        # Forecasts at the days' own thresholds: the k-th lowest of them is safe to aim at.
        target = -order_threshold(ratios, share)
        expected = self._forecast(when, len(self.dates))
        return float(self.edges[int(np.argmax(expected <= target))])

    def expected_above(self, threshold: float, when: date) -> float:
        """Return how many rows above a threshold are to be expected on a day."""
        expected = self._forecast(when, len(self.dates))
        return float(np.interp(threshold, self.edges, expected))

    def _own_edges(self, alerts: int) -> IntArray:
        """Return for each day the index of the lowest edge with no more rows above."""
        own: IntArray = np.argmax(self.above <= alerts, axis=1)
        return own

    def _forecast(self, when: date, n_past: int) -> FloatArray:
        """Return the rows to expect above each edge on a day, from the first ``n_past`` days."""
        past = self.dates[:n_past]
        weekday = np.array([day.weekday() for day in past])
        volume = self._volumes(weekday, n_past)
        weight = 0.5 ** (np.array([(when - day).days for day in past]) / _HALF_LIFE)
        factor = weight * volume[when.weekday()] / volume[weekday]
        expected: FloatArray = factor @ self.above[:n_past] / weight.sum()
        return expected

    def _volumes(self, weekday: IntArray, n_past: int) -> FloatArray:
        """Return the mean number of rows of each weekday in the last weeks."""
        rows = self.above[:n_past, 0]
        volumes = np.full(7, max(float(rows.mean()), 1.0))
        for number in range(7):
            last = rows[weekday == number][-_WEEKS:]
            if len(last) and last.mean() > 0:
                volumes[number] = last.mean()
        return volumes
