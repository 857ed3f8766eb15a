"""Rows in Dask: arrays, data frames, and bags of chunks, on whatever scheduler is in charge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.memory import IN_CHUNKS, chunk_table
from directrix.engines.plan import Partition, names_a_column
from directrix.engines.tables import as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from directrix.engines.plan import Plan

_ROLES = ("target", "weight", "fold", "by")


def accepts(source: Any) -> bool:
    """Tell whether this engine reads the source."""
    return type(source).__module__.startswith("dask.")


def partials(
    source: Any, plan: Plan, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Give what the task makes of each partition, with the partition's number."""
    import dask

    on_part = dask.delayed(_on_part, pure=False)
    named, parts = _parts(source, plan)
    # Each goes once into the graph, not into every task.
    shared = dask.delayed((named, plan, task), pure=False, traverse=False)
    answers = dask.compute(*(on_part(shared, k, *part) for k, part in enumerate(parts)))
    for number, (n_rows, answer) in enumerate(answers):
        progress.add(n_rows)
        yield number, answer


def _on_part(shared: Any, number: int, data: Any, beside: Any) -> tuple[int, Any]:
    """Run a task on one partition: a table, or a list of chunks."""
    named, plan, task = shared
    chunks = data if isinstance(data, list) else [data]
    if beside is None:
        tables = [chunk_table(chunk, plan) for chunk in chunks]
    else:
        tables = [as_table(np.asarray(data) if not hasattr(data, "tocsr") else data, beside)]
    if any(isinstance(chunk, tuple) for chunk in chunks):
        named = replace(plan, **{role: (role, "given") for role in IN_CHUNKS})
    n_rows = sum(table.data.shape[0] for table in tables)
    return n_rows, task(named, Partition(number, tables))


def _parts(source: Any, plan: Plan) -> tuple[Plan, list[tuple[Any, Any]]]:
    """Return the plan with all roles named, and a table (and columns beside it) for each part."""
    kind = type(source).__name__
    if kind == "Array":
        return _array_parts(source, plan)
    if kind == "DataFrame":
        source = source[plan.needed(list(source.columns))]
    elif kind != "Bag":
        msg = f"cannot read rows from {kind}: give a Dask array, data frame or bag of chunks"
        raise TypeError(msg)
    return plan, [(part, None) for part in source.to_delayed()]


def _array_parts(source: Any, plan: Plan) -> tuple[Plan, list[tuple[Any, Any]]]:
    """Return row blocks of an array, and the labels and weights that go with each."""
    if plan.target is None:
        msg = "say where the labels are: target= takes a column's index, or the labels"
        raise ValueError(msg)
    source = source.rechunk({1: -1})
    lengths = source.chunks[0]
    besides: list[dict[Any, Any]] = [{} for _ in lengths]
    roles = {}
    for role in _ROLES:
        given = getattr(plan, role)
        if names_a_column(given):
            continue
        roles[role] = (role, "given")
        for beside, piece in zip(besides, _pieces(given, lengths), strict=True):
            beside[roles[role]] = piece
    blocks = source.to_delayed()[:, 0]
    return replace(plan, **roles), list(zip(blocks, besides, strict=True))


def _pieces(given: Any, lengths: tuple[int, ...]) -> Any:
    """Return the values that go with each block of rows."""
    given = given.to_dask_array() if hasattr(given, "to_dask_array") else given
    if hasattr(given, "rechunk"):
        return given.rechunk((lengths,)).to_delayed()
    if any(length != length for length in lengths):  # noqa: PLR0124 - NaN
        msg = (
            "the blocks of the array are of unknown length: call compute_chunk_sizes() on it, or "
            "give labels and weights as Dask arrays in the same blocks"
        )
        raise ValueError(msg)
    return np.split(np.asarray(given), np.cumsum(lengths)[:-1])
