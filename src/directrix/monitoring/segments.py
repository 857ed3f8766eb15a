"""SegmentMonitor: the days of each segment of the rows, with one rate of false alarms for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from directrix._printing import html_table, text_table
from directrix.metrics.segments import InEverySegment
from directrix.monitoring.day_check import ALARM_RATE, DRIFT, DayCheck, exact_interval
from directrix.monitoring.day_check import effective_rows as effective_counts
from directrix.monitoring.day_summaries import DaySummaries, summarize_day
from directrix.monitoring.monitor import Monitor
from directrix.rows.labels import numbered_names, ordered_names

if TYPE_CHECKING:
    from directrix.moments import ScoreHistogram


def summarize_segments(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, segment: Any
) -> dict[Any, DaySummaries]:
    """Summarise the rows of a day in each segment; see `summarize_day`.

    Parameters
    ----------
    model, X, y, sample_weight : as in `summarize_day`
    segment : array of shape (n,)
        Segment of each row, such as a country.

    Returns
    -------
    dict of DaySummaries by segment
    """
    names, number = numbered_names(segment)
    made = {}
    for position, name in enumerate(names):
        rows = np.flatnonzero(number == position)
        beside = (None if each is None else np.asarray(each)[rows] for each in (y, sample_weight))
        made[name] = summarize_day(model, _take(X, rows), *beside)
    return made


def _take(X: Any, rows: Any) -> Any:
    """Return some rows of a table of any library."""
    return X.take(rows) if hasattr(X, "column_names") else _safe_indexing(X, rows)


class BrokenLimit(NamedTuple):
    """A limit that labelled rows of a segment have broken, beyond what chance explains.

    Parameters
    ----------
    segment : object
    rate : str
        "fpr", "alerts" or "recall".
    limit, realised : float
    """

    segment: Any
    rate: str
    limit: float
    realised: float

    def __str__(self) -> str:
        sign = ">=" if self.rate == "recall" else "<="
        limit = f"{self.rate} {sign} {self.limit:g}"
        return f"{self.segment}: {self.rate} {self.realised:.4f}, and the limit is {limit}"


@dataclass(frozen=True)
class SegmentChecks:
    """What the rows of a day tell of a model in each segment; for ``print`` and notebooks.

    Parameters
    ----------
    day : str or None
    checks : dict of DayCheck by segment
        Each against the reference days of its own segment. Their ``alarm_rate`` is that of all
        segments divided by the number of tests.
    broken : tuple of BrokenLimit
        Limits of the model in every segment that this day's labels show to be broken.
    unwatched : tuple
        Segments without labelled reference rows of both classes.
    alarm_rate : float
        Probability of a false alarm in any segment on a day.
    """

    day: str | None
    checks: Mapping[Any, DayCheck]
    broken: tuple[BrokenLimit, ...]
    unwatched: tuple[Any, ...]
    alarm_rate: float

    @property
    def drifted(self) -> tuple[Any, ...]:
        """Segments whose classes have drifted."""
        return tuple(name for name, check in self.checks.items() if check.verdict == DRIFT)

    @property
    def alarm(self) -> bool:
        """Whether a segment has drifted, or a limit is broken in one."""
        return bool(self.drifted or self.broken)

    @property
    def notes(self) -> list[str]:
        """Broken limits, and what is not watched; a line each."""
        notes = [f"limit broken in {each}" for each in self.broken]
        if self.unwatched:
            names = ", ".join(map(str, self.unwatched))
            notes.append(f"not watched, for lack of labelled reference rows: {names}")
        notes.append(f"a false alarm in any segment: on at most {self.alarm_rate:.10g} of days")
        return notes

    def table(self) -> list[tuple[str, ...]]:
        """Return the checks as rows of texts with a header, those of least p-value first."""
        header = ("segment", "rows", "verdict", "p-value", "prevalence", "alerts", "expected")
        ordered = sorted(self.checks.items(), key=lambda item: item[1].p_value)
        rows = []
        for name, check in ordered:
            share, low, high = check.prevalence[:3]
            alerts = check.alerts
            rows.append(
                (
                    str(name),
                    f"{check.n_rows:,.0f}",
                    check.verdict,
                    f"{check.p_value:.2g}",
                    f"{share:.2%} ({low:.2%} to {high:.2%})",
                    f"{alerts.observed:,.0f}",
                    f"{alerts.expected:,.0f} ({alerts.low:,.0f} to {alerts.high:,.0f})",
                )
            )
        return [header, *rows]

    def to_dict(self) -> dict[str, Any]:
        """Return all checks and verdicts for JSON."""
        return {
            "day": self.day,
            "alarm": self.alarm,
            "alarm_rate": self.alarm_rate,
            "drifted": list(self.drifted),
            "broken": [each._asdict() for each in self.broken],
            "unwatched": list(self.unwatched),
            "checks": [{"segment": name} | check.to_dict() for name, check in self.checks.items()],
        }

    def __str__(self) -> str:
        title = f"{self.day or 'day'}, by segment"
        return "\n".join([title, *text_table(self.table(), (0, 2)), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        return html_table(header, rows, "; ".join(self.notes))


class SegmentMonitor:
    r"""Checks the rows of a day in each segment against the reference days of that segment.

    A drift in one country is lost among the rows of all. Each segment has a `Monitor` of its own,
    and all of them share one rate of false alarms: with k tests each is made at a k-th of it
    (Bonferroni). Rates differ between segments by nature, so that a segment is compared with its
    own past, not with what the model promised of all rows. If the model was fitted with limits in
    every segment (`InEverySegment`), labelled days tell whether they still hold.

    Create it with `of_days`.

    Parameters
    ----------
    monitors : dict of Monitor by segment
    alarm_rate : float
        Probability of a false alarm in any segment on a day.
    limits : InEverySegment, optional
    unwatched : tuple
        Segments that cannot be watched.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import MomentClassifier
    >>> from directrix.monitoring import SegmentMonitor, summarize_segments
    >>> rng = np.random.default_rng(0)
    >>> def day(n, moved=0.0):
    ...     y, country = rng.random(n) < 0.1, rng.choice(["AT", "CH", "DE"], n)
    ...     X = rng.normal(size=(n, 2)) + y[:, None]
    ...     return X + moved * np.outer(country == "CH", [1, -1]), y, country
    >>> X, y, _ = day(4000)
    >>> model = MomentClassifier("recall@fpr=0.05").fit(X, y)
    >>> def summaries(X, y, country):
    ...     return summarize_segments(model, X, y, segment=country)
    >>> monitor = SegmentMonitor.of_days(model, [summaries(*day(4000)) for _ in range(10)])
    >>> monitor.check(summaries(*day(2000))).alarm
    False
    >>> monitor.check(summaries(*day(2000, moved=0.5))).drifted
    ('CH',)
    """

    def __init__(
        self,
        monitors: Mapping[Any, Monitor],
        *,
        alarm_rate: float = ALARM_RATE,
        limits: InEverySegment | None = None,
        unwatched: tuple[Any, ...] = (),
    ) -> None:
        self.monitors = dict(monitors)
        self.alarm_rate, self.limits, self.unwatched = alarm_rate, limits, unwatched

    @classmethod
    def of_days(
        cls,
        model: Any,
        days: Iterable[Mapping[Any, DaySummaries]],
        *,
        threshold: float | None = None,
        alarm_rate: float = ALARM_RATE,
    ) -> SegmentMonitor:
        """Take labelled days as the reference of their segments.

        Parameters
        ----------
        model : fitted classifier
        days : iterable of dict of DaySummaries by segment
            From `summarize_segments`, with labels.
        threshold : as in `Monitor.of_store`
        alarm_rate : float
            Probability of a false alarm in any segment on a day.
        """
        listed = list(days)
        by_segment = {
            name: [day[name] for day in listed if name in day]
            for name in ordered_names(name for day in listed for name in day)
        }
        known = {name: of_days for name, of_days in by_segment.items() if _has_both(of_days)}
        if not known:
            msg = "no segment has labelled reference rows of both classes"
            raise ValueError(msg)
        limits = getattr(model, "limits", None)
        limits = limits if isinstance(limits, InEverySegment) else None
        tests = len(known) * (1 if limits is None else 1 + len(limits.limits))
        monitors = {}
        for name, of_days in known.items():
            made = Monitor.of_days(
                model, of_days, threshold=threshold, alarm_rate=alarm_rate / tests
            )
            made.operating_point = None  # its rates are those of all rows
            monitors[name] = made
        unwatched = tuple(name for name in by_segment if name not in known)
        return cls(monitors, alarm_rate=alarm_rate, limits=limits, unwatched=unwatched)

    def check(self, day: Mapping[Any, DaySummaries], when: Any = None) -> SegmentChecks:
        """Check the rows of a day in each segment that has some.

        Parameters
        ----------
        day : dict of DaySummaries by segment
            From `summarize_segments`, with or without labels.
        when : date or str, optional
            Date of the day, for the report.

        Returns
        -------
        SegmentChecks
        """
        watched = {
            name: each
            for name, each in day.items()
            if name in self.monitors and each.scores.weight.sum() > 0
        }
        checks = {name: self.monitors[name].check(each, when) for name, each in watched.items()}
        broken = [
            limit for name, each in watched.items() for limit in self._broken(name, each.scores)
        ]
        unwatched = ordered_names([*self.unwatched, *(n for n in day if n not in self.monitors)])
        shown = next((check.day for check in checks.values()), None)
        return SegmentChecks(shown, checks, tuple(broken), unwatched, self.alarm_rate)

    def _broken(self, name: Any, scores: ScoreHistogram) -> list[BrokenLimit]:
        """Return limits outside the interval of a segment's labelled rows."""
        if self.limits is None or len(scores.classes) != 2 or not scores.weight.all():
            return []
        monitor = self.monitors[name]
        above, total = scores.weight_above(monitor.threshold), scores.weight
        counts = np.array(effective_counts(scores))
        shares = {
            "fpr": (above[0] / total[0], counts[0]),
            "recall": (above[1] / total[1], counts[1]),
            "alerts": (above.sum() / total.sum(), counts.sum()),
        }
        found = []
        for rate, limit in self.limits.limits.items():
            share, n_rows = map(float, shares[rate])
            low, high = exact_interval(share, n_rows, 1.0 - 2.0 * monitor.alarm_rate)
            if high < limit if rate == "recall" else low > limit:
                found.append(BrokenLimit(name, rate, limit, share))
        return found


def _has_both(days: Iterable[DaySummaries]) -> bool:
    """Return whether days have labelled rows of both classes."""
    labelled = [day.scores.weight for day in days if len(day.scores.classes) == 2]
    return bool(labelled) and bool(np.sum(labelled, axis=0).all())
