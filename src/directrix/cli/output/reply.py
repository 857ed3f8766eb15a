"""What a command says: words or JSON on stdout, notes and mistakes in words on stderr."""

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

import numpy as np
import typer

from directrix.cli import INTERRUPTED
from directrix.cli.output.errors import describe_error


@dataclass(frozen=True)
class Reply:
    """What a command found.

    Parameters
    ----------
    words : str
        For people.
    facts : mapping
        The same for programs.
    aside : bool
        Whether stdout is taken, by rows or by a text, so that the words go to stderr.
    """

    words: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    aside: bool = False


def spoken(command: Callable[..., Reply]) -> Callable[..., None]:
    """Return a command that prints its reply, and its mistakes in words instead of a traceback."""

    @wraps(command)
    def run(**options: Any) -> None:
        as_json = bool(options.get("as_json"))
        debug = bool(os.environ.get("DIRECTRIX_DEBUG"))
        try:
            with _notes() as notes:
                reply = command(**options)
            _print(reply, notes, as_json=as_json)
        except BrokenPipeError:  # whoever read has seen enough
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - till the end
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            _aside("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            # What typer raises is of how it was called, and it says that itself.
            if debug or type(error).__module__.partition(".")[0] in ("typer", "click"):
                raise
            words, code = describe_error(error)
            _aside(f"Error: {words}")
            raise typer.Exit(code) from None

    run.__annotations__ = {**command.__annotations__, "return": None}
    return run


@contextmanager
def _notes() -> Iterator[list[str]]:
    """Give a list that has the warnings of a command, each once, when it ends."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        # Columns are taken by name before they become an array.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        try:
            yield notes
        finally:
            notes += dict.fromkeys(str(each.message) for each in caught)


def _print(reply: Reply, notes: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        facts = {**reply.facts, "warnings": list(notes)}
        typer.echo(json.dumps(plain(facts), indent=2, allow_nan=False))
    elif reply.words:
        typer.echo(reply.words, err=reply.aside)
    sys.stdout.flush()
    for note in () if as_json else notes:
        _aside(f"Note: {note}")


def _aside(text: str) -> None:
    typer.echo(text, err=True)


def plain(value: Any) -> Any:
    """Return a value as JSON has it; what is not known, NaN and infinity, is null."""
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return a table as text: names, in some columns, to the left, and numbers to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show that something is being done, on a terminal; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
