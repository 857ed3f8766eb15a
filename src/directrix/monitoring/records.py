"""Steps of a summary store: summaries that are added to a day and subtracted from it, as files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from directrix._typing import AnyArray
from directrix.exceptions.files import MomentsFileError, StoreFileError
from directrix.files.layout import read_parts
from directrix.moments import Moments, ScoreHistogram, Summary
from directrix.tables import BinCounts

# ── Records of a summary store: what was added to a day and subtracted from it, in one step ───────

VERSION = 1
_FORMAT = "directrix.store_record"
_KEYS = {"changes", "checksum", "day", "format", "key", "keys", "note", "replaces", "version"}
_NAME = re.compile(r"\d{4}-\d{2}-\d{2}\.[0-9a-f]{16}\.[0-9a-f]{16}\.json", re.ASCII)
_FILE = re.compile(r"\d{4}-\d{2}-\d{2}\.[0-9a-f]{16}\.[0-9a-f]{16}\.\d+", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{16}")
_STREAM = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")


@dataclass(frozen=True)
class Change:
    """A summary that is added to a stream of a day, or subtracted from it.

    ``sign`` is 1 or −1. ``digest`` is the hash of the summary.
    """

    stream: str
    sign: int
    digest: str


@dataclass(frozen=True)
class Record:
    """One step in the life of a day.

    The file name of a record holds the day, a hash of its key and a hash of its changes, so that
    these never change under its name.

    ``day`` is an ISO date. ``key`` is the identity of the step: a step that is repeated with the
    same key and changes counts once. ``replaces`` are the names of records that no longer count.
    ``keys`` are the hashes of the changes by the keys of replaced records, so that a step which is
    repeated after compaction still counts once. ``note`` is the reason, for the audit trail.
    """

    day: str
    key: str
    changes: tuple[Change, ...]
    replaces: tuple[str, ...] = ()
    keys: dict[str, str] = field(default_factory=dict)
    note: str = ""

    @cached_property
    def digest(self) -> str:
        """Hash of the changes."""
        return short_hash(*(str(part).encode() for c in self.changes for part in astuple(c)))

    @cached_property
    def stem(self) -> str:
        """Beginning of the names of the record and of its summary files."""
        return f"{self.day}.{short_hash(self.key.encode())}.{self.digest}"

    @property
    def name(self) -> str:
        """File name of the record."""
        return f"{self.stem}.json"

    @property
    def files(self) -> tuple[str, ...]:
        """File names of the summaries, in the order of the changes."""
        return tuple(f"{self.stem}.{index}" for index in range(len(self.changes)))

    def text(self) -> bytes:
        """Return the record as JSON."""
        content = {"format": _FORMAT, "version": VERSION, **asdict(self)}
        content["checksum"] = _checksum(content)
        return json.dumps(content, sort_keys=True, indent=1).encode()


def short_hash(*parts: bytes) -> str:
    """Return the first 64 bits of a SHA-256 hash of some bytes, as text."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:16]


def is_record(name: str) -> bool:
    """Return whether a file name is that of a record."""
    return _NAME.fullmatch(name) is not None


def is_summary(name: str) -> bool:
    """Return whether a file name is that of a summary of a record."""
    return _FILE.fullmatch(name) is not None


def day_of(name: str) -> date:
    """Return the day that is in the name of a record or summary."""
    return date.fromisoformat(name[:10])


def checked_stream(stream: str) -> str:
    """Return the name of a stream, or raise ValueError."""
    if not _STREAM.fullmatch(stream):
        msg = (
            f"{stream!r} is not a name for a stream: use small letters, digits and -_. with a "
            "letter or digit first, at most 63 characters"
        )
        raise ValueError(msg)
    return stream


def parse(name: str, content: bytes) -> Record:
    """Return the record in a file, after checking all of it.

    ``name`` is the name of the file.
    """
    try:
        record = _record(json.loads(content))
    except StoreFileError as error:
        raise StoreFileError(error.reason, name) from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        msg = f"it is not a record ({type(error).__name__}: {error})"
        raise StoreFileError(msg, name) from None
    if record.name != name:
        msg = "its content does not match its name: it was renamed or changed"
        raise StoreFileError(msg, name)
    return record


