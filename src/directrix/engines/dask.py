"""Engine for Dask arrays, data frames and bags of chunks, on the current scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from directrix.engines.column_roles import ColumnRoles, Partition, group_counts
from directrix.engines.memory import IN_CHUNKS, chunk_table
from directrix.engines.tables import as_table
from directrix.rows.sums import tree_sum

#: Results that a worker adds at a time. It holds all of them in memory, so they are fewer than on
#: engines that add a stream.
_FAN_IN = 8


def accepts(source: Any) -> bool:
    """Return whether this engine reads the source."""
    return type(source).__module__.startswith("dask.")


def partials(
    source: Any, plan: ColumnRoles, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the few sums that are left of the results of the task, with their numbers."""
    import dask

    run_on_part = dask.delayed(_run_on_part, pure=False)
    add = dask.delayed(_add, pure=False)
    named_plan, parts = _parts(source, plan)
    # The plan and the task are put into the graph once, not into every node.
    shared = dask.delayed((named_plan, plan, task, len(parts)), pure=False, traverse=False)
    results = [run_on_part(shared, number, *part) for number, part in enumerate(parts)]
    for n_groups in group_counts(len(results), _FAN_IN):
        results = [add(results[k * _FAN_IN : (k + 1) * _FAN_IN]) for k in range(n_groups)]
    for number, (n_rows, result) in enumerate(dask.compute(*results)):
        progress.add(n_rows)
        yield number, result


def _run_on_part(shared: Any, number: int, data: Any, beside: Any) -> tuple[int, Any]:
    """Run a task on a partition, which is a table or a list of chunks; return rows and result."""
    named_plan, plan, task, count = shared
    chunks = data if isinstance(data, list) else [data]
    if beside is None:
        tables = [chunk_table(chunk, plan) for chunk in chunks]
    else:
        tables = [as_table(np.asarray(data) if not hasattr(data, "tocsr") else data, beside)]
    if any(isinstance(chunk, tuple) for chunk in chunks):
        named_plan = plan.with_columns_for(IN_CHUNKS)
    n_rows = sum(table.data.shape[0] for table in tables)
    return n_rows, task(named_plan, Partition(number, tables, count))


def _add(group: list[tuple[int, Any]]) -> tuple[int, Any]:
    """Return the number of rows and the sum of the results of a group."""
    return sum(n_rows for n_rows, _ in group), tree_sum(result for _, result in group)


def _parts(source: Any, plan: ColumnRoles) -> tuple[ColumnRoles, list[tuple[Any, Any]]]:
    """Return the plan with all roles named, and the table and extra columns of each partition."""
    type_name = type(source).__name__
    if type_name == "Array":
        return _array_parts(source, plan)
    if type_name == "DataFrame":
        source = source[plan.needed(list(source.columns))]
    elif type_name != "Bag":
        msg = f"cannot read rows from {type_name}: give a Dask array, data frame or bag of chunks"
        raise TypeError(msg)
    return plan, [(part, None) for part in source.to_delayed()]


def _array_parts(source: Any, plan: ColumnRoles) -> tuple[ColumnRoles, list[tuple[Any, Any]]]:
    """Return the row blocks of an array with the labels and weights of each block."""
    plan.require_target()
    source = source.rechunk({1: -1})
    lengths = source.chunks[0]
    besides: list[dict[Any, Any]] = [{} for _ in lengths]
    given = plan.given_roles()
    for role, values in given.items():
        for beside, piece in zip(besides, _pieces(values, lengths), strict=True):
            beside[role, "given"] = piece
    blocks = source.to_delayed()[:, 0]
    return plan.with_columns_for(given), list(zip(blocks, besides, strict=True))


def _pieces(values: Any, lengths: tuple[int, ...]) -> Any:
    """Split the values of a role into one piece for each block of rows."""
    values = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    if hasattr(values, "rechunk"):
        return values.rechunk((lengths,)).to_delayed()
    if any(length != length for length in lengths):  # noqa: PLR0124 - NaN
        msg = (
            "the blocks of the array are of unknown length: call compute_chunk_sizes() on it, or "
            "give labels and weights as Dask arrays in the same blocks"
        )
        raise ValueError(msg)
    return np.split(np.asarray(values), np.cumsum(lengths)[:-1])
