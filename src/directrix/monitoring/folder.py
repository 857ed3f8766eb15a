"""Folders of a summary store, on the local disk or at an fsspec address.

Files are written whole or not at all, and are never changed afterwards.
"""

from __future__ import annotations

import os
import re
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from directrix.exceptions import MissingLibraryError
from directrix.files.atomic import atomic_file

if sys.platform != "win32":
    import fcntl

_LOCK = ".lock"
_PARTIAL = re.compile(r"\..*\.partial")


class Folder(ABC):
    """A folder in which whole files are listed, read, written and removed."""

    def names(self) -> list[str]:
        """Return the names of all complete files, sorted."""
        return sorted(name for name in self._all_names() if not name.startswith("."))

    def partial_names(self) -> list[str]:
        """Return the names of files that are being written, or whose writers were killed."""
        return sorted(name for name in self._all_names() if _PARTIAL.fullmatch(name))

    @abstractmethod
    def _all_names(self) -> list[str]:
        """Return the names of all files, also of hidden ones."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return the content of a file; raise FileNotFoundError if there is none."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""

    @abstractmethod
    def age(self, name: str) -> float:
        """Return the seconds since a file was written; zero if that is not known."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers out for as long as the block runs, where locks exist."""
        yield

    @contextmanager
    def local_copy(self, name: str) -> Iterator[Path]:
        """Give the path of a local copy of a file."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(self.read(name))
            yield path


class LocalFolder(Folder):
    """Folder on a local or mounted disk; writers take turns through a lock on a file.

    The system releases the lock of a process that ends for whatever reason.

    ``path`` is created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def _all_names(self) -> list[str]:
        with os.scandir(self.path) as entries:  # iterdir makes paths of them, five times as slow
            return [entry.name for entry in entries]

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step."""
        with atomic_file(self.path / name) as file:
            file.write(content)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        (self.path / name).unlink(missing_ok=True)

    def age(self, name: str) -> float:
        """Return the seconds since a file was written; zero if that is not known."""
        try:
            return max(time.time() - (self.path / name).stat().st_mtime, 0.0)
        except FileNotFoundError:
            return 0.0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers out for as long as the block runs."""
        with (self.path / _LOCK).open("ab") as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def local_copy(self, name: str) -> Iterator[Path]:
        """Give the path of the file itself."""
        yield self.path / name


class RemoteFolder(Folder):
    """Folder at an fsspec address, such as ``s3://bucket/store``.

    A file is uploaded under another name and then moved, so that readers never see a part of it.
    There are no locks: writers of different keys do not disturb each other, but only one process
    may remove or compact days at a time.

    ``storage_options`` are passed to the file system.
    """

    def __init__(self, address: str, storage_options: dict[str, Any]) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            purpose = f"a store at {address} is read through fsspec"
            raise MissingLibraryError(purpose, "fsspec") from None
        self._files, self._root = url_to_fs(address, **storage_options)
        self._files.makedirs(self._root, exist_ok=True)

    def _all_names(self) -> list[str]:
        self._files.invalidate_cache()
        try:
            paths = self._files.ls(self._root, detail=False)
        except FileNotFoundError:  # an object store has no folders without files
            return []
        names = (path.rsplit("/", 1)[-1] for path in paths)
        return [name for name in names if name]

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        content: bytes = self._files.cat_file(self._path(name))
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step."""
        partial = self._path(f".{uuid4().hex}.partial")
        self._files.pipe_file(partial, content)
        self._files.mv(partial, self._path(name))

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def age(self, name: str) -> float:
        """Return the seconds since a file was written; zero if that is not known."""
        try:
            written = float(self._files.modified(self._path(name)).timestamp())
            return max(time.time() - written, 0.0)
        except (NotImplementedError, FileNotFoundError):
            # Not all file systems know times, and another process may have removed the file.
            return 0.0

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def open_folder(address: Any, storage_options: dict[str, Any] | None) -> Folder:
    """Return the folder at a local path or an fsspec address.

    An fsspec ``address`` has a protocol, as in ``s3://``. ``storage_options`` are for fsspec only.
    """
    if isinstance(address, str) and "://" in address:
        return RemoteFolder(address, storage_options or {})
    if storage_options:
        msg = f"storage_options are for fsspec addresses, and {str(address)!r} is a local path"
        raise ValueError(msg)
    return LocalFolder(Path(address))
