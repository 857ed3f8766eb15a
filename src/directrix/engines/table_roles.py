"""The roles of the columns of a raw table, whose rows can be sampled, and what a pass counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.engines.column_roles import (
    Block,
    ClassTotals,
    ColumnRoles,
    Grouped,
    Partition,
)
from directrix.exceptions.columns import ColumnKindError
from directrix.rows.labels import WeightUnit
from directrix.tables import Column, Table

# ── Kinds of columns, and tables that are sampled ─────────────────────────────────────────────────


@dataclass(frozen=True)
class ColumnKinds:
    """Kinds of the columns in the parts of a table; kinds of parts add up.

    A file or data frame may have numbers where another has texts. A column that is missing in all
    rows of a part has no kind there that matters.

    ``read`` maps names to the kinds that columns were read as; empty before the first part.
    ``present`` is the same without parts in which all values are missing.
    """

    read: dict[str, frozenset[str]]
    present: dict[str, frozenset[str]]

    @classmethod
    def of(cls, table: Table) -> ColumnKinds:
        """Return the kinds of a table."""
        read = {column.name: frozenset([column.kind]) for column in table.columns}
        present = {
            column.name: frozenset([column.kind] if _has_values(column, values) else [])
            for column, values in zip(table.columns, table.values.T, strict=True)
        }
        return cls(read, present)

    def __add__(self, other: ColumnKinds) -> ColumnKinds:
        if not self.read or not other.read:
            return self if self.read else other
        if list(self.read) != list(other.read):
            msg = (
                f"some parts of the table have the columns {list(self.read)} and others "
                f"{list(other.read)}: name those of the card in features="
            )
            raise ValueError(msg)
        return ColumnKinds(
            {name: kinds | other.read[name] for name, kinds in self.read.items()},
            {name: kinds | other.present[name] for name, kinds in self.present.items()},
        )

    @property
    def is_mixed(self) -> bool:
        """Whether a column has values of several kinds."""
        return any(len(kinds) > 1 for kinds in self.present.values())

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, each of a kind that the values of all parts can be read as."""
        return tuple(
            Column(name, _common(name, kinds or self.read[name]))
            for name, kinds in self.present.items()
        )


def _has_values(column: Column, values: AnyArray) -> bool:
    """Return whether a value is not missing; the first one mostly is not."""
    if column.kind == "text":
        return bool(column.levels)
    return bool(len(values)) and not (np.isnan(values[0]) and np.isnan(values).all())


def _common(name: str, kinds: frozenset[str]) -> str:
    """Return the kind that values of some kinds can be read as, or raise `ColumnKindError`."""
    if "date" in kinds and not kinds <= {"date", "text"}:
        raise ColumnKindError(name, "dates and numbers", "values of one kind")
    return next(kind for kind in ("date", "text", "number", "boolean") if kind in kinds)


@dataclass(frozen=True, eq=False)
class RawRows(Table):
    """A table whose rows can be sampled: parts of it have their own levels, and can be joined."""

    @classmethod
    def of_table(cls, table: Table) -> RawRows:
        """Return a table as rows that can be sampled."""
        return cls(table.columns, table.values, table.named)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and of columns."""
        return self.values.shape

    def take(self, rows: AnyArray) -> RawRows:
        """Return some rows, given by index or mask, with their levels only."""
        taken = Table(self.columns, np.asfortranarray(self.values[rows]), self.named)
        return RawRows.of_table(taken.with_levels_of(np.ones(len(taken), dtype=bool)))

    def __getitem__(self, rows: AnyArray) -> RawRows:
        return self.take(rows)

    def read_as(self, columns: Sequence[Column]) -> RawRows:
        """Return the table with other kinds of columns."""
        return RawRows.of_table(Table.of(self, columns))

    def __add__(self, other: RawRows) -> RawRows:
        return self.joined(other)

    def joined(self, other: RawRows) -> RawRows:
        """Return the rows of both tables, with the kinds and levels that both can be read as."""
        if not len(self) or not len(other):
            return self if len(self) else other
        columns = list((ColumnKinds.of(self) + ColumnKinds.of(other)).columns)
        tables = [Table.of(each, columns) for each in (self, other)]
        values = np.asfortranarray(np.concatenate([each.values for each in tables]))
        for k, column in enumerate(columns):
            if column.kind != "text":
                continue
            of_parts = [each.columns[k].levels for each in tables]
            levels = sorted({*of_parts[0], *of_parts[1]})
            index = {level: float(number) for number, level in enumerate(levels)}
            codes = [np.array([*(index[level] for level in each), np.nan]) for each in of_parts]
            texts = [np.nan_to_num(each.values[:, k], nan=-1.0).astype(np.intp) for each in tables]
            values[:, k] = np.concatenate([codes[0][texts[0]], codes[1][texts[1]]])
            columns[k] = replace(column, levels=tuple(levels))
        return RawRows(tuple(columns), values, self.named)


# ── The plan ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class TableSummary:
    """Totals of the classes of a raw table, and kinds of its columns; summaries add up."""

    totals: ClassTotals
    kinds: ColumnKinds

    def __add__(self, other: TableSummary) -> TableSummary:
        return TableSummary(self.totals + other.totals, self.kinds + other.kinds)

    def in_units(self, unit: WeightUnit) -> TableSummary:
        """Return the summary of weights in another unit."""
        return TableSummary(self.totals.in_units(unit), self.kinds)


@dataclass(frozen=True)
class TableRoles(ColumnRoles):
    """Roles of the columns of a raw table; the features of a block are `RawRows`.

    ``columns`` are the names and kinds of the feature columns, if an earlier pass has read them:
    every block is then read as the same kinds.
    """

    columns: tuple[Column, ...] | None = None

    @property
    def takes_texts(self) -> bool:
        """Whether feature columns may hold other values than numbers: they may."""
        return True

    def read_features(self, table: Any, columns: tuple[Any, ...]) -> tuple[RawRows, None]:
        """Return the feature columns as a table."""
        return RawRows.of_table(Table.of(table.raw(columns), self.columns)), None

    def content_hashes(self, X: Table) -> AnyArray:
        """Return a hash of the raw values of each row."""
        return X.row_hashes()

    def summary_of(self, block: Block) -> Any:
        """Return the summary of a block."""
        return TableSummary(ClassTotals.of(block), ColumnKinds.of(block.X))


@dataclass(frozen=True)
class FirstRows:
    """Task that reads the first rows of a raw table, ``most`` of each partition."""

    most: int
    name = "read"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> Grouped[RawRows]:
        """Return the first rows of a partition."""
        tables: list[RawRows] = []
        for block in plan.blocks(partition):
            tables.append(block.X.take(np.arange(min(self.most, block.n_rows))))
            if sum(map(len, tables)) >= self.most:
                break
        first = reduce(RawRows.joined, tables) if tables else None
        return Grouped({} if first is None else {None: first})
