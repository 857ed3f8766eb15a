"""Files that are replaced whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

if sys.platform != "win32":
    import fcntl

#: Characters of the file's name that its partial file repeats: a name may have 255 bytes in all.
_NAME_LENGTH = 50


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, and put it in its place only if the block succeeds.

    The content goes to a hidden ``.partial`` file in the same folder, which then replaces the file
    in one step. A symbolic link stays one: its target is replaced. An existing file keeps its
    permissions; a new one has those of any new file. A device or a named pipe cannot be replaced
    and is written to directly.

    Partial files that a killed process left behind are removed when the same file is written next.

    Parameters
    ----------
    path : str or path

    Yields
    ------
    binary file, open for writing

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_file(Path(folder) / "a.txt") as file:
    ...         n_bytes = file.write(b"all of it")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'all of it'
    """
    try:
        mode: int | None = Path(path).stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        with Path(path).open("wb") as file:
            yield file
        return
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    target = Path(path).resolve()
    _remove_abandoned(target)
    with _partial_file(target, path, private=mode is not None) as partial:
        with partial.open("wb") as file:
            yield file
        if mode is not None:
            with suppress(PermissionError):  # a file system that has no permissions
                partial.chmod(stat.S_IMODE(mode))
        partial.replace(target)


@contextmanager
def _partial_file(target: Path, path: str | os.PathLike[str], *, private: bool) -> Iterator[Path]:
    """Create a locked partial file; remove it at the end if it is still there.

    The lock tells other processes that the writer is alive; the system releases it when a process
    ends, however it ends. Process ids would not do: they are used again, and mean nothing on
    another machine that shares the folder.
    """
    with ExitStack() as cleanup:
        while True:
            name = f".{target.name[:_NAME_LENGTH]}.{uuid4().hex}.partial"
            partial = target.with_name(name)
            cleanup.callback(partial.unlink, missing_ok=True)
            try:
                # While it replaces a file that others may not read, nobody else may read it.
                partial.touch(mode=0o600 if private else 0o666, exist_ok=False)
            except OSError as error:  # about the file that was asked for, not about ours
                error.filename = os.fspath(path)
                raise
            if _lock(partial, cleanup):
                break
        yield partial


def _lock(partial: Path, cleanup: ExitStack) -> bool:
    """Lock a new partial file, and return whether it is still there.

    Another process may have taken it for abandoned between its creation and the lock.
    """
    if sys.platform == "win32":  # where a file that is open cannot be removed
        return True
    descriptor = os.open(partial, os.O_RDWR)
    cleanup.callback(os.close, descriptor)
    with suppress(OSError):  # a file system without locks: `_remove_abandoned` removes nothing
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(descriptor), partial.stat())
    except FileNotFoundError:
        return False


def _remove_abandoned(target: Path) -> None:
    """Remove partial files of a target whose writers are no longer alive."""
    name = re.escape(target.name[:_NAME_LENGTH])
    ours = re.compile(rf"\.{name}\.[0-9a-f]{{32}}\.partial")
    with suppress(OSError), os.scandir(target.parent) as entries:
        found = [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]
        for partial in found:
            _remove_if_abandoned(partial)


def _remove_if_abandoned(partial: Path) -> None:
    with suppress(OSError):  # its writer is alive, or another process has just removed it
        if sys.platform == "win32":
            partial.unlink()
            return
        descriptor = os.open(partial, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()
        finally:
            os.close(descriptor)
