"""The command line: each command is one public call of the library.

scikit-learn and SciPy take seconds to import. The modules that parse options and show help import
the library inside the functions that use it, so that help and completion need not wait for it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import current_thread, main_thread
from typing import NoReturn

__all__ = ["INTERRUPTED", "load_library", "main"]

#: Exit code of a process that Ctrl-C has ended.
INTERRUPTED = 130


def main() -> None:
    """Run the command line; if its libraries are missing, say how to install them."""
    try:
        with _exit_on_interrupt():
            from directrix.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write("the command line needs typer and rich: pip install 'directrix[cli]'\n")
        raise SystemExit(2) from None
    app(prog_name="directrix")


def load_library() -> None:
    """Import the library for a command; Ctrl-C meanwhile ends the process with one line."""
    with _exit_on_interrupt():
        import_module("directrix.estimators.threshold")  # which loads NumPy and scikit-learn


@contextmanager
def _exit_on_interrupt() -> Iterator[None]:
    """Make Ctrl-C end the process with one line while libraries are being imported.

    A KeyboardInterrupt is not enough: a library may catch it, or print it with a traceback while it
    is half imported. There is nothing to clean up yet.
    """
    previous = signal.getsignal(signal.SIGINT)
    # The parent process may ignore interrupts, as nohup does; only the main thread has a handler.
    replaced = previous is signal.default_int_handler and current_thread() is main_thread()
    if replaced:
        signal.signal(signal.SIGINT, _exit)
    try:
        yield
    finally:
        if replaced:
            signal.signal(signal.SIGINT, previous)


def _exit(*_: object) -> NoReturn:
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)
