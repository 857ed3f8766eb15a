"""TablePlan: a plan whose blocks are raw tables, with texts, dates and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from directrix.engines.plan import Plan
from directrix.tables import Column, Table

if TYPE_CHECKING:
    from directrix._typing import AnyArray


@dataclass(frozen=True)
class TablePlan(Plan):
    """Roles of the columns of a raw table; the features of a block are a `Table`.

    Parameters
    ----------
    columns : tuple of Column, optional
        Names and kinds of the feature columns, if an earlier pass has read them: every block is
        then read as the same kinds.
    """

    columns: tuple[Column, ...] | None = None

    @property
    def takes_texts(self) -> bool:
        """Whether feature columns may hold other values than numbers: they may."""
        return True

    def read_features(self, table: Any, columns: tuple[Any, ...]) -> tuple[Table, None]:
        """Return the feature columns as a table."""
        return Table.of(table.raw(columns), self.columns), None

    def content_hashes(self, X: Table) -> AnyArray:
        """Return a hash of the raw values of each row."""
        return X.row_hashes()
