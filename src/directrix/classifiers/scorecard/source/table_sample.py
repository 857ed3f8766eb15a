"""TableSample: a random sample of the rows of each class of a raw table, which can be merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.scorecard.source.column_kinds import ColumnKinds
from directrix.rows.sample import RowSample
from directrix.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray
    from directrix.engines.block import Block


@dataclass(frozen=True, eq=False)
class TableSample:
    """Sampled rows of a raw table; the sum of two samples has the levels of both.

    Parameters
    ----------
    columns : tuple of Column
        With the levels of the sampled rows.
    named : bool
        Whether the columns had names.
    rows : RowSample
        Its features are values as `Table` has them.
    """

    columns: tuple[Column, ...]
    named: bool
    rows: RowSample

    @classmethod
    def of(cls, table: Table, rows: RowSample) -> TableSample:
        """Return a sample of the rows of a table, with their levels only."""
        everything = np.ones(len(rows.y), dtype=bool)
        used = Table(table.columns, np.asfortranarray(rows.X), table.named)
        used = used.with_levels_of(everything)
        return cls(used.columns, table.named, replace(rows, X=np.ascontiguousarray(used.values)))

    @property
    def table(self) -> Table:
        """The sampled rows as a table."""
        return Table(self.columns, np.asfortranarray(self.rows.X), self.named)

    def __len__(self) -> int:
        return len(self.rows)

    def at_most(self, n_per_class: int) -> TableSample:
        """Return a sample of at most so many rows of each class, those of lowest hash."""
        return TableSample.of(self.table, self.rows.at_most(n_per_class))

    def below(self, thresholds: dict[Any, int]) -> TableSample:
        """Return the rows whose hash is at most a threshold, given by label."""
        return TableSample.of(self.table, self.rows.below(thresholds))

    def may_hold(self, y: AnyArray, keys: AnyArray) -> AnyArray:
        """Return which of other rows must be added; see `RowSample.may_hold`."""
        return self.rows.may_hold(y, keys)

    def read_as(self, columns: Sequence[Column]) -> TableSample:
        """Return the sample with other kinds of columns."""
        table = Table.of(self.table, columns)
        return replace(self, columns=table.columns, rows=replace(self.rows, X=table.values))

    def ordered(self) -> TableSample:
        """Return the sample in an order of its rows' values, however the data were split."""
        rows = self.rows
        order = np.lexsort((rows.weight, rows.y, self.table.row_hashes()))
        return replace(self, rows=rows.take(order))

    def __add__(self, other: TableSample) -> TableSample:
        if not len(self) or not len(other):
            return self if len(self) else other
        columns = (ColumnKinds.of(self.table) + ColumnKinds.of(other.table)).columns
        first, second = Table.of(self.table, columns), Table.of(other.table, columns)
        columns, of_first, of_second = _union(first, second)
        rows = replace(self.rows, X=of_first) + replace(other.rows, X=of_second)
        return TableSample.of(Table(columns, of_first, self.named), rows)


def table_sample_of_block(block: Block, rows: AnyArray, most: int) -> TableSample:
    """Return some rows of a block of a raw table as a sample; see `RunningSample`."""
    table = block.X.take(rows)
    of_rows = block.labels[rows], block.row_weight[rows], block.row_fold[rows], block.row_keys[rows]
    return TableSample.of(table, RowSample.of(table.values, *of_rows, most))


def _union(first: Table, second: Table) -> tuple[tuple[Column, ...], AnyArray, AnyArray]:
    """Return columns with the levels of both tables, and the values of both with these."""
    values = first.values.copy(), second.values.copy()
    columns = list(first.columns)
    for k, (left, right) in enumerate(zip(first.columns, second.columns, strict=True)):
        if left.kind != "text" or left.levels == right.levels:
            continue
        levels = tuple(sorted({*left.levels, *right.levels}))
        index = {level: float(number) for number, level in enumerate(levels)}
        for array, column in zip(values, (left, right), strict=True):
            present = ~np.isnan(array[:, k])
            codes = np.array([index[level] for level in column.levels])
            array[present, k] = codes[array[present, k].astype(np.intp)]
        columns[k] = replace(left, levels=levels)
    return tuple(columns), *values
