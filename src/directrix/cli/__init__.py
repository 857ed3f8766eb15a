"""The command line: one public call of the library for each sub-command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import NoReturn

__all__ = ["INTERRUPTED", "main"]

#: Exit code of a process that Ctrl-C has ended.
INTERRUPTED = 130


def main() -> None:
    """Run the command line; without its libraries, say how to install them."""
    try:
        with _ended_by_interrupt():
            from directrix.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write("the command line needs typer and rich: pip install 'directrix[cli]'\n")
        raise SystemExit(2) from None
    app(prog_name="directrix")


@contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process at once, with one line, while libraries are being imported.

    A KeyboardInterrupt would not do: a library may catch it, or print it with a traceback while it
    is half imported. Nothing has been begun that would have to be cleaned up.
    """
    before = signal.getsignal(signal.SIGINT)
    # Whoever started us may have made another choice, as nohup does; only the main thread has one.
    ours = before is signal.default_int_handler and current_thread() is main_thread()
    if ours:
        signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)


def _leave(*_: object) -> NoReturn:
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)
