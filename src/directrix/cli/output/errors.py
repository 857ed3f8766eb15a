"""What went wrong, in words that say what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from difflib import get_close_matches

#: The extra of this package that brings an optional library.
EXTRAS = {
    "pyarrow": "arrow",
    "pyspark": "spark",
    "matplotlib": "plot",
    "onnx": "onnx",
    "onnxruntime": "onnx",
}
_SHOWN = 12
_COLUMN = re.compile(r"no column named (?P<name>.+?); the columns are (?P<all>\[.*\])", re.DOTALL)
_TEXT = re.compile(r"column (?P<name>'.*?'|\".*?\") holds (?P<what>[\w\[\]<>., ]+), not numbers")


class Mistake(Exception):  # noqa: N818 - that of a user, and none of the program
    """Data or a model that cannot be used as asked; the text says what to do."""


def in_words(error: Exception) -> tuple[str, int]:
    """Return what to say about an error, and the exit code: 1 of data, 2 of how it was called."""
    if isinstance(error, ImportError):
        return _library(error), 2
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if isinstance(error, KeyError) and (found := _COLUMN.search(text)):
        text = no_column(ast.literal_eval(found["name"]), ast.literal_eval(found["all"]))
    elif isinstance(error, TypeError) and (found := _TEXT.search(text)):
        name = ast.literal_eval(found["name"])
        advice = f"leave it out with --drop {name}, or encode it as numbers first"
        text = f"column {name!r} holds {found['what']}, not numbers: {advice}"
    elif type(error).__module__.startswith("pyarrow"):
        kinds = "the name of a file says its kind: .parquet, .csv, .arrow or .svm"
        text = f"the rows cannot be read ({text.splitlines()[0]}); {kinds}"
    elif type(error).__module__.startswith("pyspark"):  # what a worker said stands last
        lines = [line for line in text.partition("JVM stacktrace")[0].splitlines() if line.strip()]
        text = f"Spark: {lines[-1].strip() if lines else text}"
    elif isinstance(error, OSError):
        text = _file(error)
    elif isinstance(error, MemoryError):
        text = f"the rows do not fit in memory: fit with --two-passes, or from a summary. {text}"
    elif not isinstance(error, Mistake | ValueError | KeyError | TypeError):
        name = type(error).__name__
        text = f"{name}: {text}. DIRECTRIX_DEBUG=1 shows where it happened."
    return text, 1


def no_column(name: object, names: Sequence[object]) -> str:
    """Say that a column is missing, which are nearest in name, and which there are."""
    near = nearest(str(name), names) or "."
    shown = ", ".join(map(str, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"no column named {name!r}{near} The columns are {shown}{more}."


def nearest(name: str, names: Sequence[object]) -> str:
    """Return a question after the names most like one, or nothing."""
    by_lower = {str(each).lower(): str(each) for each in names}
    close = get_close_matches(name.lower(), by_lower, n=3)
    return f"; did you mean {' or '.join(repr(by_lower[each]) for each in close)}?" if close else ""


def _library(error: ImportError) -> str:
    name = (error.name or "").partition(".")[0]
    if name not in EXTRAS:  # ours say it themselves
        return str(error)
    return f"this needs {name}: pip install 'directrix[{EXTRAS[name]}]'"


def _file(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    what = {
        "FileNotFoundError": "there is no such file or folder",
        "IsADirectoryError": "it is a folder, not a file",
        "PermissionError": "it may not be read or written",
    }.get(type(error).__name__, error.strerror or str(error))
    return f"{error.filename}: {what}"
