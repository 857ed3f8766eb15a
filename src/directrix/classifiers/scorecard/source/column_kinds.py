"""ColumnKinds: the kinds that the columns of a raw table have in its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.exceptions.columns import ColumnKindError
from directrix.tables import Column

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.tables import Table


@dataclass(frozen=True)
class ColumnKinds:
    """Kinds of the columns in the parts of a table; kinds of parts add up.

    A file or data frame may have numbers where another has texts. A column that is missing in all
    rows of a part has no kind there that matters.

    Parameters
    ----------
    read : dict
        From names to the kinds that columns were read as; empty before the first part.
    present : dict
        The same without parts in which all values are missing.
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
