"""Pyarrow datasets, read in order with little memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from directrix.engines.doors.file_types import names_in_files, require_columns, with_common_types
from directrix.engines.doors.opened import Opened, batch_rows
from directrix.engines.plan import POSITION
from directrix.rows.keys import position_keys


def open_dataset(rows: Any, *, complete: bool = False) -> Opened:
    """Open a dataset; rows of files are identified by their positions.

    Parameters
    ----------
    rows : pyarrow.dataset.Dataset
    complete : bool
        Whether each file must have the columns that are read. Otherwise the schema of the dataset
        says what there is, as that of a Delta table does, and a file without a column has missing
        values.
    """
    from pyarrow import dataset

    is_parquet = isinstance(getattr(rows, "format", None), dataset.ParquetFileFormat)
    # With its own threads a scan reads up to a gigabyte ahead of its consumer.
    scan_options: dict[str, Any] = {
        "use_threads": False,
        "batch_readahead": 2,
        "fragment_readahead": 1,
    }
    if is_parquet:
        # By default everything read from a file is buffered until its end.
        scan_options["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )

    def options(typed: Any, columns: list[str], where: Any) -> dict[str, Any]:
        chosen = {"columns": columns, "batch_size": batch_rows(len(columns)), **scan_options}
        if where is not None:
            chosen["filter"] = where.arrow(typed.schema, dataset.field)
        return chosen

    def require(columns: list[str]) -> None:
        if complete:
            require_columns(rows, columns)

    def batches(columns: list[str], where: Any) -> Iterator[Any]:
        require(columns)
        typed = with_common_types(rows, columns)
        return read_ahead(typed.to_batches(**options(typed, columns, where)))

    def positioned(columns: list[str], where: Any) -> Iterator[Any]:
        require(columns)
        typed = with_common_types(rows, columns)
        scanner = typed.scanner(**options(typed, columns, where))
        scanned = scanner.scan_batches()
        return read_ahead(with_positions((batch, fragment.path) for batch, fragment in scanned))

    # The footer of a Parquet file has its number of rows; other files would have to be read.
    n_rows = rows.count_rows if is_parquet else None
    is_files = isinstance(rows, dataset.FileSystemDataset)
    names = names_in_files(rows) if complete else rows.schema.names
    return Opened(names, batches, n_rows, positioned if is_files else None)


def with_positions(batches_and_files: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with a column of keys, from the number of the file and the row position.

    Rows that a scan skips are not counted; every scan with the same filter skips the same rows.

    Parameters
    ----------
    batches_and_files : iterator of tuples
        Each batch with the path of its file.
    """
    import pyarrow as pa

    files: dict[str, list[int]] = {}  # number of the file, and rows read from it
    for batch, path in batches_and_files:
        file_and_offset = files.setdefault(path, [len(files), 0])
        keys = position_keys(batch.num_rows, *file_and_offset)
        file_and_offset[1] += batch.num_rows
        yield batch.append_column(POSITION, pa.array(keys))


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches; while one is in use, the next is read in a thread."""
    with ThreadPoolExecutor(1) as reader:
        pending = reader.submit(next, batches, None)
        while (batch := pending.result()) is not None:
            pending = reader.submit(next, batches, None)
            yield batch
            del batch
