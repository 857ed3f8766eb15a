"""SummaryStore: a folder of daily summaries that several processes may write and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from directrix.exceptions.files import StoreConflictError, StoreFileError
from directrix.moments import Summary
from directrix.monitoring.folder import open_folder
from directrix.monitoring.records import (
    Record,
    Step,
    Summaries,
    by_stream,
    day_of,
    is_record,
    is_summary,
    load_summary,
    parse,
    short_hash,
)
from directrix.rows.sums import tree_sum

# ── Which days a store keeps: those of the last ``keep_days`` days before its latest one ──────────

#: A day so many days after the latest one is taken for a mistyped year if it would remove all
#: others. A store that was not used for some months may go on.
_A_YEAR = 365


def is_span(days: Any) -> bool:
    """Return whether a number of days to keep is valid; None keeps all."""
    return days is None or (type(days) is int and days >= 1)


def expired(days: list[date], keep_days: int | None) -> list[date]:
    """Return the days that are too old.

    ``days`` are in order.
    """
    if keep_days is None:
        return []
    return [day for day in days if days[-1] - day >= timedelta(days=keep_days)]


def require_other_days_kept(day: date, days: list[date], keep_days: int | None) -> None:
    """Raise ValueError for a day that is mistyped, it seems, and would remove all others.

    ``day`` is to be added. ``days`` are those of the store, in order.
    """
    if keep_days is None or not days:
        return
    if day - days[-1] >= timedelta(days=max(keep_days, _A_YEAR)):
        msg = (
            f"{day} would remove all other days, of which the last is {days[-1]}, because the "
            f"store keeps {keep_days} days: check the date, or begin another store"
        )
        raise ValueError(msg)


# ── Forgetting: sums of daily summaries whose weights fall with their age ─────────────────────────

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


# ── SummaryStore: a folder of daily summaries that several processes may write and read ───────────

_MANIFEST = "manifest.json"
_FORMAT, _VERSION = "directrix.store", 1
#: Seconds after which a partial file, or a summary without a record, is that of a killed writer.
_ABANDONED = 3600.0
#: Readings of a folder before a file that vanishes again and again is an error.
_ATTEMPTS = 8


class SummaryStore:
    """A folder of daily summaries: moments, bin counts and score histograms.

    Each step, such as adding a day or correcting it, is one record that appears in the folder in
    one step, after the summary files that it names. So a reader sees all of a step or nothing, a
    process that is killed leaves the store as it was, and a step that is repeated counts once.
    The days are what the folder lists: no file is ever rewritten by two processes.

    A store has streams, one summary of a kind for each day: ``moments``, ``counts`` and ``scores``
    for labelled rows, ``unlabelled-moments`` and so on for rows without labels. A dict names other
    streams, such as the scores of a second model: ``store.add(day, {"challenger": scores})``.

    Parameters
    ----------
    address : str or path
        A local folder, created if needed, or an fsspec address such as ``s3://bucket/store``.
    keep_days : int, optional
        Days to keep, counted back from the latest one; older days are removed when days are added.
        It is stored in the folder when that is created.
    storage_options : dict, optional
        For fsspec.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from directrix import Moments
    >>> from directrix.monitoring import SummaryStore
    >>> with TemporaryDirectory() as folder:
    ...     store = SummaryStore(folder)
    ...     first = store.add("2026-01-01", Moments.of([[0.0], [1.0]], [0, 1]))
    ...     again = store.add("2026-01-01", Moments.of([[0.0], [1.0]], [0, 1]))
    ...     second = store.add("2026-01-02", Moments.of([[2.0], [5.0]], [0, 1]))
    ...     print(first, again, store.total("moments"))
    True False <Moments: 4 rows; 1 features; classes {0: 2, 1: 2}>
    """

    def __init__(
        self,
        address: Any,
        *,
        keep_days: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        self.address = str(address)
        self._folder = open_folder(address, storage_options)
        self._known: dict[str, Record] = {}
        self.keep_days = self._open_manifest(keep_days)

    def add(
        self, day: Any, summaries: Summaries, *, key: str | None = None, note: str = ""
    ) -> bool:
        """Add summaries of rows to a day; return False if that was done before.

        Parameters
        ----------
        day : date or str
        summaries : summary, list of summaries, or dict of summaries by stream
        key : str, optional
            Identity of these rows within the day, such as the name of a file or of a batch. By
            default the names of the streams: a stream of a day is then added as a whole, once.
        note : str
            Kept in the record.

        Raises
        ------
        StoreConflictError
            If the day has other summaries with this key, or, without a key, if one of the streams
            was added as a whole together with others.
        """
        step = Step(by_stream(summaries))
        if not step.added:
            msg = "there is no summary to add"
            raise ValueError(msg)
        return self._commit(day, "+".join(step.added) if key is None else key, step, note)

    def correct(
        self,
        day: Any,
        *,
        subtract: Summaries = (),
        add: Summaries = (),
        key: str | None = None,
        note: str = "",
    ) -> bool:
        """Subtract rows from a day and add rows to it in one step; return False if done before.

        For late labels: subtract the rows without labels, or with the wrong ones, and add them
        with the right ones. The subtracted summaries are kept beside the others until `compact`.

        Parameters
        ----------
        day : date or str
        subtract, add : summary, list of summaries, or dict of summaries by stream
        key : str, optional
            Identity of the correction; by default as in `add`, if there are summaries to add.
        note : str
            Reason, kept in the record.
        """
        step = Step(by_stream(add), by_stream(subtract))
        if not (step.added or step.subtracted):
            msg = "there is nothing to subtract or to add"
            raise ValueError(msg)
        if key is None and not step.added:
            msg = "rows that are only subtracted need a key"
            raise ValueError(msg)
        return self._commit(day, "+".join(step.added) if key is None else key, step, note)

    def days(self, stream: str | None = None) -> list[date]:
        """Return the days of a stream, or of any, in order."""
        records = self._records()
        return sorted(
            {
                day_of(record.day)
                for record in records
                if any(stream in (None, change.stream) for change in record.changes)
            }
        )

    def streams(self) -> list[str]:
        """Return the names of all streams, sorted."""
        return sorted({change.stream for record in self._records() for change in record.changes})

    def get(self, day: Any, stream: str = "moments") -> Any:
        """Return the summary of a day.

        Parameters
        ----------
        day : date or str
        stream : str
        """
        return self.read(stream, since=day, until=day)[as_day(day)]

    def read(
        self, stream: str = "moments", *, since: Any = None, until: Any = None
    ) -> dict[date, Any]:
        """Return the summaries of a stream by day, in order.

        Parameters
        ----------
        stream : str
        since, until : date or str, optional
            First and last day.
        """
        first = date.min if since is None else as_day(since)
        last = date.max if until is None else as_day(until)
        days = self._signed(stream, first, last)
        if not days:
            msg = (
                f"the store has no summaries {stream!r} in these days; its streams are "
                f"{', '.join(self.streams()) or 'none'}"
            )
            raise LookupError(msg)
        return {day: _difference(days[day]) for day in sorted(days)}

    def total(self, stream: str = "moments", *, since: Any = None, until: Any = None) -> Any:
        """Return the sum of the days of a stream; the parameters are those of `read`."""
        return tree_sum(list(self.read(stream, since=since, until=until).values()))

    def decayed(
        self, stream: str = "moments", *, half_life: float = 30.0, until: Any = None
    ) -> Any:
        """Return the sum of the days of a stream, with weights that halve every ``half_life`` days.

        The parameters are those of `directrix.monitoring.decayed`.
        """
        return decayed(self.read(stream, until=until), half_life=half_life, until=until)

    def history(self, day: Any = None) -> list[Record]:
        """Return the records of a day, or of all days: keys, changes and notes."""
        chosen = None if day is None else as_day(day)
        return [record for record in self._records() if chosen in (None, day_of(record.day))]

    def compact(self, day: Any) -> None:
        """Replace the records of a day by one, so that subtracted rows leave no trace.

        The keys are kept: a step that is repeated afterwards still counts once.

        Parameters
        ----------
        day : date or str
        """
        with self._folder.locked():
            self._sweep()
            old = self.history(day)
            if len(old) < 2:
                return
            streams = sorted({change.stream for record in old for change in record.changes})
            step = Step({stream: self.get(day, stream) for stream in streams})
            names = tuple(record.name for record in old)
            key = f"compacted {short_hash(*(name.encode() for name in names))}"
            note = "; ".join(dict.fromkeys(record.note for record in old if record.note))
            self._write(Record(old[0].day, key, step.changes, names, _keys(old), note), step)
            self._sweep()

    def remove_day(self, day: Any) -> None:
        """Remove all summaries of a day, in one step."""
        with self._folder.locked():
            self._sweep()
            old = self.history(day)
            if old:
                names = tuple(record.name for record in old)
                key = f"removed {short_hash(*(name.encode() for name in names))}"
                self._write(Record(old[0].day, key, (), names), Step({}))
            self._sweep()

    def prune(self) -> None:
        """Remove days older than ``keep_days``, and what killed writers left behind."""
        for day in expired(self.days(), self.keep_days):
            self.remove_day(day)
        with self._folder.locked():
            self._sweep()
            used = {file for record in self._records() for file in record.files}
            left = {name for name in self._folder.names() if is_summary(name)} - used
            for name in (*left, *self._folder.partial_names()):
                if self._folder.age(name) > _ABANDONED:
                    self._folder.remove(name)

    def __repr__(self) -> str:
        days = self.days()
        span = f"{len(days)} days from {days[0]} to {days[-1]}" if days else "no days"
        return f"<SummaryStore {self.address}: {span}; streams {', '.join(self.streams()) or '-'}>"

    def _open_manifest(self, keep_days: int | None) -> int | None:
        """Return the days that the store keeps, after writing the manifest of a new store."""
        if not is_span(keep_days):
            msg = f"keep_days must be a number of days, at least one, not {keep_days!r}"
            raise ValueError(msg)
        with self._folder.locked():
            if _MANIFEST not in self._folder.names():
                content = {"format": _FORMAT, "version": _VERSION, "keep_days": keep_days}
                self._folder.write(_MANIFEST, json.dumps(content, indent=1).encode())
                return keep_days
        try:
            manifest = json.loads(self._folder.read(_MANIFEST))
            known = manifest["format"] == _FORMAT and manifest["version"] == _VERSION
            kept: int | None = manifest["keep_days"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            msg = f"it is not a manifest ({type(error).__name__}: {error})"
            raise StoreFileError(msg, _MANIFEST) from None
        if not known:
            msg = f"its format is {manifest['format']!r}, version {manifest['version']!r}"
            raise StoreFileError(msg, _MANIFEST)
        if not is_span(kept):
            msg = f"its keep_days is {kept!r}, not a number of days"
            raise StoreFileError(msg, _MANIFEST)
        return kept if keep_days is None else keep_days

    def _commit(self, day: Any, key: str, step: Step, note: str) -> bool:
        texts: dict[str, Any] = {"key": key, "note": note}
        for name, text in texts.items():
            if not isinstance(text, str):  # readers would refuse the record
                msg = f"the {name} of a step is text, not {text!r}"
                raise TypeError(msg)
        record = Record(str(as_day(day)), key, step.changes, note=note)
        with self._folder.locked():
            self._sweep()
            done = _keys(self.history(day))
            if done.get(key) == record.digest:
                return False
            clash = key if key in done else _clash(key, step, done)
            if clash is not None:
                raise StoreConflictError(record.day, clash)
            require_other_days_kept(as_day(day), self.days(), self.keep_days)
            self._require_fitting(as_day(day), step)
            self._write(record, step)
        if self.keep_days is not None:
            self.prune()
        return True

    def _require_fitting(self, day: date, step: Step) -> None:
        """Raise the error of a sum or difference that readers would meet."""
        for stream, summary in step.subtracted.items():
            self.get(day, stream) - summary
        for stream in {**step.subtracted, **step.added}:
            days = self.days(stream)
            if not days:
                continue
            known = day if day in days else days[-1]
            signed = self._signed(stream, known, known)[known]
            for sign, summaries in ((1, step.added), (-1, step.subtracted)):
                if stream in summaries:
                    signed[sign].append(summaries[stream])
            _difference(signed)

    def _write(self, record: Record, step: Step) -> None:
        """Write the summary files of a record and then the record itself."""
        for file, (_, content) in zip(record.files, step.parts, strict=True):
            self._folder.write(file, content)
        self._folder.write(record.name, record.text())

    def _sweep(self) -> None:
        """Remove records that no longer count, as a killed process may have left them."""
        records = [record for record in map(self._record, self._record_names()) if record]
        hidden = {name for record in records for name in record.replaces}
        gone = [record for record in records if record.name in hidden]
        # A record that only removes others goes after them.
        gone += [record for record in records if record.name not in hidden and not record.changes]
        for record in gone:
            # The summaries of a record go before it: what is left of a sweep that was killed has
            # a record, and the next sweep finds it.
            for name in (*record.files, record.name):
                self._folder.remove(name)
            self._known.pop(record.name, None)

    def _record_names(self) -> list[str]:
        return [name for name in self._folder.names() if is_record(name)]

    def _record(self, name: str) -> Record | None:
        """Return a record; None if it was removed since it was listed."""
        if name not in self._known:
            try:
                self._known[name] = parse(name, self._folder.read(name))
            except FileNotFoundError:
                return None
        return self._known[name]

    def _records(self) -> list[Record]:
        """Return the records that count, by day and name."""
        before = self._record_names()
        for _ in range(_ATTEMPTS):
            listed = self._record_names()
            found = {name: record for name in listed if (record := self._record(name))}
            hidden = {name for record in found.values() for name in record.replaces}
            # A listing is not a snapshot: it may miss both a record that is being removed and the
            # one that replaces it. So a record that has vanished must be replaced by one that is
            # there.
            if found.keys() | hidden >= {*before, *listed}:
                return [record for name, record in found.items() if name not in hidden]
            before = listed
        msg = "its records keep vanishing: another process seems to remove days all the time"
        raise StoreFileError(msg, self.address)

    def _signed(self, stream: str, first: date, last: date) -> dict[date, dict[int, list[Any]]]:
        """Return the summaries of a stream by day and sign."""
        loaded: dict[str, Any] = {}
        missing = ""
        for _ in range(_ATTEMPTS):
            days: dict[date, dict[int, list[Any]]] = {}
            try:
                for record in self._records():
                    day = day_of(record.day)
                    for missing, change in zip(record.files, record.changes, strict=True):
                        if change.stream != stream or not first <= day <= last:
                            continue
                        if missing not in loaded:
                            with self._folder.local_copy(missing) as path:
                                loaded[missing] = load_summary(path, change)
                        signed = days.setdefault(day, {1: [], -1: []})
                        signed[change.sign].append(loaded[missing])
            except FileNotFoundError:  # compacted or removed since the folder was listed
                continue
            return days
        msg = "a record names it, but there is no such file: restore it, or remove its day"
        raise StoreFileError(msg, missing)


def _keys(records: list[Record]) -> dict[str, str]:
    """Return hashes of the changes by the keys of all steps that were ever made of some records."""
    keys = {key: digest for record in records for key, digest in record.keys.items()}
    return keys | {record.key: record.digest for record in records}


def _clash(key: str, step: Step, done: dict[str, str]) -> str | None:
    """Return the key with which a stream was added as a whole, if this step would add it again."""
    if key != "+".join(step.added):
        return None
    return next((other for other in done if set(other.split("+")) & set(step.added)), None)


def _difference(signed: dict[int, list[Any]]) -> Any:
    """Return the sum of the summaries of sign 1 without those of sign −1."""
    total = tree_sum(signed[1])
    return total - tree_sum(signed[-1]) if signed[-1] else total
