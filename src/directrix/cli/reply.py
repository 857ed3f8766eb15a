"""Replies of commands: text or JSON on stdout, warnings and errors as text on stderr."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import singledispatch, wraps
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any

import typer

from directrix._printing import text_table
from directrix.cli import INTERRUPTED, load_library
from directrix.exceptions import EXTRAS, MissingLibraryError
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    UnusableColumnsError,
)

# ── Error messages of the command line: what is wrong, and what to do about it ────────────────────


#: Exit codes: something about the data or the model, and how the command was called.
DATA_ERROR, CALL_ERROR = 1, 2

#: Names of columns that a message lists before it only counts them.
_LISTED_COLUMNS = 12

#: What to do about columns that cannot be used.
_REMEDIES: dict[type[UnusableColumnsError], tuple[str, ...]] = {
    NotNumericError: ("encode such columns as numbers",),
    MissingValuesError: ("impute them", "leave those rows out"),
    InfiniteValuesError: ("replace it", "leave those rows out"),
}


class UsageError(Exception):
    """Data or a model that cannot be used as asked.

    ``message`` is what is wrong and what to do about it; it is printed as it is.
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
    similar = " or ".join(map(repr, error.similar))
    suggestion = f"; did you mean {similar}?" if similar else "."
    listed = ", ".join(map(str, names[:_LISTED_COLUMNS]))
    left_out = len(names) - _LISTED_COLUMNS
    more = f" and {left_out} more" if left_out > 0 else ""
    return f"no column named {error.name!r}{suggestion} The columns are {listed}{more}."


@_describe.register
def _(error: UnusableColumnsError) -> str:
    """Return alternatives; the last is to leave the columns out, if they have names."""
    remedies = _REMEDIES[type(error)]
    if all(isinstance(name, str) for name in error.columns):
        listed = StringIO()
        if len(error.columns) <= _LISTED_COLUMNS:
            csv.writer(listed, lineterminator="").writerow(error.columns)
        columns = f" {shlex.quote(listed.getvalue())}" if listed.getvalue() else ""
        remedies = (*remedies, f"use --drop{columns}")
    either = ", or ".join(filter(None, (", ".join(remedies[:-1]), remedies[-1])))
    as_they_are = "; fit -c scorecard takes text and missing values as they are"
    return (
        f"{error.problem}: {either}{'' if isinstance(error, InfiniteValuesError) else as_they_are}"
    )


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
    purpose = "files of rows are read with" if library == "pyarrow" else "this needs"
    return f"{purpose} {library}: pip install 'directrix[{EXTRAS[library]}]'"


# ── Replies of commands: text or JSON on stdout, warnings and errors as text on stderr ────────────


@dataclass(frozen=True)
class Reply:
    """Result of a command.

    ``text`` is the result for people. ``values`` are the same for programs, printed with
    ``--json``. ``on_stderr`` says whether the text goes to stderr because stdout has the data that
    the command writes. ``exit_code`` is that of the process; another one than zero tells a
    scheduler that something is to be done.
    """

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    on_stderr: bool = False
    exit_code: int = 0


def render_reply(command: Callable[..., Reply]) -> Callable[..., None]:
    """Return a command that prints its reply, and an error as one message without a traceback."""

    @wraps(command)
    def run(**options: Any) -> None:
        as_json = bool(options.get("as_json"))
        debug = bool(os.environ.get("DIRECTRIX_DEBUG"))
        load_library()
        try:
            with _collect_warnings() as messages:
                reply = command(**options)
            _print(reply, messages, as_json=as_json)
        except BrokenPipeError:  # the reader of our output has closed it
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - till the end
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            _print_to_stderr("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            # Typer reports errors of its options itself.
            if debug or type(error).__module__.partition(".")[0] in ("typer", "click"):
                raise
            message, code = describe_error(error)
            _print_to_stderr(f"Error: {message}")
            raise typer.Exit(code) from None
        if reply.exit_code:
            raise typer.Exit(reply.exit_code)

    run.__annotations__ = {**command.__annotations__, "return": None}
    return run


@contextmanager
def _collect_warnings() -> Iterator[list[str]]:
    """Give a list that holds the distinct warnings of a command when it ends."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        # Columns are selected by name before they become an array.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        try:
            yield messages
        finally:
            messages += dict.fromkeys(str(warning.message) for warning in caught)


def _print(reply: Reply, messages: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        values = {**reply.values, "warnings": list(messages)}
        typer.echo(json.dumps(to_json_value(values), indent=2, allow_nan=False))
    elif reply.text:
        typer.echo(reply.text, err=reply.on_stderr)
    sys.stdout.flush()
    for message in () if as_json else messages:
        _print_to_stderr(f"Note: {message}")


def _print_to_stderr(text: str) -> None:
    typer.echo(text, err=True)


def to_json_value(value: Any) -> Any:
    """Return a value as JSON can hold it; NaN and infinity become null."""
    import numpy as np

    if isinstance(value, Mapping):
        return {str(key): to_json_value(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [to_json_value(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], left_aligned: Sequence[int] = (0,)
) -> str:
    """Return a table as text; columns that are not left-aligned are right-aligned."""
    return "\n".join(text_table([header, *rows], left_aligned))


@contextmanager
def show_status(text: str) -> Iterator[None]:
    """Show a spinner with a text while something takes long; only if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