def _record(values: Any) -> Record:
    if values["format"] != _FORMAT or values["version"] != VERSION:
        msg = f"it is of format {values['format']!r}, version {values['version']!r}"
        raise StoreFileError(msg)
    given = values.pop("checksum")
    if given != _checksum(values) or {*values, "checksum"} != _KEYS:
        msg = "its checksum is not that of its content: it is damaged"
        raise StoreFileError(msg)
    record = Record(
        str(date.fromisoformat(values["day"])),
        _text(values["key"]),
        tuple(_change(entry) for entry in values["changes"]),
        tuple(_text(other) for other in values["replaces"]),
        {key: _hash(digest) for key, digest in values["keys"].items()},
        _text(values["note"]),
    )
    if not all(is_record(other) and other.startswith(record.day) for other in record.replaces):
        msg = "it replaces what are not records of its day"
        raise StoreFileError(msg)
    return record


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _change(entry: Any) -> Change:
    change = Change(checked_stream(entry["stream"]), entry["sign"], _hash(entry["digest"]))
    if change.sign not in (1, -1) or asdict(change) != entry:
        msg = f"{entry} is not a change"
        raise ValueError(msg)
    return change


def _hash(value: Any) -> str:
    if not _HASH.fullmatch(value):
        msg = f"{value!r} is not a hash"
        raise ValueError(msg)
    return _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        msg = f"{value!r} is not text"
        raise TypeError(msg)
    return value


# ── Steps of a summary store: summaries added to a day and subtracted from it, as files ───────────

#: Type of a summary by the format of its file, and the name of its stream.
_TYPES: dict[str, tuple[type[Any], str]] = {
    "directrix.moments": (Moments, "moments"),
    "directrix.bin_counts": (BinCounts, "counts"),
    "directrix.score_histogram": (ScoreHistogram, "scores"),
}

Summaries = Summary | Iterable[Summary] | Mapping[str, Summary]


@dataclass(frozen=True)
class Step:
    """Summaries by stream that are added to a day and subtracted from it."""

    added: dict[str, Summary]
    subtracted: dict[str, Summary] = field(default_factory=dict)

    @cached_property
    def parts(self) -> tuple[tuple[Change, bytes], ...]:
        """Each change with the content of its summary file."""
        parts = []
        with TemporaryDirectory() as folder:
            path = Path(folder) / "summary"
            for sign, summaries in ((1, self.added), (-1, self.subtracted)):
                for stream, summary in summaries.items():
                    summary.save(path)
                    header, arrays, _ = read_parts(path, "summary")
                    change = Change(stream, sign, _digest(header, arrays))
                    parts.append((change, path.read_bytes()))
        return tuple(parts)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes alone."""
        return tuple(change for change, _ in self.parts)


def by_stream(summaries: Summaries) -> dict[str, Summary]:
    """Return summaries by stream, in the order of the streams' names."""
    if isinstance(summaries, Mapping):
        named = {checked_stream(stream): summary for stream, summary in summaries.items()}
    else:
        listed = [summaries] if isinstance(summaries, Summary) else list(summaries)
        named = {stream_of(summary): summary for summary in listed}
        if len(named) < len(listed):
            msg = "two summaries are of one stream: add them up, or name their streams by a dict"
            raise ValueError(msg)
    for summary in named.values():
        stream_of(summary)
    return dict(sorted(named.items()))


def stream_of(summary: Any) -> str:
    """Return the name of the stream that a summary belongs to by its type and labels."""
    for summary_type, name in _TYPES.values():
        if isinstance(summary, summary_type):
            unlabelled = summary.classes.tolist() == [None]
            return f"unlabelled-{name}" if unlabelled else name
    msg = (
        f"a store keeps Moments, BinCounts and ScoreHistogram, not {type(summary).__name__}: "
        "summarize_day(model, X) makes them of rows"
    )
    raise TypeError(msg)


def load_summary(path: Path, change: Change) -> Any:
    """Return the summary in the file of a change, or raise StoreFileError.

    The summary must have the hash of ``change``.
    """
    try:
        header, arrays, _ = read_parts(path, "summary")
        file_format = header.get("format") if isinstance(header, dict) else None
        if file_format not in _TYPES:
            msg = "it is not a summary"
            raise StoreFileError(msg, path.name)
        summary = _TYPES[file_format][0].load(path)
    except MomentsFileError as error:
        raise StoreFileError(error.reason, path.name) from None
    if _digest(header, arrays) != change.digest:
        msg = "it is another summary than the one that its record names"
        raise StoreFileError(msg, path.name)
    return summary


def _digest(header: dict[str, Any], arrays: dict[str, AnyArray]) -> str:
    """Return a hash of a summary that does not depend on the version of directrix that wrote it."""
    facts = {name: value for name, value in header.items() if name != "writer"}
    contents = {name: array.tobytes() for name, array in arrays.items()}
    if "binner" in contents:
        binner = json.loads(contents.pop("binner"))
        without = ("checksum", "writer")
        facts["binner"] = {name: binner[name] for name in binner if name not in without}
    ordered = [part for name in sorted(contents) for part in (name.encode(), contents[name])]
    return short_hash(json.dumps(facts, sort_keys=True).encode(), *ordered)
