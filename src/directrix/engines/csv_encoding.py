"""Detection of CSV files that are not UTF-8, the only encoding that is read."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from directrix.engines.doors.files import COMPRESSED, file_format, matching_files
from directrix.exceptions.files import NotUtf8Error

#: Number of bytes decoded at a time; Arrow infers column types from about as many.
_BLOCK = 1 << 20


def explain(source: Any, error: Exception) -> None:
    """Raise NotUtf8Error if the encoding of a file explains an error; otherwise return.

    Arrow raises its own error for text that is not UTF-8, except in the first rows, where it reads
    the column as bytes, which are neither numbers nor labels. Files are inspected only after such
    an error.

    Parameters
    ----------
    source : source of rows
        Sources other than paths are ignored.
    error : Exception
        The error raised while reading the source.
    """
    paths = [source] if isinstance(source, str | PathLike) else source
    if not isinstance(paths, list | tuple) or not all(
        isinstance(path, str | PathLike) for path in paths
    ):
        return
    whole_file = isinstance(error, UnicodeError) or type(error).__module__.startswith("pyarrow")
    if not whole_file and not isinstance(error, TypeError):
        return
    for path_or_pattern in paths:
        for path in _csv_files(str(path_or_pattern)):
            with suppress(OSError):  # the original error then says why
                require_utf8(path, None if whole_file else _BLOCK)


def require_utf8(path: str | PathLike[str], max_bytes: int | None = None) -> None:
    """Raise NotUtf8Error if a file, compressed or not, is not UTF-8.

    Parameters
    ----------
    path : str or path
        The file.
    max_bytes : int, optional
        Number of bytes to inspect; by default all.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, n_read = 1, 0
    with _open(path) as file:
        while max_bytes is None or n_read < max_bytes:
            block: bytes = file.read(_BLOCK)
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                has_mark = n_read == 0 and block.startswith(
                    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
                )
                encoding = "UTF-16" if has_mark else "ISO-8859-1"
                byte = error.object[error.start]
                raise NotUtf8Error(str(path), line, byte, encoding) from None
            n_read += len(block)
            if not block:
                return


def _open(path: str | PathLike[str]) -> Any:
    if Path(path).suffix not in COMPRESSED:
        return Path(path).open("rb")
    import pyarrow as pa

    return pa.input_stream(str(path), compression="detect")


def _csv_files(path_or_pattern: str) -> Iterator[str]:
    try:
        paths = [Path(path) for path in matching_files(path_or_pattern)]
    except FileNotFoundError:
        return
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (str(file) for file in inside if file.is_file() and file_format(file) == "csv")
