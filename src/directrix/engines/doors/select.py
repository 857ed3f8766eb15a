"""Selection of the door for a source by its type."""

from __future__ import annotations

from typing import Any

from directrix.engines.doors import delta, files, iceberg, streams
from directrix.engines.doors.datasets import open_dataset
from directrix.engines.doors.opened import Opened
from directrix.engines.tables import is_arrow
from directrix.rows.rows import is_frame


def accepts(source: Any) -> bool:
    """Return whether a source can be read as Arrow batches."""
    if files.are_paths(source):
        return True
    source_type = type(source)
    if source_type.__module__.startswith("polars"):
        return source_type.__name__ == "LazyFrame"
    if _library(source) is not None:
        return True
    return streams.is_stream(source) and not is_frame(source)


def open_source(source: Any) -> Opened:
    """Open a source of any type that `accepts` names."""
    if files.are_paths(source):
        return files.open_paths(source)
    openers = {
        "polars": streams.open_lazy_frame,
        "duckdb": streams.open_relation,
        "deltalake": delta.open_table,
        "pyiceberg": iceberg.open_scan,
        "pyarrow": _open_pyarrow,
    }
    return openers.get(str(_library(source)), streams.open_stream)(source)


def _open_pyarrow(source: Any) -> Opened:
    from pyarrow import RecordBatchReader, dataset

    if is_arrow(source):
        return streams.open_table(source)
    if isinstance(source, RecordBatchReader | dataset.Scanner):
        is_scanner = isinstance(source, dataset.Scanner)
        return streams.open_reader(source.to_reader() if is_scanner else source)
    if isinstance(source, dataset.Dataset):
        return open_dataset(source)
    return streams.open_stream(source)


def _library(source: Any) -> str | None:
    """Return the library of a source, if it has a door of its own."""
    package = type(source).__module__.partition(".")[0].removeprefix("_")
    members = {
        "deltalake": hasattr(source, "to_pyarrow_dataset"),
        "pyiceberg": hasattr(source, "scan") or hasattr(source, "projection"),
    }
    known = package in ("polars", "duckdb", "pyarrow") or members.get(package, False)
    return package if known else None
