"""Folder of a summary store at an fsspec address, such as an object store."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any
from uuid import uuid4

from directrix.exceptions import MissingLibraryError
from directrix.monitoring.folder import Folder


class RemoteFolder(Folder):
    """Folder at an fsspec address, such as ``s3://bucket/store``.

    A file is uploaded under another name and then moved, so that readers never see a part of it.
    There are no locks: writers of different keys do not disturb each other, but only one process
    may remove or compact days at a time.

    Parameters
    ----------
    address : str
    storage_options : dict
        Passed to the file system.
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
