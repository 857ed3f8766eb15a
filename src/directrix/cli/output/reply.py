"""Replies of commands: text or JSON on stdout, warnings and errors as text on stderr."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any

import typer

from directrix._printing import text_table
from directrix.cli import INTERRUPTED, load_library
from directrix.cli.output.errors import describe_error


@dataclass(frozen=True)
class Reply:
    """Result of a command.

    Parameters
    ----------
    text : str
        The result for people.
    values : mapping
        The same for programs, printed with ``--json``.
    on_stderr : bool
        Whether the text goes to stderr because stdout has the data that the command writes.
    exit_code : int
        Of the process; not zero tells a scheduler that something is to be done.
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
