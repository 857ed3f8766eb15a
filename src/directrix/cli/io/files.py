"""Summaries and models as files: which a file is, and reading it."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Any

from directrix.cli.output.errors import UsageError
from directrix.export import load
from directrix.moments import Moments

_HEADER = 1 << 20


def kind_of(path: str) -> str | None:
    """Return "summary" or "model", or None for anything else, by the beginning of a file."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        beginning = file.read(_HEADER)
    # The name of the format stands in a text within the JSON of the header.
    for kind in ("moments", "model"):
        if f"directrix.{kind}".encode() in beginning:
            return "summary" if kind == "moments" else kind
    return None


def summary_of(path: str) -> Moments:
    """Read a summary, or say what the file is instead."""
    _require_file(path)
    if kind_of(path) == "model":
        msg = f"{path} is a model, and this needs a summary: make one with directrix summarize"
        raise UsageError(msg)
    return Moments.load(path)


def model_of(path: str) -> Any:
    """Read a model, or say what the file is instead."""
    _require_file(path)
    if kind_of(path) == "summary":
        msg = f"{path} is a summary, and this needs a model: make one with directrix fit"
        raise UsageError(msg)
    return load(path)


def matching_paths(given: str) -> list[str]:
    """Return the path itself if it exists, else the files that it matches as a pattern."""
    if Path(given).exists():
        return [given]
    matches = glob(given, recursive=True) if any(c in given for c in "*?[") else []  # noqa: PTH207
    # By convention names that begin so are no data (Spark's _SUCCESS).
    return sorted(path for path in matches if not Path(path).name.startswith(("_", ".")))


def _require_file(path: str) -> None:
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give the path of a file that directrix wrote"
        raise UsageError(msg)
