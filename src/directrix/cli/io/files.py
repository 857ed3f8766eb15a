"""Files that directrix wrote: telling summaries from models, and reading them."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from directrix.cli.output.errors import UsageError

if TYPE_CHECKING:
    from directrix.moments import Moments

#: Bytes of a file in which the name of its format is searched.
_HEADER_BYTES = 1 << 20
#: Names of the formats, as headers have them, and what the command line calls the files.
_FORMATS = {"directrix.moments": "summary", "directrix.model": "model"}


def file_type(path: str) -> str | None:
    """Return "summary" or "model", or None for any other file, by its first bytes."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        header = file.read(_HEADER_BYTES)
    # The name of the format is within a text in the JSON of the header.
    return next((name for key, name in _FORMATS.items() if key.encode() in header), None)


def load_summary(path: str) -> Moments:
    """Read a summary; raise an error that says what the file is instead."""
    from directrix.moments import Moments

    _require_file(path)
    if file_type(path) == "model":
        msg = f"{path} is a model, and this needs a summary: make one with directrix summarize"
        raise UsageError(msg)
    return Moments.load(path)


def load_model(path: str) -> Any:
    """Read a model; raise an error that says what the file is instead."""
    from directrix.export import load

    _require_file(path)
    if file_type(path) == "summary":
        msg = f"{path} is a summary, and this needs a model: make one with directrix fit"
        raise UsageError(msg)
    return load(path)


def matching_paths(given: str) -> list[str]:
    """Return the path itself if it exists, else the files that it matches as a pattern."""
    if Path(given).exists():
        return [given]
    matches = glob(given, recursive=True) if any(c in given for c in "*?[") else []  # noqa: PTH207
    # By convention such names are not data, as Spark's _SUCCESS.
    return sorted(path for path in matches if not Path(path).name.startswith(("_", ".")))


def _require_file(path: str) -> None:
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give the path of a file that directrix wrote"
        raise UsageError(msg)
