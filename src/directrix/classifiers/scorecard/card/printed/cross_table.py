"""CrossTable: the points of a cross, with names for its rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from directrix.classifiers.scorecard.card.printed.labels import cells_label

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.tables.bins import Bins


@dataclass(frozen=True, eq=False)
class CrossTable:
    """Points for the combinations of the bins of two columns.

    Parameters
    ----------
    columns : pair of str
        Names of the columns: that of the rows of ``points``, and that of its columns.
    bins : pair of tuples of str
        Names of the rows and of the columns of ``points``.
    points : array of shape (r, c)
    cells : pair of tuples of tuples of int
        For each row and column of ``points`` the cells it stands for.
    """

    columns: tuple[str, str]
    bins: tuple[tuple[str, ...], tuple[str, ...]]
    points: FloatArray
    cells: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]

    @classmethod
    def of(
        cls, bins: tuple[Bins, Bins], merged: tuple[IntArray, IntArray], points: FloatArray
    ) -> CrossTable:
        """Merge neighbouring rows, and neighbouring columns, that are equal.

        Parameters
        ----------
        bins : pair of NumberBins and LevelBins
        merged : pair of arrays of int
            For each cell of either column its row or column in ``points``.
        points : array
        """
        used = np.unique(merged[0]), np.unique(merged[1])
        rows = _equal_runs(used[0], points[:, used[1]])
        columns = _equal_runs(used[1], points[used[0]].T)
        cells = tuple(_cells(merged[k], runs) for k, runs in enumerate((rows, columns)))
        labels = tuple(
            tuple(cells_label(b, c) for c in of) for b, of in zip(bins, cells, strict=True)
        )
        shown = points[np.ix_([run[0] for run in rows], [run[0] for run in columns])]
        return cls(
            (bins[0].name, bins[1].name), (labels[0], labels[1]), shown, (cells[0], cells[1])
        )

    @property
    def name(self) -> str:
        """What the cross is called."""
        return f"{self.columns[0]} x {self.columns[1]}"

    def transposed(self) -> CrossTable:
        """Return the same table with rows and columns exchanged."""
        return CrossTable(self.columns[::-1], self.bins[::-1], self.points.T, self.cells[::-1])


def _equal_runs(used: IntArray, points: FloatArray) -> list[list[int]]:
    """Return runs of neighbouring rows of equal points, among those that some cell belongs to."""
    runs = [[int(used[0])]]
    for before, after in pairwise(used.tolist()):
        if np.array_equal(points[before], points[after]):
            runs[-1].append(after)
        else:
            runs.append([after])
    return runs


def _cells(merged: IntArray, runs: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(np.flatnonzero(np.isin(merged, run)).tolist()) for run in runs)
