"""Iceberg tables and scans of pyiceberg, read file by file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from directrix.engines.doors.datasets import read_ahead, with_positions
from directrix.engines.doors.opened import Opened


def open_scan(source: Any) -> Opened:
    """Open the current snapshot of a table, or a scan with its snapshot, filter and columns.

    Parameters
    ----------
    source : pyiceberg.table.Table or pyiceberg.table.DataScan
    """
    scan = source.scan() if hasattr(source, "scan") else source
    if scan.limit is not None:
        msg = "the Iceberg scan has a limit, which keeps any rows: leave it out, or use where="
        raise ValueError(msg)
    names = [field.name for field in scan.projection().fields]

    def batches(columns: list[str], where: Any) -> Iterator[Any]:
        return read_ahead(batch for batch, _ in _batches_and_files(scan, columns, where))

    def positioned(columns: list[str], where: Any) -> Iterator[Any]:
        return read_ahead(with_positions(_batches_and_files(scan, columns, where)))

    return Opened(names, batches, None, positioned)


def _batches_and_files(scan: Any, columns: list[str], where: Any) -> Iterator[tuple[Any, str]]:
    """Yield the batches of all files, in the order of their names, with the paths of the files.

    A reader of a whole scan would read all files at once, and hold what is not consumed.
    """
    from pyiceberg.io.pyarrow import ArrowScan

    chosen = scan.select(*columns)
    if where is not None:
        chosen = chosen.filter(where.iceberg(chosen.projection().as_arrow()))
    schema = chosen.projection()
    arrow_schema = schema.as_arrow()
    reader = ArrowScan(
        chosen.table_metadata, chosen.io, schema, chosen.row_filter, chosen.case_sensitive
    )
    for task in sorted(chosen.plan_files(), key=lambda task: str(task.file.file_path)):
        for batch in reader.to_record_batches([task]):
            # Files written by different programs may hold texts as different types.
            yield batch.cast(arrow_schema).select(columns), task.file.file_path
