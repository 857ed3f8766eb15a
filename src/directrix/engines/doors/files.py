"""Paths: Parquet, Arrow and CSV files, folders of partitions, and folders of Delta tables."""

from __future__ import annotations

from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from directrix.engines.doors import delta
from directrix.engines.doors.datasets import open_dataset
from directrix.engines.doors.opened import Opened

_FORMATS = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "arrow": "ipc", "feather": "ipc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".br"}


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
    if any(delta.is_folder(Path(path)) for path in paths):
        if len(paths) > 1:
            msg = "one of the paths is the folder of a Delta table: give it alone"
            raise ValueError(msg)
        return delta.open_folder(paths[0])
    return open_dataset(_files(paths), complete=True)


def _refuse_files_of_tables(given: Path, matches: list[str]) -> None:
    """Raise ValueError if only the log of a table knows which of the files in a folder count."""
    around = (folder for path in matches[:1] for folder in Path(path).absolute().parents)
    below = (log.parent for log in given.glob("**/_delta_log")) if given.is_dir() else ()
    folders = (folder for folder in (*below, *around) if delta.is_folder(folder))
    table = None if delta.is_folder(given) else next(folders, None)
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
    from pyarrow import dataset

    formats = {file_format(Path(path)) for path in paths}
    if len(formats) > 1:
        msg = f"the files have several formats ({', '.join(sorted(formats))}): give one format"
        raise ValueError(msg)
    chosen_format = _csv_format() if formats == {"csv"} else formats.pop()
    single = len(paths) == 1
    return dataset.dataset(paths[0] if single else paths, format=chosen_format, partitioning="hive")


def _csv_format() -> Any:
    """Return the CSV format, in which empty fields are missing in text columns too."""
    from pyarrow import csv, dataset

    return dataset.CsvFileFormat(convert_options=csv.ConvertOptions(strings_can_be_null=True))


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
