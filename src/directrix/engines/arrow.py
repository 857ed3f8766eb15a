"""Engine for rows in the Arrow layout: files, datasets, streams, lazy frames and relations.

Only the columns that are needed are read, and a stream is never held in memory as a whole.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from directrix.engines import memory
from directrix.engines.file_types import with_common_types
from directrix.engines.plan import POSITION, Partition, names_a_column
from directrix.engines.tables import is_arrow
from directrix.engines.vectors import vector_length
from directrix.moments import position_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from directrix.engines.plan import Plan

#: Largest number of rows and of values in a batch that is read; wide rows come in smaller batches.
BATCH_ROWS = 1 << 16
_READ_VALUES = 1 << 23
#: Number of values that are summarised at a time, and the least number of rows. Every summary
#: determines its shift afresh, which costs as much as about ten thousand rows.
_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12

_FORMATS = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "arrow": "ipc", "feather": "ipc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".br"}


class Opened(NamedTuple):
    """An opened source: its columns, and functions that read it.

    Parameters
    ----------
    columns : list of str
        Names of all columns.
    batches : callable
        Takes column names, returns an iterator of batches.
    n_rows : callable, optional
        Counts the rows; given only if that is cheap.
    positioned : callable, optional
        Like ``batches``, with an additional column of keys of the positions of rows in their files.
    """

    columns: list[str]
    batches: Callable[[list[str]], Iterator[Any]]
    n_rows: Callable[[], int] | None = None
    positioned: Callable[[list[str]], Iterator[Any]] | None = None


def accepts(source: Any) -> bool:
    """Return whether this engine reads the source."""
    source_type = type(source)
    if isinstance(source, str | PathLike) or _are_paths(source):
        return True
    if source_type.__module__.startswith("polars"):
        return source_type.__name__ == "LazyFrame"
    return source_type.__module__.startswith(("pyarrow", "_duckdb", "duckdb"))


def partials(
    source: Any, plan: Plan, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the result of the task on all rows, as partition 0."""
    roles = (plan.target, plan.weight, plan.fold, plan.by)
    if is_arrow(source) and not all(names_a_column(role) for role in roles):
        yield from memory.partials(source, plan, task, progress)
        return
    opened = _open(source)
    needed = plan.needed(opened.columns)
    progress.expect(opened.n_rows)
    read = (opened.positioned if plan.needs_row_keys else None) or opened.batches
    yield 0, task(plan, Partition(0, progress.counted(rebatched(read(needed))), 1))


def rebatched(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield tables of a fixed number of rows, whatever the sizes of the batches.

    So neither threads that read ahead nor the size of row groups can change a bit of the result.
    """
    waiting: list[Any] = []
    size = missing = 0
    for incoming in batches:
        if not incoming.num_rows:
            continue
        if not size:
            values = sum(vector_length(column) for column in incoming.columns)
            size = missing = max(_VALUES // max(values, 1), _FEWEST_ROWS)
        batch = incoming
        while batch.num_rows >= missing:
            waiting.append(batch.slice(0, missing))
            batch, missing = batch.slice(missing), size
            yield _as_table(waiting)
            waiting = []
        if batch.num_rows:
            waiting.append(batch)
            missing -= batch.num_rows
    if waiting:
        yield _as_table(waiting)


def _as_table(batches: list[Any]) -> Any:
    import pyarrow as pa

    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches)


def _open(source: Any) -> Opened:
    """Open a source of any type that `accepts` names."""
    source_type = type(source)
    if source_type.__module__.startswith("polars"):
        return _lazy_frame(source)
    if "duckdb" in source_type.__module__:
        return _relation(source)
    import pyarrow as pa
    from pyarrow import dataset

    if is_arrow(source):
        table = source if isinstance(source, pa.Table) else pa.Table.from_batches([source])

        def batches_of_table(columns: list[str]) -> Iterator[Any]:
            return iter(table.select(columns).to_batches())

        return Opened(table.schema.names, batches_of_table, lambda: int(table.num_rows))
    if isinstance(source, pa.RecordBatchReader | dataset.Scanner):
        reader = source.to_reader() if isinstance(source, dataset.Scanner) else source
        return Opened(reader.schema.names, lambda columns: _projected(reader, columns))
    return _dataset(source if isinstance(source, dataset.Dataset) else _files(source))


def _dataset(rows: Any) -> Opened:
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

    def batches(columns: list[str]) -> Iterator[Any]:
        size = _batch_rows(len(columns))
        typed = with_common_types(rows, columns)
        return _read_ahead(typed.to_batches(columns=columns, batch_size=size, **scan_options))

    def positioned(columns: list[str]) -> Iterator[Any]:
        typed = with_common_types(rows, columns)
        scanner = typed.scanner(
            columns=columns, batch_size=_batch_rows(len(columns)), **scan_options
        )
        return _read_ahead(_with_positions(scanner.scan_batches()))

    # The footer of a Parquet file has its number of rows; other files would have to be read.
    n_rows = rows.count_rows if is_parquet else None
    is_files = isinstance(rows, dataset.FileSystemDataset)
    return Opened(rows.schema.names, batches, n_rows, positioned if is_files else None)


def _with_positions(batches_and_fragments: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with a column of keys, from the number of the file and the row position."""
    import pyarrow as pa

    files: dict[str, list[int]] = {}  # number of the file, and rows read from it
    for batch, fragment in batches_and_fragments:
        file_and_offset = files.setdefault(fragment.path, [len(files), 0])
        keys = position_keys(batch.num_rows, *file_and_offset)
        file_and_offset[1] += batch.num_rows
        yield batch.append_column(POSITION, pa.array(keys))


def _read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches; while one is in use, the next is read in a thread."""
    with ThreadPoolExecutor(1) as reader:
        pending = reader.submit(next, batches, None)
        while (batch := pending.result()) is not None:
            pending = reader.submit(next, batches, None)
            yield batch
            del batch


def _batch_rows(n_columns: int) -> int:
    return min(max(_READ_VALUES // max(n_columns, 1), _FEWEST_ROWS), BATCH_ROWS)


def _projected(reader: Any, columns: list[str]) -> Iterator[Any]:
    for batch in reader:
        yield batch.select(columns)


def _files(source: Any) -> Any:
    """Open Parquet, Arrow or CSV files as a dataset: paths, patterns or folders of partitions."""
    from pyarrow import dataset

    paths_or_patterns = [source] if isinstance(source, str | PathLike) else list(source)
    paths = [
        path
        for path_or_pattern in paths_or_patterns
        for path in matching_files(str(fspath(path_or_pattern)))
    ]
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


def _lazy_frame(frame: Any) -> Opened:
    def batches(columns: list[str]) -> Iterator[Any]:
        # Older releases of polars cannot stream batches; then the streaming engine collects them.
        chosen, size = frame.select(columns), _batch_rows(len(columns))
        if hasattr(chosen, "collect_batches"):
            for part in chosen.collect_batches(chunk_size=size, maintain_order=True):
                yield from part.to_arrow().to_batches()
        else:
            collected = chosen.collect(engine="streaming")
            yield from collected.to_arrow().to_batches()

    return Opened(frame.collect_schema().names(), batches)


def _relation(relation: Any) -> Opened:
    def batches(columns: list[str]) -> Iterator[Any]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        chosen = relation.project(quoted)
        read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
        yield from read(_batch_rows(len(columns)))

    return Opened(relation.columns, batches)


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(isinstance(path, str | PathLike) for path in source)
    )
