"""Records of a summary store: what was added to a day and subtracted from it, in one step."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, astuple, dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from directrix.exceptions.files import StoreFileError

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

    Parameters
    ----------
    stream : str
    sign : int
        1 or −1.
    digest : str
        Hash of the summary.
    """

    stream: str
    sign: int
    digest: str


@dataclass(frozen=True)
class Record:
    """One step in the life of a day.

    The file name of a record holds the day, a hash of its key and a hash of its changes, so that
    these never change under its name.

    Parameters
    ----------
    day : str
        ISO date.
    key : str
        Identity of the step: a step that is repeated with the same key and changes counts once.
    changes : tuple of Change
    replaces : tuple of str
        Names of records that no longer count.
    keys : dict
        Hashes of the changes by the keys of replaced records, so that a step which is repeated
        after compaction still counts once.
    note : str
        Reason, for the audit trail.
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

    Parameters
    ----------
    name : str
        Name of the file.
    content : bytes
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
