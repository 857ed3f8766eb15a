"""Tables of a lake house: Delta tables, and tables and scans of pyiceberg."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from directrix.engines.readers.datasets import Opened, open_dataset, read_ahead, with_positions

# ── Delta tables: the rows of one version, without those that were deleted or replaced ────────────

#: Features of tables whose files alone do not show the rows: some are deleted, names differ.
_NOT_IN_FILES = {"columnMapping", "deletionVectors"}


def is_delta_folder(path: Path) -> bool:
    """Return whether a path is the folder of a Delta table."""
    return (path / "_delta_log").is_dir()


def open_delta_folder(path: str) -> Opened:
    """Open the newest version of the Delta table in a folder."""
    try:
        from deltalake import DeltaTable
    except ModuleNotFoundError as error:
        msg = (
            f"{path!r} is the folder of a Delta table, and deltalake, which reads it, is not "
            "installed: pip install 'directrix[delta]'"
        )
        raise ModuleNotFoundError(msg, name="deltalake") from error
    return open_delta(DeltaTable(path))


def open_delta(table: Any) -> Opened:
    """Open a version of a Delta table.

    Its files are read as a dataset where they hold exactly the rows of the table. Otherwise, or
    where the names of columns in files differ from those of the table, the engine of deltalake
    reads them.
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

    def batches(columns: list[str]) -> Iterator[Any]:
        return read_ahead(iter(pa.RecordBatchReader.from_stream(table.scan(columns))))

    return Opened(pa.schema(table.schema().to_arrow()).names, batches)


# ── Iceberg tables and scans of pyiceberg, read file by file ──────────────────────────────────────


def open_iceberg(source: Any) -> Opened:
    """Open the current snapshot of a table, or a scan with its snapshot, filter and columns."""
    scan = source.scan() if hasattr(source, "scan") else source
    if scan.limit is not None:
        msg = (
            "the Iceberg scan has a limit, which keeps any rows: leave it out, or select rows "
            "with its row_filter"
        )
        raise ValueError(msg)

    def batches(columns: list[str]) -> Iterator[Any]:
        return read_ahead(batch for batch, _ in _batches_and_files(scan, columns))

    def positioned(columns: list[str]) -> Iterator[Any]:
        return read_ahead(with_positions(_batches_and_files(scan, columns)))

    return Opened([field.name for field in scan.projection().fields], batches, None, positioned)


def _batches_and_files(scan: Any, columns: list[str]) -> Iterator[tuple[Any, str]]:
    """Yield the batches of all files, in the order of their names, with the paths of the files.

    A reader of a whole scan would read all files at once, and hold what is not consumed.
    """
    from pyiceberg.io.pyarrow import ArrowScan

    chosen = scan.select(*columns)
    schema = chosen.projection()
    arrow_schema = schema.as_arrow()
    reader = ArrowScan(
        chosen.table_metadata, chosen.io, schema, chosen.row_filter, chosen.case_sensitive
    )
    for task in sorted(chosen.plan_files(), key=lambda task: str(task.file.file_path)):
        for batch in reader.to_record_batches([task]):
            # Files written by different programs may hold texts as different types.
            yield batch.cast(arrow_schema).select(columns), task.file.file_path
