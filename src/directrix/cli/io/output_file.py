"""Checks of output files: no input is overwritten, and other files only with ``--force``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import typer

from directrix.cli.io.files import matching_paths
from directrix.cli.output.errors import UsageError


def require_output(output: str | None, reads: Iterable[str | None], *, force: bool) -> None:
    """Raise an error if a command must not write its output file; call this before any work.

    Parameters
    ----------
    output : str or None
        None if the command writes to stdout.
    reads : iterable of str or None
        Inputs of the command: files, folders, patterns or URLs; None entries are ignored.
    force : bool
        Whether an existing file may be overwritten. An input never is.
    """
    if output is None:
        return
    path = Path(output)
    if not path.parent.is_dir():
        folder = str(path.parent)
        msg = f"there is no folder {folder!r} to write {path.name} to: make it first"
        raise UsageError(msg)
    if path.is_dir():
        _refuse(f"{output} is a folder: give the name of a file")
    if not path.is_file():  # a new file, or a device such as /dev/null, which stores nothing
        return
    for given in reads:
        if given is not None and _is_read(path, given):
            _refuse(f"{output} is read by this command ({given}): give another name")
    if not force:
        _refuse(f"{output} exists: overwrite it with --force, or give another name")


def _refuse(message: str) -> None:
    raise typer.BadParameter(message, param_hint="--output")


def _is_read(output: Path, given: str) -> bool:
    """Return whether an existing file is among those that an argument names.

    A file may be reached by another path, a symbolic link or a hard link: the system knows.
    """
    for path in matching_paths(_local(given)):
        if Path(path).is_dir():
            inside = output.resolve().is_relative_to(Path(path).resolve())
            if inside or any(_same(output, file) for file in _files_under(path)):
                return True
        elif _same(output, path):
            return True
    return False


def _local(given: str) -> str:
    """Return the path of a ``file:`` URL, which Spark reads; any other text unchanged."""
    parts = urlsplit(given)
    if parts.scheme != "file":
        return given
    from urllib.request import url2pathname

    return url2pathname(parts.path)


def _same(output: Path, path: str) -> bool:
    try:
        return output.samefile(path)
    except OSError:  # a broken link is not a file that can be read
        return False


def _files_under(folder: str) -> Iterator[str]:
    """Iterate over all files below a folder; links are followed, each folder once."""
    visited = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        state = Path(root).stat()
        if (state.st_dev, state.st_ino) in visited:
            folders.clear()
            continue
        visited.add((state.st_dev, state.st_ino))
        for name in names:
            yield str(Path(root) / name)
