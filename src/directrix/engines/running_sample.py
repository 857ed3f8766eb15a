"""RunningSample: the sample of a partition while its blocks are read."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from directrix.rows.sample import RowSample
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from typing import Any

    from directrix._typing import AnyArray
    from directrix.engines.block import Block

_ROWS_AT_A_TIME = 1 << 16


class RunningSample:
    """The sample of a partition while its blocks are read.

    Only rows at or below the thresholds of the sample so far are copied, which soon are hardly any.
    Rows of weight zero are not sampled.

    ``most``: largest number of rows of each class in the sample of all partitions.
    ``n_partitions``: a partition sends its share of the rows, with a margin; None for all that may
    be sampled. ``apart``: a hold-out fold, whose rows are not sampled. ``thresholds``: largest hash
    of the rows of each class.
    """

    def __init__(
        self,
        most: int,
        n_partitions: int | None,
        apart: int | None = None,
        thresholds: dict[Any, int] | None = None,
    ) -> None:
        self._most = most
        self._share = share_of_partition(most, n_partitions)
        self._apart = apart
        self._thresholds = thresholds
        self._parts: list[RowSample] = []

    def add(self, block: Block) -> None:
        """Sample the rows of one more block."""
        y, keys, parts = block.labels, block.row_keys, self._parts
        present = block.row_weight > 0.0
        if self._apart is not None:
            present &= block.row_fold != self._apart
        for start in range(0, block.n_rows, _ROWS_AT_A_TIME):
            chunk = slice(start, start + _ROWS_AT_A_TIME)
            kept = present[chunk]
            if parts:
                kept = kept & parts[0].may_hold(y[chunk], keys[chunk])
            rows = start + np.flatnonzero(kept)
            if not len(rows):
                continue
            part = sample_of_block(block, rows, self._most)
            parts.append(part if self._thresholds is None else part.below(self._thresholds))
            if sum(map(len, parts[1:])) >= self._share or len(parts) == 1:
                self._add_up()

    def sample(self) -> RowSample | None:
        """Return the sample; None if there were no rows."""
        if not self._parts:
            return None
        self._add_up()
        return self._parts[0]

    def _add_up(self) -> None:
        self._parts[:] = [tree_sum(self._parts).at_most(self._share)]


def sample_of_block(block: Block, rows: AnyArray, most: int) -> RowSample:
    """Return some rows of a block, of numbers or of a raw table, as a sample."""
    X = block.X.take(rows)
    return RowSample.of(
        X if hasattr(X, "row_hashes") else np.asarray(X, dtype=np.float64),
        block.labels[rows],
        block.row_weight[rows],
        block.row_fold[rows],
        block.row_keys[rows],
        most,
    )


def share_of_partition(most: int, n_partitions: int | None) -> int:
    """Return the largest number of rows of a class that a partition sends.

    As many as there may be in all, if the number of partitions is not known.
    """
    twice = 2.0 * most / (n_partitions or 1)
    return min(most, ceil(twice + 5.0 * sqrt(twice) + 10.0))
