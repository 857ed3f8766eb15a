"""Engine for rows in the Arrow layout: files, tables of a lake house, streams, lazy frames.

Only the columns that are needed are read, and a stream is never held in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from directrix.engines import memory
from directrix.engines.column_roles import ColumnRoles, Partition
from directrix.engines.readers import (
    Opened,
    are_paths,
    batch_rows,
    index_of,
    open_dataset,
    open_delta,
    open_iceberg,
    open_paths,
)
from directrix.engines.tables import vector_length
from directrix.rows.frames import is_arrow, is_frame

#: Number of values that are summarised at a time, and the least number of rows. Every summary
#: determines its shift afresh, which costs as much as about ten thousand rows.
_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12


def accepts(source: Any) -> bool:
    """Return whether a source can be read as Arrow batches."""
    if are_paths(source):
        return True
    source_type = type(source)
    if source_type.__module__.startswith("polars"):
        return source_type.__name__ == "LazyFrame"
    if _library(source) is not None:
        return True
    return (hasattr(source, "__arrow_c_stream__") or _is_cursor(source)) and not is_frame(source)


def partials(
    source: Any, plan: ColumnRoles, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the result of the task on all rows, as partition 0."""
    if is_arrow(source) and plan.given_roles():
        yield from memory.partials(source, plan, task, progress)
        return
    opened = open_source(source)
    needed = plan.needed(opened.columns, opened.pandas_index)
    progress.expect(opened.n_rows)
    read = (opened.positioned if plan.needs_row_keys else None) or opened.batches
    tables = progress.counted(rebatched(read(needed)))
    yield 0, task(plan, Partition(0, tables, 1))


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


# ── Sources: what is opened by which function ─────────────────────────────────────────────────────


def open_source(source: Any) -> Opened:
    """Open a source of any type that `accepts` names."""
    if are_paths(source):
        return open_paths(source)
    openers = {
        "polars": _open_lazy_frame,
        "duckdb": _open_relation,
        "deltalake": open_delta,
        "pyiceberg": open_iceberg,
        "pyarrow": _open_pyarrow,
    }
    return openers.get(str(_library(source)), _open_stream)(source)


def _library(source: Any) -> str | None:
    """Return the library of a source, if it has a reader of its own."""
    package = type(source).__module__.partition(".")[0].removeprefix("_")
    members = {
        "deltalake": hasattr(source, "to_pyarrow_dataset"),
        "pyiceberg": hasattr(source, "scan") or hasattr(source, "projection"),
    }
    known = package in ("polars", "duckdb", "pyarrow") or members.get(package, False)
    return package if known else None


def _open_pyarrow(source: Any) -> Opened:
    """Open a table, record batch, reader, scanner or dataset of pyarrow."""
    import pyarrow as pa
    from pyarrow import dataset

    if is_arrow(source):
        table = source if isinstance(source, pa.Table) else pa.Table.from_batches([source])
        return Opened(
            table.schema.names,
            lambda columns: iter(table.select(columns).to_batches()),
            lambda: int(table.num_rows),
            pandas_index=index_of(table.schema),
        )
    if isinstance(source, dataset.Scanner):
        return _open_reader(source.to_reader())
    if isinstance(source, pa.RecordBatchReader):
        return _open_reader(source)
    return open_dataset(source) if isinstance(source, dataset.Dataset) else _open_stream(source)


def _open_reader(reader: Any) -> Opened:
    """Open a reader of record batches, which can be read once."""
    return Opened(
        reader.schema.names,
        lambda columns: (batch.select(columns) for batch in reader),
        pandas_index=index_of(reader.schema),
    )


def _open_stream(source: Any) -> Opened:
    """Open a new stream of an object that exports one, or the result of an ADBC cursor."""
    import pyarrow as pa

    try:
        if _is_cursor(source):
            reader = source.fetch_record_batch()
        else:
            reader = pa.RecordBatchReader.from_stream(source)
    except Exception as error:  # every library has errors of its own
        msg = (
            f"no rows can be read from {type(source).__name__} ({error}). A stream can be read "
            "only once; to read rows more often, give a function without arguments that returns a "
            "new stream: lambda: connection.execute(query)"
        )
        raise ValueError(msg) from error
    return _open_reader(reader)


def _is_cursor(source: Any) -> bool:
    return hasattr(source, "fetch_record_batch") and hasattr(source, "adbc_statement")


def _open_lazy_frame(frame: Any) -> Opened:
    """Open a polars lazy frame."""

    def batches(columns: list[str]) -> Iterator[Any]:
        # Older releases of polars cannot stream batches; then the streaming engine collects them.
        chosen, size = frame.select(columns), batch_rows(len(columns))
        if hasattr(chosen, "collect_batches"):
            for part in chosen.collect_batches(chunk_size=size, maintain_order=True):
                yield from part.to_arrow().to_batches()
        else:
            collected = chosen.collect(engine="streaming")
            yield from collected.to_arrow().to_batches()

    return Opened(frame.collect_schema().names(), batches)


def _open_relation(relation: Any) -> Opened:
    """Open a duckdb relation."""

    def batches(columns: list[str]) -> Iterator[Any]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        chosen = relation.project(quoted)
        read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
        yield from read(batch_rows(len(columns)))

    return Opened(relation.columns, batches)
