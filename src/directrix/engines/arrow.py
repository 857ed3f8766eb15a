"""Engine for rows in the Arrow layout: files, tables of a lake house, streams, lazy frames.

Only the columns that are needed are read, and a stream is never held in memory as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from directrix.engines import memory
from directrix.engines.block import Partition
from directrix.engines.doors.select import accepts, open_source
from directrix.engines.plan import names_a_column
from directrix.engines.tables import is_arrow
from directrix.engines.vectors import vector_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from directrix.engines.plan import Plan

#: Number of values that are summarised at a time, and the least number of rows. Every summary
#: determines its shift afresh, which costs as much as about ten thousand rows.
_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12

__all__ = ["accepts", "partials", "rebatched"]


def partials(
    source: Any, plan: Plan, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the result of the task on all rows, as partition 0."""
    roles = (plan.target, plan.weight, plan.fold, plan.by)
    if is_arrow(source) and not all(names_a_column(role) for role in roles):
        yield from memory.partials(source, plan, task, progress)
        return
    opened = open_source(source)
    needed = plan.needed(opened.columns)
    progress.expect(opened.n_rows if plan.where is None else None)
    read = (opened.positioned if plan.needs_row_keys else None) or opened.batches
    tables = progress.counted(rebatched(read(needed, plan.where)))
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
