"""Error messages of the command line: what is wrong, and what to do about it."""

from __future__ import annotations

import csv
import shlex
from functools import singledispatch
from io import StringIO

from directrix.exceptions import EXTRAS, MissingLibraryError
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    UnusableColumnsError,
    suggest_names,
)

#: Exit codes: something about the data or the model, and how the command was called.
DATA_ERROR, CALL_ERROR = 1, 2

#: Names of columns that a message lists before it only counts them.
_LISTED_COLUMNS = 12

_AS_THEY_ARE = "; fit -c scorecard takes text and missing values as they are"


class UsageError(Exception):
    """Data or a model that cannot be used as asked.

    Parameters
    ----------
    message : str
        What is wrong and what to do about it; it is printed as it is.
    """


def describe_error(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code for an error."""
    library = type(error).__module__.partition(".")[0]
    # Errors of Arrow are subclasses of ValueError and KeyError, so they come first.
    describe = {"pyarrow": _describe_arrow_error, "pyspark": _describe_spark_error}.get(library)
    message = (describe or _describe)(error)
    return message, CALL_ERROR if isinstance(error, ImportError) else DATA_ERROR


def _describe_arrow_error(error: Exception) -> str:
    return (
        f"the rows cannot be read ({str(error).splitlines()[0]}); the file type is taken from the "
        "name of the file: .parquet, .csv, .arrow or .svm"
    )


def _describe_spark_error(error: Exception) -> str:
    """Return the error of a worker, which stands last, before the stack trace of Java."""
    text = str(error).partition("JVM stacktrace")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"Spark: {lines[-1] if lines else error}"


@singledispatch
def _describe(error: Exception) -> str:
    """Return the message for an error that nobody expected."""
    return f"{type(error).__name__}: {error}. Set DIRECTRIX_DEBUG=1 to see the traceback."


@_describe.register(UsageError)
@_describe.register(ValueError)
@_describe.register(TypeError)
def _(error: Exception) -> str:
    return str(error)


@_describe.register
def _(error: KeyError) -> str:  # its text is the repr of the message
    return str(error.args[0] if error.args else error)


@_describe.register
def _(error: ColumnNotFoundError) -> str:
    names = error.available
    suggestion = suggest_names(str(error.name), names) or "."
    listed = ", ".join(map(str, names[:_LISTED_COLUMNS]))
    left_out = len(names) - _LISTED_COLUMNS
    more = f" and {left_out} more" if left_out > 0 else ""
    return f"no column named {error.name!r}{suggestion} The columns are {listed}{more}."


@_describe.register
def _(error: NotNumericError) -> str:
    return f"{error.problem}: {_either(error, 'encode such columns as numbers')}{_AS_THEY_ARE}"


@_describe.register
def _(error: MissingValuesError) -> str:
    return f"{error.problem}: {_either(error, 'impute them', 'leave those rows out')}{_AS_THEY_ARE}"


@_describe.register
def _(error: InfiniteValuesError) -> str:
    return f"{error.problem}: {_either(error, 'replace it', 'leave those rows out')}"


def _either(error: UnusableColumnsError, *remedies: str) -> str:
    """Return remedies as alternatives; the last is to leave the columns out, if they have names."""
    if all(isinstance(name, str) for name in error.columns):
        listed = StringIO()
        if len(error.columns) <= _LISTED_COLUMNS:
            csv.writer(listed, lineterminator="").writerow(error.columns)
        columns = f" {shlex.quote(listed.getvalue())}" if listed.getvalue() else ""
        remedies = (*remedies, f"use --drop{columns}")
    return ", or ".join(filter(None, (", ".join(remedies[:-1]), remedies[-1])))


@_describe.register
def _(error: MemoryError) -> str:
    return f"the rows do not fit in memory: fit with --two-passes, or from a summary. {error}"


@_describe.register
def _(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    if isinstance(error, FileNotFoundError):
        reason = "there is no such file or folder"
    elif isinstance(error, IsADirectoryError):
        reason = "it is a folder, not a file"
    elif isinstance(error, PermissionError):
        reason = "permission to read or write it is denied"
    else:
        reason = error.strerror or str(error)
    return f"{error.filename}: {reason}"


@_describe.register
def _(error: ImportError) -> str:
    library = (error.name or "").partition(".")[0]
    if isinstance(error, MissingLibraryError) or library not in EXTRAS:
        return str(error)
    return f"this needs {library}: pip install 'directrix[{EXTRAS[library]}]'"
