"""CardDesign: the columns and crosses of a card, and the features they are coded as."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from directrix.tables import CodedRows, Coding

if TYPE_CHECKING:
    from directrix._typing import IntArray


class CardDesign(NamedTuple):
    """What a card has points for.

    Parameters
    ----------
    coding : Coding
    pairs : tuple of pairs of int
        Columns of each cross.
    merged : mapping of int to array
        For each column in a cross, the cell in crosses of each of its cells.
    """

    coding: Coding
    pairs: tuple[tuple[int, int], ...] = ()
    merged: Mapping[int, IntArray] = MappingProxyType({})

    def rows(self, cells: IntArray) -> CodedRows:
        """Return rows with these cells, of shape (n, columns), as coded features."""
        columns = {k: merged[cells[:, k]] for k, merged in self.merged.items()}
        crossed = [(columns[i], columns[j]) for i, j in self.pairs]
        return CodedRows.of(self.coding.cell_numbers(cells, crossed), self.coding)
