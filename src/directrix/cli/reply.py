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
from dataclasses import dataclass, field, fields, is_dataclass
from functools import singledispatch, wraps
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any

import typer

from directrix.cli import INTERRUPTED, load_library
from directrix.exceptions import EXTRAS, ChangedColumnsWarning, MissingLibraryError
from directrix.exceptions.columns import InfiniteValuesError, UnusableColumnsError

# ── Error messages of the command line: what is wrong, and what to do about it ────────────────────

#: Exit codes: something about the data or the model, and how the command was called.
DATA_ERROR, CALL_ERROR = 1, 2


class UsageError(Exception):
    """Data or a model that cannot be used as asked.

    ``message`` is what is wrong and what to do about it; it is printed as it is.
    """


def describe_error(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code for an error."""
    if type(error).__module__.partition(".")[0] == "pyarrow":
        message = (  # such errors are subclasses of ValueError and KeyError, so they come first
            f"the rows cannot be read ({str(error).splitlines()[0]}); the file type is taken from "
            "the name of the file: .parquet, .csv or .arrow"
        )
    else:
        message = _describe(error)
    return message, CALL_ERROR if isinstance(error, ImportError) else DATA_ERROR


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
def _(error: KeyError) -> str:  # the text of a plain one is the repr of its message
    plain = type(error) is KeyError and error.args
    return str(error.args[0] if plain else error)


@_describe.register
def _(error: UnusableColumnsError) -> str:
    """Return what to do about columns: encode or impute, or fit without them, or fit a card."""
    dropped = "--drop"
    if all(isinstance(name, str) for name in error.columns):
        listed = StringIO()
        csv.writer(listed, lineterminator="").writerow(error.columns)
        dropped += f" {shlex.quote(listed.getvalue())}"
    remedy = f"{error.problem}: prepare such values, or fit without them (use {dropped})"
    if isinstance(error, InfiniteValuesError):
        return remedy
    return f"{remedy}; fit -c scorecard takes text and missing values as they are"


@_describe.register
def _(error: MemoryError) -> str:
    return f"the rows do not fit in memory: fit with --two-passes, or from a summary. {error}"


@_describe.register
def _(error: OSError) -> str:
    return str(error) if error.filename is None else f"{error.filename}: {error.strerror}"


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
            given: dict[Any, str] = {}
            for message in (warning.message for warning in caught):
                # Columns once: each part of a file has other counts.
                of_columns = isinstance(message, ChangedColumnsWarning)
                given.setdefault(type(message) if of_columns else str(message), str(message))
            messages += given.values()


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
    """Return a value as JSON can hold it: records become objects, NaN and infinity null."""
    import numpy as np

    from directrix.metrics import Metric

    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type | Metric):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json_value(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [to_json_value(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


@contextmanager
def show_status(text: str) -> Iterator[None]:
    """Show a spinner with a text while something takes long; only if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
