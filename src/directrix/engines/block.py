"""Partition and Block: rows as an engine reads them, and separated by the roles of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.rows.labels import as_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from directrix._typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class Partition:
    """Tables that one worker reads in sequence.

    Parameters
    ----------
    number : int
        Number of the partition, the same whenever the source is read.
    tables : iterable of tables
        The rows.
    count : int, optional
        Number of partitions, if the engine knows it before it reads them.
    """

    number: int
    tables: Iterable[Any]
    count: int | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tables)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a table, separated into features, labels, weights, folds and groups.

    Parameters
    ----------
    X : Rows
        Features; whatever `Plan.read_features` returns.
    y : array
        Labels.
    weight, fold, group : array, optional
        Sample weights, fold numbers, and values of the ``by`` column.
    names : tuple of str, optional
        Feature names, if a transformer gives them.
    hashes, keys : array of uint64, optional
        Hash of the content of each row, and its row key (different for copies of equal rows), if
        the plan needs them.
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
