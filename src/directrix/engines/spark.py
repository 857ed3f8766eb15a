"""Rows in Spark: every partition is summarised where it is, in Arrow batches.

The workers need this package; nothing is installed on them here.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from directrix.engines.arrow import regrouped
from directrix.engines.plan import Partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from directrix.engines.plan import Plan

_ANSWER = "partition int, part binary"


def accepts(source: Any) -> bool:
    """Tell whether this engine reads the source."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame"


def partials(
    source: Any,
    plan: Plan,
    task: Callable[..., Any],
    progress: Any,  # noqa: ARG001 - Spark shows its own
) -> Iterator[tuple[int, Any]]:
    """Give what the task makes of each partition, with the partition's number.

    A task that is retried or run twice answers for the same partition: its number keeps it from
    being counted twice, and orders the parts.
    """
    if type(source).__module__.startswith("pyspark.pandas"):  # whose index is no column
        source = source.to_spark()
    needed = plan.needed(source.columns)
    chosen = source.select(*(f"`{name.replace('`', '``')}`" for name in needed))
    # Spark reads dots and backticks in names as syntax, so that the columns travel by number.
    numbered = chosen.toDF(*map(str, range(len(needed))))

    def answer(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        named = (batch.rename_columns(needed) for batch in batches)
        made = task(plan, Partition(number, regrouped(named)))
        part = pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL)
        yield pa.RecordBatch.from_arrays(
            [pa.array([number], pa.int32()), pa.array([part], pa.binary())], ["partition", "part"]
        )

    answers = numbered.mapInArrow(answer, _ANSWER).collect()
    if not answers:  # what Spark knows to be empty may have no partition at all
        yield 0, task(plan, Partition(0, ()))
    for row in answers:
        yield row["partition"], pickle.loads(row["part"])  # noqa: S301 - our own workers' answer
