"""CardCoding: the columns and crosses of a card, and the features they are coded as."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
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

    @property
    def blocks(self) -> list[tuple[tuple[int, ...], slice]]:
        """The columns of each block, one or two that are crossed, and its features."""
        columns: list[tuple[int, ...]] = [(k,) for k in range(len(self.coding.starts) - 1)]
        columns += [cross.pair for cross in self.crosses]
        ends = pairwise(self.coding.feature_starts.tolist())
        return [(block, slice(*part)) for block, part in zip(columns, ends, strict=True)]

    def feature_sums(self, sums: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
        """Return sums of features over rows, of shape (k, features), from sums by cell.

        ``sums`` of shape (k, cells) are those of the cells of all columns, and then of each pair of
        columns, the cells of its second column fastest.
        """
        starts, n_columns = self.coding.starts, len(self.coding.starts) - 1
        by_cell = np.zeros((self.coding.n_cells, len(sums)))
        end = int(starts[-1])
        by_cell[:end] = sums[:, :end].T
        sizes = np.diff(starts).tolist()
        for i, j in pairs:
            start, end = end, end + sizes[i] * sizes[j]
            cells = np.zeros((end - start, n_columns), dtype=np.int64)
            cells[:, i], cells[:, j] = np.indices((sizes[i], sizes[j])).reshape(2, -1)
            numbers = self.rows(cells).cells.indices.reshape(len(cells), -1)
            for number, cross in enumerate(self.crosses, start=n_columns):
                if cross.pair == (i, j):
                    np.add.at(by_cell, numbers[:, number], sums[:, start:end].T)
        return np.asarray(self.coding.gradient(by_cell).T)


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
            directed = directed_basis(of_column, weight, rising[column], rank)
            bases.append(directed.basis)
            signs.append(directed.signs)
        else:
            bases.append(column_basis(of_column, weight, rank, centred=True))
            signs.append(np.zeros(bases[-1].shape[1], dtype=np.int64))
    return bases, signs
