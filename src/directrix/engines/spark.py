"""Engine for Spark data frames: each partition is summarised on its worker, in Arrow batches.

The workers need this package; the engine installs nothing on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from directrix.engines.arrow import rebatched
from directrix.engines.column_roles import (
    ENCODE,
    ColumnRoles,
    Partition,
    group_counts,
    group_sums,
    packed,
    unpacked,
)
from directrix.exceptions import WorkerLibraryError
from directrix.exceptions.columns import NotNumericError

#: A result is sent in pieces, because batches of Arrow and messages have limited sizes.
_PIECES = "number int, piece int, part binary"
_PIECE_BYTES = 1 << 24
#: Results that a task adds. Before pyspark 4.1 all of them may come in one batch, of at most 2 GB.
_FAN_IN, _FAN_IN_OF_ONE_BATCH = 64, 8
#: Levels that add up 4,096 partitions, if their number is not known.
_LEVELS, _LEVELS_OF_ONE_BATCH = 2, 4
#: How the types of numbers begin, and those of vectors, which may be the only column of features.
#: Columns of void have no values; their worker refuses them as missing.
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "void")
_VECTORS = ("array", "struct", "vector")


def accepts(source: Any) -> bool:
    """Return whether this engine reads the source."""
    source_type = type(source)
    return source_type.__module__.startswith("pyspark.") and source_type.__name__ == "DataFrame"


def partials(
    source: Any,
    plan: ColumnRoles,
    task: Callable[..., Any],
    progress: Any,  # noqa: ARG001 - Spark shows its own progress
) -> Iterator[tuple[int, Any]]:
    """Yield the sums of the results of the task that are left for the driver, with their numbers.

    Executors add the results, with a shuffle for each level of the tree. A task that is retried or
    run twice returns the same partition number, so that no partition is counted twice.
    """
    if type(source).__module__.startswith("pyspark.pandas"):  # its index is not a column
        source = source.to_spark()
    needed = plan.needed(source.columns)
    if not plan.takes_texts:
        _require_numbers(source, plan.feature_columns(source.columns))
    chosen = source.select(*(f"`{name.replace('`', '``')}`" for name in needed))
    # Spark parses dots and backticks in names, so columns are sent under their numbers.
    numbered = chosen.toDF(*map(str, range(len(needed))))
    count = _partition_count(source)

    def run_task(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        named = (batch.rename_columns(needed) for batch in batches)
        result = task(plan, Partition(number, rebatched(named), count))
        yield from _in_pieces(number, packed(result))

    rows = _collected(_summed(numbered.mapInArrow(run_task, _PIECES), count))
    if not rows:  # an empty data frame may have no partitions
        yield 0, task(plan, Partition(0, ()))
    for number, part in _whole_parts(sorted(map(tuple, rows))):
        yield number, unpacked(part)


def _summed(parts: Any, count: int | None) -> Any:
    """Return a data frame with the sums of the parts in a data frame, all levels of the tree."""
    by_id = hasattr(parts, "repartitionById")  # since pyspark 4.1
    fan_in = _FAN_IN if by_id else _FAN_IN_OF_ONE_BATCH
    unknown: list[int | None] = [None] * (_LEVELS if by_id else _LEVELS_OF_ONE_BATCH)

    def add(batches: Iterator[Any]) -> Iterator[Any]:
        for number, part in group_sums(_whole_parts(_records(batches)), fan_in):
            yield from _in_pieces(number, part)

    for n_groups in unknown if count is None else group_counts(count, fan_in):
        grouped = parts.selectExpr("*", f"cast(number div {fan_in} as int) as subtree")
        if n_groups is None:
            moved = grouped.repartition("subtree")
        elif by_id:
            moved = grouped.repartitionById(n_groups, "subtree")
        else:
            moved = grouped.repartition(n_groups, "subtree")
        parts = moved.sortWithinPartitions("number", "piece").mapInArrow(add, _PIECES)
    return parts


def _collected(frame: Any) -> list[Any]:
    """Return the rows of a data frame; name a library that workers lack, in one line."""
    try:
        rows: list[Any] = frame.collect()
    except Exception as error:
        # Spark has the error of a worker as text only.
        missing = re.search(r"ModuleNotFoundError: No module named '(\w+)", str(error))
        if missing is None:
            raise
        raise WorkerLibraryError(missing[1]) from None
    return rows


def _partition_count(source: Any) -> int | None:
    """Return the number of partitions; None if Spark would have to compute something to know it.

    Spark may change the number of partitions after a shuffle while it runs.
    """
    if not hasattr(source, "_jdf"):  # Spark Connect
        return None
    execution = source._jdf.queryExecution()  # noqa: SLF001 - there is no public way to ask
    # A frame that is to be cached is computed once in any case: now, or in the pass.
    if source.is_cached or "Exchange" not in execution.executedPlan().toString():
        return int(execution.toRdd().getNumPartitions())
    return None


def _in_pieces(number: int, part: bytes) -> Iterator[Any]:
    """Yield batches of one piece of a pickled part each."""
    import pyarrow as pa

    for piece, start in enumerate(range(0, len(part), _PIECE_BYTES)):
        columns = [
            pa.array([number], pa.int32()),
            pa.array([piece], pa.int32()),
            pa.array([part[start : start + _PIECE_BYTES]], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["number", "piece", "part"])


def _records(batches: Iterator[Any]) -> Iterator[tuple[int, int, bytes]]:
    """Yield the rows of batches: numbers of part and piece, and the piece."""
    for batch in batches:
        columns = (batch.column(name) for name in ("number", "piece", "part"))
        for row in zip(*columns, strict=True):
            yield tuple(value.as_py() for value in row)


def _whole_parts(records: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each part and the part, from pieces in order, each of which counts once.

    A record is the number of the part, the number of the piece, and the piece.
    """
    for number, pieces in groupby(records, key=lambda record: record[0]):
        yield number, b"".join({piece: bytes(part) for _, piece, part in pieces}.values())


def _require_numbers(source: Any, features: tuple[str, ...]) -> None:
    """Raise an error for columns of text before the workers start, which would say it later."""
    allowed = _NUMBERS + _VECTORS if len(features) == 1 else _NUMBERS
    types = dict(source.dtypes)
    refused = [name for name in features if not types[name].startswith(allowed)]
    if refused:
        raise NotNumericError(refused, [types[name] for name in refused], ENCODE)
