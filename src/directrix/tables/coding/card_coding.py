"""CardCoding: the columns and crosses of a card, and the features they are coded as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.tables.coding.coded_rows import CodedRows, Coding
from directrix.tables.coding.crosses import CrossGrid
from directrix.tables.coding.prior import CellKinds, column_basis, directed_basis


class Direction(NamedTuple):
    """A direction that the points of a column keep.

    ``requested`` is what was asked for, as text, and ``rising`` the cells of the column in the
    order in which points of the positive class may not fall.
    """

    column: int
    name: str
    requested: str
    rising: IntArray


class CardCoding(NamedTuple):
    """What a card has points for.

    ``crosses`` have the columns of each cross, and how it merges their cells.
    """

    coding: Coding
    crosses: tuple[CrossGrid, ...] = ()

    def rows(self, cells: IntArray) -> CodedRows:
        """Return rows with these cells, of shape (n, columns), as coded features."""
        crossed = [
            (left[cells[:, i]], right[cells[:, j]]) for (i, j), (left, right) in self.crosses
        ]
        return CodedRows.of(self.coding.cell_numbers(cells, crossed), self.coding)


def column_codings(
    kinds: Sequence[CellKinds],
    weights: Sequence[FloatArray],
    rank: int,
    directions: Sequence[Direction] = (),
) -> tuple[list[Any], list[IntArray]]:
    """Return the coding of each column, and the signs of its coefficients.

    ``weights`` are those of the rows of each cell, for each column. ``rank`` is the largest number
    of directions of the coding of a column. ``directions`` are those of columns whose points may
    only rise.
    """
    rising = {direction.column: direction.rising for direction in directions}
    bases: list[Any] = []
    signs: list[IntArray] = []
    for column, (of_column, weight) in enumerate(zip(kinds, weights, strict=True)):
        if column in rising:
            basis, sign = directed_basis(of_column, weight, rising[column], rank)
        else:
            basis = column_basis(of_column, weight, rank, centred=True)
            sign = np.zeros(basis.shape[1], dtype=np.int64)
        bases.append(basis)
        signs.append(sign)
    return bases, signs
