"""Steps of a summary store: summaries that are added to a day and subtracted from it, as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from directrix._typing import AnyArray
from directrix.exceptions.files import MomentsFileError, StoreFileError
from directrix.moments import Moments, ScoreHistogram, Summary
from directrix.moments.storage import read_parts
from directrix.monitoring.records import Change, checked_stream, short_hash
from directrix.tables import BinCounts

#: Type of a summary by the format of its file, and the name of its stream.
_TYPES: dict[str, tuple[type[Any], str]] = {
    "directrix.moments": (Moments, "moments"),
    "directrix.bin_counts": (BinCounts, "counts"),
    "directrix.score_histogram": (ScoreHistogram, "scores"),
}

Summaries = Summary | Iterable[Summary] | Mapping[str, Summary]


@dataclass(frozen=True)
class Step:
    """Summaries by stream that are added to a day and subtracted from it.

    Parameters
    ----------
    added, subtracted : dict of summaries by stream
    """

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
    """Return summaries by stream, in the order of the streams' names.

    Parameters
    ----------
    summaries : summary, list of summaries, or dict of summaries by stream
    """
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
    """Return the name of the stream that a summary belongs to by its type and labels.

    Parameters
    ----------
    summary : Moments, BinCounts or ScoreHistogram
    """
    for summary_type, name in _TYPES.values():
        if isinstance(summary, summary_type):
            unlabelled = summary.classes.tolist() == [None]
            return f"unlabelled-{name}" if unlabelled else name
    msg = f"a store keeps Moments, BinCounts and ScoreHistogram, not {type(summary).__name__}"
    raise TypeError(msg)


def load_summary(path: Path, change: Change) -> Any:
    """Return the summary in the file of a change, or raise StoreFileError.

    Parameters
    ----------
    path : Path
    change : Change
        The summary must have its hash.
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
