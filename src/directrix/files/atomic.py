"""Atomic writing of files: an existing file is replaced only when the new one is complete."""

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

#: Number of characters of the file name in the name of its partial file: a name has at most 255
#: bytes.
_NAME_LENGTH = 50


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, and replace the target only if the block succeeds.

    The content is written to a hidden ``.partial`` file in the same folder, which then replaces the
    file in one step. A symbolic link is kept, and its target is replaced. An existing file keeps
    its permissions; a new file gets the default ones. A device or a named pipe cannot be replaced
    and is written directly.

    Partial files that a killed process left behind are removed when the same file is written next.

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
            with suppress(PermissionError):  # a file system without permissions
                partial.chmod(stat.S_IMODE(mode))
        partial.replace(target)


@contextmanager
def _partial_file(target: Path, path: str | os.PathLike[str], *, private: bool) -> Iterator[Path]:
    """Create a locked partial file, and remove it at the end if it still exists.

    The lock shows other processes that the writer is alive; the system releases it when the process
    ends for whatever reason. Process ids would not work: they are reused, and are unknown on other
    machines that share the folder.
    """
    with ExitStack() as cleanup:
        while True:
            name = f".{target.name[:_NAME_LENGTH]}.{uuid4().hex}.partial"
            partial = target.with_name(name)
            cleanup.callback(partial.unlink, missing_ok=True)
            try:
                # The target may be private, so the partial file must be private too.
                partial.touch(mode=0o600 if private else 0o666, exist_ok=False)
            except OSError as error:  # report the file that the caller named
                error.filename = os.fspath(path)
                raise
            if _lock(partial, cleanup):
                break
        yield partial


def _lock(partial: Path, cleanup: ExitStack) -> bool:
    """Lock a new partial file, and return whether it still exists.

    Another process may have removed it as abandoned between its creation and the lock.
    """
    if sys.platform == "win32":  # an open file cannot be removed there
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
    """Remove the partial files of a target whose writers no longer run."""
    name = re.escape(target.name[:_NAME_LENGTH])
    pattern = re.compile(rf"\.{name}\.[0-9a-f]{{32}}\.partial")
    with suppress(OSError), os.scandir(target.parent) as entries:
        partial_files = [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]
        for partial in partial_files:
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
