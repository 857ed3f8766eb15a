"""Rows in Arrow's memory layout: files, datasets, streams, lazy frames, relations.

Columns that are not needed are never read, and a stream is never held whole.
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
from directrix.moments.row_keys import position_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from directrix.engines.plan import Plan

#: Rows that are read at a time, and values: wide rows come in smaller batches.
BATCH_ROWS = 1 << 16
_READ = 1 << 23
#: Values that are summarised at a time, of so many rows at least: a summary finds its shift anew,
#: which costs as much as some ten thousand rows.
_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12

_FORMATS = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "arrow": "ipc", "feather": "ipc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".br"}


class Opened(NamedTuple):
    """A source whose columns are known.

    Parameters
    ----------
    columns : list of str
    batches : callable
        Reads some of the columns.
    n_rows : callable, optional
        Counts the rows, if that is cheap.
    positioned : callable, optional
        Reads some of the columns and, beside them, keys of the positions of rows in their files.
    """

    columns: list[str]
    batches: Callable[[list[str]], Iterator[Any]]
    n_rows: Callable[[], int] | None = None
    positioned: Callable[[list[str]], Iterator[Any]] | None = None


def accepts(source: Any) -> bool:
    """Tell whether this engine reads the source."""
    kind = type(source)
    if isinstance(source, str | PathLike) or _are_paths(source):
        return True
    if kind.__module__.startswith("polars"):
        return kind.__name__ == "LazyFrame"
    return kind.__module__.startswith(("pyarrow", "_duckdb", "duckdb"))


def partials(
    source: Any, plan: Plan, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Give what the task makes of all rows, as one partition."""
    roles = (plan.target, plan.weight, plan.fold, plan.by)
    if is_arrow(source) and not all(names_a_column(role) for role in roles):
        yield from memory.partials(source, plan, task, progress)
        return
    opened = _opened(source)
    needed = plan.needed(opened.columns)
    progress.expect(opened.n_rows)
    read = (opened.positioned if plan.knows_rows else None) or opened.batches
    yield 0, task(plan, Partition(0, progress.counted(regrouped(read(needed)))))


def regrouped(batches: Iterator[Any]) -> Iterator[Any]:
    """Give tables of so many rows each, however many the batches have.

    Then neither threads that read ahead nor the size of row groups can change a bit.
    """
    waiting: list[Any] = []
    size = lacking = 0
    for whole in batches:
        if not whole.num_rows:
            continue
        if not size:
            values = sum(vector_length(column) for column in whole.columns)
            size = lacking = max(_VALUES // max(values, 1), _FEWEST_ROWS)
        batch = whole
        while batch.num_rows >= lacking:
            waiting.append(batch.slice(0, lacking))
            batch, lacking = batch.slice(lacking), size
            yield _together(waiting)
            waiting = []
        if batch.num_rows:
            waiting.append(batch)
            lacking -= batch.num_rows
    if waiting:
        yield _together(waiting)


def _together(batches: list[Any]) -> Any:
    import pyarrow as pa

    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches)


def _opened(source: Any) -> Opened:
    """Return the columns, and what reads some of them."""
    kind = type(source)
    if kind.__module__.startswith("polars"):
        return _lazy_frame(source)
    if "duckdb" in kind.__module__:
        return _relation(source)
    import pyarrow as pa
    from pyarrow import dataset

    if is_arrow(source):
        table = source if isinstance(source, pa.Table) else pa.Table.from_batches([source])

        def of_table(columns: list[str]) -> Iterator[Any]:
            return iter(table.select(columns).to_batches())

        return Opened(table.schema.names, of_table, lambda: int(table.num_rows))
    if isinstance(source, pa.RecordBatchReader | dataset.Scanner):
        reader = source.to_reader() if isinstance(source, dataset.Scanner) else source
        return Opened(reader.schema.names, lambda columns: _projected(reader, columns))
    return _dataset(source if isinstance(source, dataset.Dataset) else _files(source))


