"""Engine for Spark data frames: each partition is summarised on its worker, in Arrow batches.

The workers need this package; the engine installs nothing on them.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from directrix.engines.arrow import rebatched
from directrix.engines.plan import ENCODE, Partition
from directrix.exceptions import NotNumericError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from directrix.engines.plan import Plan

_RESULT_SCHEMA = "partition int, part binary"
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
    plan: Plan,
    task: Callable[..., Any],
    progress: Any,  # noqa: ARG001 - Spark shows its own progress
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each partition and the result of the task on it.

    A task that is retried or run twice returns the same partition number, so that no partition is
    counted twice; the number also orders the results.
    """
    if type(source).__module__.startswith("pyspark.pandas"):  # its index is not a column
        source = source.to_spark()
    needed = plan.needed(source.columns)
    if plan.transform is None:  # a transformer may take text
        _require_numbers(source, plan.feature_columns(source.columns))
    chosen = source.select(*(f"`{name.replace('`', '``')}`" for name in needed))
    # Spark parses dots and backticks in names, so columns are sent under their numbers.
    numbered = chosen.toDF(*map(str, range(len(needed))))

    def run_task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        named = (batch.rename_columns(needed) for batch in batches)
        result = task(plan, Partition(number, rebatched(named)))
        part = pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
        yield pa.RecordBatch.from_arrays(
            [pa.array([number], pa.int32()), pa.array([part], pa.binary())], ["partition", "part"]
        )

    result_rows = numbered.mapInArrow(run_task, _RESULT_SCHEMA).collect()
    if not result_rows:  # an empty data frame may have no partitions
        yield 0, task(plan, Partition(0, ()))
    for row in result_rows:
        yield row["partition"], pickle.loads(row["part"])  # noqa: S301 - written by run_task


def _require_numbers(source: Any, features: tuple[str, ...]) -> None:
    """Raise an error for columns of text before the workers start, which would say it later."""
    allowed = _NUMBERS + _VECTORS if len(features) == 1 else _NUMBERS
    types = dict(source.dtypes)
    refused = [name for name in features if not types[name].startswith(allowed)]
    if refused:
        raise NotNumericError(refused, [types[name] for name in refused], ENCODE)
