"""Partition and Block: rows as an engine reads them, and separated by the roles of columns.

Results of tasks on consecutive partitions form groups. A group is a subtree of `TreeSum`, and its
sum is numbered by the group, so sums of groups are added in the same way, level by level, on the
workers that have them, until few are left for the driver. Since the tree is fixed by the partition
numbers, neither the size of the groups, the number of levels, the order in which workers finish nor
a task that runs twice changes a bit of the sum.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.rows.labels import as_labels
from directrix.rows.sums import TreeSum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from directrix._typing import AnyArray, FloatArray, IntArray

#: Largest number of parts that the driver adds itself, because another level would take longer.
MOST_PARTS = 4


@dataclass(frozen=True)
class Partition:
    """Tables that one worker reads in sequence.

    ``number`` is the same whenever the source is read; ``count`` is the number of partitions, if
    the engine knows it before it reads them.
    """

    number: int
    tables: Iterable[Any]
    count: int | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tables)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a table, separated into features, labels, weights, folds and groups.

    ``X`` is whatever `ColumnRoles.read_features` returns, ``group`` has the values of the ``by``
    column, ``names`` are feature names that a transformer gives. If the plan needs them, ``hashes``
    are hashes of the content of rows, and ``keys`` row keys, different for copies of equal rows.
    """

    X: Any
    y: AnyArray
    weight: FloatArray | None
    fold: IntArray | None
    group: AnyArray | None
    names: tuple[str, ...] | None
    hashes: AnyArray | None = None
    keys: AnyArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @cached_property
    def labels(self) -> AnyArray:
        """Labels as booleans, numbers or texts."""
        return as_labels(self.y)

    @cached_property
    def row_weight(self) -> FloatArray:
        """Sample weights as float64; ones if there are none."""
        return np.ones(self.n_rows) if self.weight is None else np.asarray(self.weight, np.float64)

    @cached_property
    def row_fold(self) -> AnyArray:
        """Fold numbers; zeros if there are no folds."""
        return np.zeros(self.n_rows, dtype=np.int32) if self.fold is None else self.fold

    @cached_property
    def row_keys(self) -> AnyArray:
        """Row keys; zeros if the plan does not identify rows."""
        return np.zeros(self.n_rows, dtype=np.uint64) if self.keys is None else self.keys


def group_counts(n_parts: int, fan_in: int) -> list[int]:
    """Return the number of groups on each level of the tree; no level if there are few parts.

    A group has ``fan_in`` parts, a power of two.
    """
    counts: list[int] = []
    while n_parts > (1 if counts else MOST_PARTS):
        n_parts = -(-n_parts // fan_in)
        counts.append(n_parts)
    return counts


def group_sums(parts: Iterable[tuple[int, bytes]], fan_in: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each group and the sum of its parts, with few parts in memory.

    ``parts`` are numbers and pickled parts of whole groups, in the order of the numbers. A number
    that comes twice counts once.
    """
    for group, members in groupby(parts, key=lambda part: part[0] // fan_in):
        running: TreeSum[Any] = TreeSum()
        for number, part in members:
            running.add(number, unpacked(part))
        yield group, packed(running.total())


def packed(part: Any) -> bytes:
    """Return a result of a task as it is sent between workers."""
    return pickle.dumps(part, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(part: bytes) -> Any:
    """Return a result that `packed` has written."""
    return pickle.loads(part)  # noqa: S301 - sent by a worker of the same job
