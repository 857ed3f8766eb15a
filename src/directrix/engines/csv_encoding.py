"""CSV files that are not UTF-8, which is the only encoding that is read."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from directrix.engines.arrow import COMPRESSED, file_format, matching_files
from directrix.exceptions import NotUtf8Error

#: Bytes of a file that are decoded at a time. Arrow takes the types of columns from about as many.
_BLOCK = 1 << 20


def explain(source: Any, error: Exception) -> None:
    """Raise NotUtf8Error if that is why rows could not be read; return if it is not.

    Arrow raises an error of its own about text that is not UTF-8 unless that is among the first
    rows, whose columns it then reads as bytes, which are neither numbers nor labels. Nothing is
    read of files that were read without an error.

    Parameters
    ----------
    source : source of rows
        Anything but paths is left alone.
    error : Exception
        What was raised by reading the source.
    """
    paths = [source] if isinstance(source, str | PathLike) else source
    if not isinstance(paths, list | tuple) or not all(
        isinstance(path, str | PathLike) for path in paths
    ):
        return
    anywhere = isinstance(error, UnicodeError) or type(error).__module__.startswith("pyarrow")
    if not anywhere and not isinstance(error, TypeError):
        return
    for given in paths:
        for path in _csv_files(str(given)):
            with suppress(OSError):  # then the first error says why
                require_utf8(path, None if anywhere else _BLOCK)


def require_utf8(path: str | PathLike[str], most: int | None = None) -> None:
    """Raise NotUtf8Error if a file, compressed or not, has bytes that are not UTF-8.

    Parameters
    ----------
    path : str or path
    most : int, optional
        Bytes to look at; by default all.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, seen = 1, 0
    with _opened(path) as file:
        while most is None or seen < most:
            block: bytes = file.read(_BLOCK)
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                marked = seen == 0 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
                encoding = "UTF-16" if marked else "ISO-8859-1"
                byte = error.object[error.start]
                raise NotUtf8Error(str(path), line, byte, encoding) from None
            seen += len(block)
            if not block:
                return


def _opened(path: str | PathLike[str]) -> Any:
    if Path(path).suffix not in COMPRESSED:
        return Path(path).open("rb")
    import pyarrow as pa

    return pa.input_stream(str(path), compression="detect")


def _csv_files(given: str) -> Iterator[str]:
    try:
        paths = [Path(path) for path in matching_files(given)]
    except FileNotFoundError:
        return
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (str(file) for file in inside if file.is_file() and file_format(file) == "csv")
