"""The file that a command writes: never one that it reads, and an existing one only if forced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import typer

from directrix.cli.io.files import matching_paths
from directrix.cli.output.errors import UsageError


def require_output(output: str | None, reads: Iterable[str | None], *, force: bool) -> None:
    """Refuse an output file that the command must not write; call this before any work is done.

    Parameters
    ----------
    output : str or None
        None where the command writes to stdout.
    reads : iterable of str or None
        What the command reads: files, folders, patterns or URLs. None stands for nothing.
    force : bool
        Whether an existing file may be overwritten. One that is read never is.
    """
    if output is None:
        return
    path = Path(output)
    if not path.parent.is_dir():
        folder = str(path.parent)
        msg = f"there is no folder {folder!r} to write {path.name} into: make it first"
        raise UsageError(msg)
    if path.is_dir():
        _refuse(f"{output} is a folder: give the name of a file")
    if not path.is_file():  # a new file, or a device such as /dev/null, which keeps nothing
        return
    for given in reads:
        if given is not None and _is_read(path, given):
            _refuse(f"{output} is read by this command ({given}): give another name")
    if not force:
        _refuse(f"{output} exists: overwrite it with --force, or give another name")


def _refuse(message: str) -> None:
    raise typer.BadParameter(message, param_hint="--output")


def _is_read(output: Path, given: str) -> bool:
    """Tell whether an existing file is among those that an argument stands for.

    Files are the same if the system says so: by another path, a symbolic link or a hard link.
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
    """Return the path of a ``file:`` URL, which Spark reads; anything else as it is."""
    parts = urlsplit(given)
    return url2pathname(parts.path) if parts.scheme == "file" else given


def _same(output: Path, path: str) -> bool:
    try:
        return output.samefile(path)
    except OSError:  # a broken link is not a file that can be read
        return False


def _files_under(folder: str) -> Iterator[str]:
    """Give all files below a folder; links to folders are followed, each folder once."""
    seen = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        state = Path(root).stat()
        if (state.st_dev, state.st_ino) in seen:
            folders.clear()
            continue
        seen.add((state.st_dev, state.st_ino))
        for name in names:
            yield str(Path(root) / name)
