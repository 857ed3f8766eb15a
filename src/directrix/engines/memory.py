"""Engine for rows in memory: arrays, sparse matrices, data frames, Arrow tables and chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from directrix.engines.column_roles import ColumnRoles, Partition
from directrix.engines.tables import SourceTable, as_table
from directrix.rows.frames import is_table

_SHORTEST, _LONGEST = 2, 4  # entries of a chunk that is a tuple
IN_CHUNKS = ("target", "weight", "fold")  # roles of the entries after the features


def accepts(source: Any) -> bool:  # noqa: ARG001 - the last engine asked
    """Return True: this engine takes every source that the others leave."""
    return True


def partials(
    source: Any, plan: ColumnRoles, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the result of the task on all rows, as partition 0."""
    if is_table(source):
        plan.require_target()
        given = plan.given_roles()
        table = as_table(source, {(role, "given"): values for role, values in given.items()})
        named_plan, tables = plan.with_columns_for(given), iter([table])
    else:
        named_plan, tables = _chunks(source, plan)
    yield 0, task(named_plan, Partition(0, progress.counted(tables), 1))


def _chunks(source: Any, plan: ColumnRoles) -> tuple[ColumnRoles, Iterator[Any]]:
    """Return the plan with the roles that chunks bring, and the chunks as tables."""
    if not isinstance(source, Iterable):
        msg = (
            f"cannot read rows from {type(source).__name__}: give an array, a sparse matrix, a "
            "data frame, or an iterable of them"
        )
        raise TypeError(msg)
    if plan.given_roles():
        msg = (
            "the rows come in chunks, so target=, weight= and fold= must name a column of them; "
            "or give chunks (X, y), (X, y, weight) or (X, y, weight, fold), and target=None"
        )
        raise ValueError(msg)
    chunks = iter(source)
    try:
        first_chunk = [next(chunks)]
    except StopIteration:
        msg = "there are no chunks (an iterator can be read only once)"
        raise ValueError(msg) from None

    def tables() -> Iterator[SourceTable]:
        yield chunk_table(first_chunk.pop(), plan)
        for chunk in chunks:
            yield chunk_table(chunk, plan)

    in_tuples = isinstance(first_chunk[0], tuple)
    return plan.with_columns_for(IN_CHUNKS if in_tuples else ()), tables()


def chunk_table(chunk: Any, plan: ColumnRoles) -> SourceTable:
    """Return a chunk as a table; labels, weights and folds of a tuple become named columns."""
    if not isinstance(chunk, tuple):
        plan.require_target()
        return as_table(chunk)
    role_values = (plan.target, plan.features, plan.weight, plan.fold, plan.by, plan.segment)
    if not _SHORTEST <= len(chunk) <= _LONGEST or any(role is not None for role in role_values):
        msg = (
            "a chunk that is a tuple must be (X, y), (X, y, weight) or (X, y, weight, fold); it "
            "brings everything itself, so only classes= can be given beside target=None"
        )
        raise ValueError(msg)
    X = chunk[0] if is_table(chunk[0]) else np.asarray(chunk[0])
    parts = (*chunk[1:], None, None)
    return as_table(X, {(role, "given"): part for role, part in zip(IN_CHUNKS, parts)})  # noqa: B905
