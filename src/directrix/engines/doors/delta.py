"""Delta tables: the rows of one version, without those that were deleted or replaced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from directrix.engines.doors.datasets import open_dataset, read_ahead
from directrix.engines.doors.opened import Opened

#: Features of tables whose files alone do not show the rows: some are deleted, names differ.
_NOT_IN_FILES = {"columnMapping", "deletionVectors"}


def is_folder(path: Path) -> bool:
    """Return whether a path is the folder of a Delta table."""
    return (path / "_delta_log").is_dir()


def open_folder(path: str) -> Opened:
    """Open the newest version of the Delta table in a folder."""
    try:
        from deltalake import DeltaTable
    except ModuleNotFoundError as error:
        msg = (
            f"{path!r} is the folder of a Delta table, and deltalake, which reads it, is not "
            "installed: pip install 'directrix[delta]'"
        )
        raise ModuleNotFoundError(msg, name="deltalake") from error
    return open_table(DeltaTable(path))


def open_table(table: Any) -> Opened:
    """Open a version of a Delta table.

    Its files are read as a dataset where they hold exactly the rows of the table. Otherwise, or
    where the names of columns in files differ from those of the table, the engine of deltalake
    reads them.

    Parameters
    ----------
    table : deltalake.DeltaTable
    """
    from pyarrow import dataset

    features = set(table.protocol().reader_features or ())
    # Tables of reader version 2 map columns without naming the feature.
    mapped = table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none"
    if mapped or features & _NOT_IN_FILES:
        return _scanned(table)
    rows = table.to_pyarrow_dataset()
    # The order of the files is not part of the table; here it is that of their names.
    fragments = sorted(rows.get_fragments(), key=lambda fragment: str(fragment.path))
    ordered = dataset.FileSystemDataset(fragments, rows.schema, rows.format, rows.filesystem)
    return open_dataset(ordered)


def _scanned(table: Any) -> Opened:
    """Open a table by the engine of deltalake, which returns rows in any order."""
    import pyarrow as pa

    if not hasattr(table, "scan"):
        msg = (
            "the Delta table has deletion vectors or mapped columns, which this release of "
            "deltalake does not read: install a newer one"
        )
        raise ValueError(msg)
    schema = pa.schema(table.schema().to_arrow())

    def batches(columns: list[str], where: Any) -> Iterator[Any]:
        predicate = None if where is None else where.sql(schema)
        return read_ahead(iter(pa.RecordBatchReader.from_stream(table.scan(columns, predicate))))

    return Opened(schema.names, batches)
