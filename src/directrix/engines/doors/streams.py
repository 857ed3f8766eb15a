"""Arrow tables, readers and streams, cursors of databases, lazy frames and relations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from directrix.engines.doors.opened import Opened, batch_rows


def open_table(source: Any) -> Opened:
    """Open an Arrow table or record batch."""
    import pyarrow as pa

    table = source if isinstance(source, pa.Table) else pa.Table.from_batches([source])

    def batches(columns: list[str], where: Any) -> Iterator[Any]:  # noqa: ARG001 - filtered later
        return iter(table.select(columns).to_batches())

    return Opened(table.schema.names, batches, lambda: int(table.num_rows))


def open_reader(reader: Any) -> Opened:
    """Open a reader of record batches, which can be read once."""

    def batches(columns: list[str], where: Any) -> Iterator[Any]:  # noqa: ARG001 - filtered later
        for batch in reader:
            yield batch.select(columns)

    return Opened(reader.schema.names, batches)


def is_stream(source: Any) -> bool:
    """Return whether a source exports an Arrow stream, or is a cursor that does."""
    return hasattr(source, "__arrow_c_stream__") or _is_cursor(source)


def open_stream(source: Any) -> Opened:
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
    return open_reader(reader)


def _is_cursor(source: Any) -> bool:
    return hasattr(source, "fetch_record_batch") and hasattr(source, "adbc_statement")


def open_lazy_frame(frame: Any) -> Opened:
    """Open a polars lazy frame."""

    def batches(columns: list[str], where: Any) -> Iterator[Any]:
        # Older releases of polars cannot stream batches; then the streaming engine collects them.
        passing = frame if where is None else frame.filter(where.polars(frame.collect_schema()))
        chosen, size = passing.select(columns), batch_rows(len(columns))
        if hasattr(chosen, "collect_batches"):
            for part in chosen.collect_batches(chunk_size=size, maintain_order=True):
                yield from part.to_arrow().to_batches()
        else:
            collected = chosen.collect(engine="streaming")
            yield from collected.to_arrow().to_batches()

    return Opened(frame.collect_schema().names(), batches)


def open_relation(relation: Any) -> Opened:
    """Open a duckdb relation."""

    def batches(columns: list[str], where: Any) -> Iterator[Any]:
        condition = None if where is None else where.sql(_read(relation.limit(0), 1).schema)
        passing = relation if condition is None else relation.filter(condition)
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        yield from _read(passing.project(quoted), batch_rows(len(columns)))

    return Opened(relation.columns, batches)


def _read(relation: Any, size: int) -> Any:
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return read(size)