def _dataset(rows: Any) -> Opened:
    from pyarrow import dataset

    is_parquet = isinstance(getattr(rows, "format", None), dataset.ParquetFileFormat)
    # With threads of its own a scan reads on, to a gigabyte, whether anyone takes what it has read.
    how: dict[str, Any] = {"use_threads": False, "batch_readahead": 2, "fragment_readahead": 1}
    if is_parquet:
        # By default all that was read of a file is kept until its end.
        how["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )

    def batches(columns: list[str]) -> Iterator[Any]:
        size = _batch_rows(len(columns))
        alike = with_common_types(rows, columns)
        return _one_ahead(alike.to_batches(columns=columns, batch_size=size, **how))

    def positioned(columns: list[str]) -> Iterator[Any]:
        alike = with_common_types(rows, columns)
        scanner = alike.scanner(columns=columns, batch_size=_batch_rows(len(columns)), **how)
        return _one_ahead(_with_positions(scanner.scan_batches()))

    # Parquet says in its footer how many rows there are; others would have to be read.
    n_rows = rows.count_rows if is_parquet else None
    is_files = isinstance(rows, dataset.FileSystemDataset)
    return Opened(rows.schema.names, batches, n_rows, positioned if is_files else None)


def _with_positions(tagged: Iterator[Any]) -> Iterator[Any]:
    """Give batches with a column of keys: the number of the file, and the position in it."""
    import pyarrow as pa

    files: dict[str, list[int]] = {}  # number of the file, and rows read of it
    for batch, fragment in tagged:
        seen = files.setdefault(fragment.path, [len(files), 0])
        keys = position_keys(batch.num_rows, *seen)
        seen[1] += batch.num_rows
        yield batch.append_column(POSITION, pa.array(keys))


def _one_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Give batches; while one is in use, the next is read."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch
            del batch


def _batch_rows(n_columns: int) -> int:
    return min(max(_READ // max(n_columns, 1), _FEWEST_ROWS), BATCH_ROWS)


def _projected(reader: Any, columns: list[str]) -> Iterator[Any]:
    for batch in reader:
        yield batch.select(columns)


def _files(source: Any) -> Any:
    """Open Parquet, Arrow or CSV files: one, several, a pattern, or a folder of partitions."""
    from pyarrow import dataset

    given = [source] if isinstance(source, str | PathLike) else list(source)
    paths = [path for each in given for path in matching_files(str(fspath(each)))]
    forms = {file_format(Path(path)) for path in paths}
    if len(forms) > 1:
        msg = f"the files are of several kinds ({', '.join(sorted(forms))}): give those of one"
        raise ValueError(msg)
    form = _csv() if forms == {"csv"} else forms.pop()
    single = len(paths) == 1
    return dataset.dataset(paths[0] if single else paths, format=form, partitioning="hive")


def _csv() -> Any:
    """Return how CSV is read: what is missing is missing in columns of text too."""
    from pyarrow import csv, dataset

    return dataset.CsvFileFormat(convert_options=csv.ConvertOptions(strings_can_be_null=True))


def matching_files(path: str) -> list[str]:
    """Return the files that a path or pattern means."""
    if Path(path).exists():
        return [path]
    matches = glob(path, recursive=True) if any(c in path for c in "*?[") else []  # noqa: PTH207
    # What begins so is no data (Spark's _SUCCESS).
    found = sorted(match for match in matches if not Path(match).name.startswith(("_", ".")))
    if not found:
        msg = f"no file at {path!r}: give the path of a file or folder, or a pattern"
        raise FileNotFoundError(msg)
    return found


def file_format(path: Path) -> str:
    """Return the format of a file by its name, of a folder by that of the first file in it."""
    if path.is_dir():
        inside = (file for file in sorted(path.rglob("*.*")) if file.is_file())
        path = next((file for file in inside if not file.name.startswith(("_", "."))), path)
    if path.suffix in COMPRESSED:
        path = path.with_suffix("")
    return _FORMATS.get(path.suffix.lstrip(".").lower(), "parquet")


def _lazy_frame(frame: Any) -> Opened:
    def batches(columns: list[str]) -> Iterator[Any]:
        # Streamed where this release of polars can, else collected by its streaming engine.
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
