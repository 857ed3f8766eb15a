"""Paths: Parquet, Arrow and CSV files, folders of partitions, and folders of Delta tables.

CSV files must be UTF-8; `explain_encoding` tells where one is not.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from directrix.engines.readers.datasets import Opened, open_dataset
from directrix.engines.readers.lakes import is_delta_folder, open_delta_folder
from directrix.exceptions.files import NotUtf8Error

_FORMATS = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "arrow": "ipc", "feather": "ipc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".br"}
#: Number of bytes decoded at a time; Arrow infers column types from about as many.
_BLOCK = 1 << 20


def are_paths(source: Any) -> bool:
    """Return whether a source is a path or a list of paths."""
    paths = source if isinstance(source, list | tuple) else [source]
    return bool(paths) and all(isinstance(path, str | PathLike) for path in paths)


def open_paths(source: Any) -> Opened:
    """Open a path or pattern, or a list of them: files of one format, or one Delta table."""
    paths: list[str] = []
    for path_or_pattern in [source] if isinstance(source, str | PathLike) else source:
        given = Path(path_or_pattern)
        matches = matching_files(str(fspath(path_or_pattern)))
        if not given.is_file():  # a folder, or a pattern
            _refuse_files_of_tables(given, matches)
        paths += matches
    if any(is_delta_folder(Path(path)) for path in paths):
        if len(paths) > 1:
            msg = "one of the paths is the folder of a Delta table: give it alone"
            raise ValueError(msg)
        return open_delta_folder(paths[0])
    return open_dataset(_files(paths), complete=True)


def _refuse_files_of_tables(given: Path, matches: list[str]) -> None:
    """Raise ValueError if only the log of a table knows which of the files in a folder count."""
    around = (folder for path in matches[:1] for folder in Path(path).absolute().parents)
    below = (log.parent for log in given.glob("**/_delta_log")) if given.is_dir() else ()
    folders = (folder for folder in (*below, *around) if is_delta_folder(folder))
    table = None if is_delta_folder(given) else next(folders, None)
    if table is not None:
        msg = (
            f"{str(given)!r} has files of the Delta table {str(table)!r}, some of which may be "
            "deleted: give the folder of the table"
        )
        raise ValueError(msg)
    if next(given.glob("metadata/*.metadata.json"), None) is not None:
        msg = (
            f"{str(given)!r} is the folder of an Iceberg table, some files of which may be "
            "deleted: load the table from its catalog with pyiceberg, and give that"
        )
        raise ValueError(msg)


def _files(paths: list[str]) -> Any:
    """Return Parquet, Arrow or CSV files, or folders of partitions, as a dataset."""
    from pyarrow import csv, dataset

    formats = {file_format(Path(path)) for path in paths}
    if len(formats) > 1:
        msg = f"the files have several formats ({', '.join(sorted(formats))}): give one format"
        raise ValueError(msg)
    file_type: Any = formats.pop()
    if file_type == "csv":  # empty fields are missing in text columns too
        options = csv.ConvertOptions(strings_can_be_null=True)
        file_type = dataset.CsvFileFormat(convert_options=options)
    single = len(paths) == 1
    return dataset.dataset(paths[0] if single else paths, format=file_type, partitioning="hive")


def matching_files(path: str) -> list[str]:
    """Return the files that match a path or pattern, or raise FileNotFoundError."""
    if Path(path).exists():
        return [path]
    matches = glob(path, recursive=True) if any(c in path for c in "*?[") else []  # noqa: PTH207
    # Such files hold no data (for instance _SUCCESS of Spark).
    files = sorted(match for match in matches if not Path(match).name.startswith(("_", ".")))
    if not files:
        msg = f"no file at {path!r}: give the path of a file or folder, or a pattern"
        raise FileNotFoundError(msg)
    return files


def file_format(path: Path) -> str:
    """Return the format of a file by its suffix, or of a folder by its first file."""
    if path.is_dir():
        inside = (file for file in sorted(path.rglob("*.*")) if file.is_file())
        path = next((file for file in inside if not file.name.startswith(("_", "."))), path)
    if path.suffix in COMPRESSED:
        path = path.with_suffix("")
    return _FORMATS.get(path.suffix.lstrip(".").lower(), "parquet")


# ── Encoding of CSV files ─────────────────────────────────────────────────────────────────────────


def explain_encoding(source: Any, error: Exception) -> None:
    """Raise NotUtf8Error if the encoding of a file explains an error; otherwise return.

    Arrow raises its own error for text that is not UTF-8, except in the first rows, where it reads
    the column as bytes, which are neither numbers nor labels. Files are inspected only after such
    an error of a source that is a path.
    """
    if not are_paths(source):
        return
    whole_file = isinstance(error, UnicodeError) or type(error).__module__.startswith("pyarrow")
    if not whole_file and not isinstance(error, TypeError):
        return
    for path_or_pattern in [source] if isinstance(source, str | PathLike) else source:
        for path in _csv_files(str(path_or_pattern)):
            with suppress(OSError):  # the original error then says why
                require_utf8(path, None if whole_file else _BLOCK)


def require_utf8(path: str | PathLike[str], max_bytes: int | None = None) -> None:
    """Raise NotUtf8Error if a file, compressed or not, is not UTF-8 (in its first bytes)."""
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
