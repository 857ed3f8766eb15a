"""Rows in memory: arrays, sparse matrices, data frames, Arrow tables, and chunks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.plan import Partition, Plan, names_a_column
from directrix.engines.tables import Table, as_table, is_table

if TYPE_CHECKING:
    from collections.abc import Callable

_SHORTEST, _LONGEST = 2, 4  # entries of a chunk that is a tuple
IN_CHUNKS = ("target", "weight", "fold")  # what it brings after the features


def accepts(source: Any) -> bool:  # noqa: ARG001 - what others leave
    """Tell whether this engine reads the source: it takes all that no other does."""
    return True


def partials(
    source: Any, plan: Plan, task: Callable[..., Any], progress: Any
) -> Iterator[tuple[int, Any]]:
    """Give what the task makes of all rows, as one partition."""
    if is_table(source):
        if plan.target is None:
            msg = "say where the labels are: target= takes a column's name or index, or the labels"
            raise ValueError(msg)
        table, plan = _attached(source, plan)
        yield 0, task(plan, Partition(0, progress.counted([table])))
        return
    named, tables = _chunks(source, plan, progress)
    yield 0, task(named, Partition(0, tables))


def _attached(source: Any, plan: Plan) -> tuple[Table, Plan]:
    """Put values that were given as arrays beside the columns, and name them in the plan."""
    beside, roles = {}, {}
    for role in ("target", "weight", "fold", "by"):
        given = getattr(plan, role)
        if not names_a_column(given):
            beside[role, "given"] = given
            roles[role] = (role, "given")
    return as_table(source, beside), replace(plan, **roles)


def _chunks(source: Any, plan: Plan, progress: Any) -> tuple[Plan, Iterator[Any]]:
    if not isinstance(source, Iterable):
        msg = (
            f"cannot read rows from {type(source).__name__}: give an array, a sparse matrix, a "
            "data frame, or an iterable of them"
        )
        raise TypeError(msg)
    given = (plan.target, plan.weight, plan.fold, plan.by)
    if not all(names_a_column(role) for role in given):
        msg = (
            "the rows come in chunks, so target=, weight= and fold= must name a column of them; "
            "or give chunks (X, y), (X, y, weight) or (X, y, weight, fold), and target=None"
        )
        raise ValueError(msg)
    chunks = iter(source)
    try:
        waiting = [next(chunks)]
    except StopIteration:
        msg = "there are no chunks (an iterator can be read only once)"
        raise ValueError(msg) from None

    def tables() -> Iterator[Table]:
        yield chunk_table(waiting.pop(), plan)
        for chunk in chunks:
            yield chunk_table(chunk, plan)

    named = plan
    if isinstance(waiting[0], tuple):
        named = replace(plan, **{role: (role, "given") for role in IN_CHUNKS})
    return named, progress.counted(tables())


def chunk_table(chunk: Any, plan: Plan) -> Table:
    """Return a chunk as a table, what it brings beside its features by name."""
    if not isinstance(chunk, tuple):
        if plan.target is None:
            msg = "say where the labels are: target= takes a column's name or index, or the labels"
            raise ValueError(msg)
        return as_table(chunk)
    given = (plan.target, plan.features, plan.weight, plan.fold, plan.by)
    if not _SHORTEST <= len(chunk) <= _LONGEST or any(role is not None for role in given):
        msg = (
            "a chunk that is a tuple must be (X, y), (X, y, weight) or (X, y, weight, fold); it "
            "brings everything itself, so only classes= can be given beside target=None"
        )
        raise ValueError(msg)
    X = chunk[0] if is_table(chunk[0]) else np.asarray(chunk[0])
    parts = (*chunk[1:], None, None)
    return as_table(X, {(role, "given"): part for role, part in zip(IN_CHUNKS, parts)})  # noqa: B905
