"""Card: the points of every bin and cross, which score rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from directrix.classifiers.scorecard.card.text import PointRow, card_text, point_rows

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.scorecard.design import CardDesign
    from directrix.tables import Bins


@dataclass(frozen=True, eq=False)
class Cross:
    """Points for the combinations of the cells of two columns.

    Parameters
    ----------
    columns : pair of int
        Positions of the columns.
    merged : pair of arrays of int
        For each cell of either column, its row or column in `points`.
    points : array of shape (r, c)
    """

    columns: tuple[int, int]
    merged: tuple[IntArray, IntArray]
    points: FloatArray

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the points of rows, from their cells in all columns."""
        left, right = (
            merged[cells[:, k]] for k, merged in zip(self.columns, self.merged, strict=True)
        )
        points: FloatArray = self.points[left, right]
        return points

    def weights(self, cells: IntArray, weight: FloatArray) -> FloatArray:
        """Return the weight of rows in every combination, from their cells in all columns."""
        total = np.zeros(self.points.shape)
        left, right = (
            merged[cells[:, k]] for k, merged in zip(self.columns, self.merged, strict=True)
        )
        np.add.at(total, (left, right), weight)
        return total


@dataclass(frozen=True, eq=False)
class Card:
    """Points of every cell: those of a row are summed, and the sum is compared with a cutoff.

    Parameters
    ----------
    intercept : float
        Points that every row has.
    columns : tuple of arrays
        Points of the cells of each column.
    crosses : tuple of Cross
    bins : tuple of NumberBins and LevelBins
        Of each column; they say what the cells are.
    cutoff : float
        Points at the threshold.
    higher_is_positive : bool
        Whether rows above the cutoff are predicted positive; otherwise those below it are.
    counts : tuple of arrays of shape (2, cells)
        For each column the weight of the negatives and of the positives in its cells among the
        training rows.
    """

    intercept: float
    columns: tuple[FloatArray, ...]
    crosses: tuple[Cross, ...] = ()
    bins: tuple[Bins, ...] = ()
    cutoff: float = 0.0
    higher_is_positive: bool = True
    counts: tuple[FloatArray, ...] = ()

    @classmethod
    def of(cls, design: CardDesign, line: FloatArray) -> Card:
        """Multiply out the coefficients of a design, intercept last."""
        blocks = design.coding.block_points(line[:-1])
        columns = blocks[: len(blocks) - len(design.pairs)]
        crosses = tuple(
            Cross(pair, (design.merged[pair[0]], design.merged[pair[1]]), points)
            for pair, points in zip(design.pairs, blocks[len(columns) :], strict=True)
        )
        return cls(float(line[-1]), tuple(columns), crosses)

    def rows(self) -> list[PointRow]:
        """Return the points of every bin of every column."""
        pairs = zip(self.bins, self.columns, strict=True)
        return [row for bins, points in pairs for row in point_rows(bins, points)]

    def __str__(self) -> str:
        ranked = sorted(self.crosses, key=lambda cross: -float(np.ptp(cross.points)))
        names = [" x ".join(self.bins[k].name for k in cross.columns) for cross in ranked]
        return card_text(self.intercept, list(zip(self.bins, self.columns, strict=True)), names)

    @property
    def is_whole(self) -> bool:
        """Whether all points are whole numbers."""
        blocks = [*self.columns, *(cross.points for cross in self.crosses)]
        whole = all(bool((points == np.rint(points)).all()) for points in blocks)
        return whole and self.intercept == round(self.intercept)

    def affine(self, factor: float, shift: float) -> Card:
        """Return the card with all points times a factor, and a shift of the sum."""
        crosses = tuple(replace(cross, points=factor * cross.points) for cross in self.crosses)
        columns = tuple(factor * points for points in self.columns)
        intercept = factor * self.intercept + shift
        return replace(self, intercept=intercept, columns=columns, crosses=crosses)

    def rounded(self) -> Card:
        """Return the card with all points rounded to whole numbers."""
        crosses = tuple(replace(cross, points=np.rint(cross.points)) for cross in self.crosses)
        columns = tuple(np.rint(points) for points in self.columns)
        intercept = float(np.rint(self.intercept))
        return replace(self, intercept=intercept, columns=columns, crosses=crosses)

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the scores of rows: how far their points are on the positive side of the cutoff.

        Parameters
        ----------
        cells : array of int of shape (n, columns)
        """
        above = self.points(cells) - self.cutoff
        return above if self.higher_is_positive else -above

    def points(self, cells: IntArray) -> FloatArray:
        """Return the sum of the points of rows with these cells, of shape (n, columns)."""
        total = np.full(len(cells), self.intercept)
        for k, points in enumerate(self.columns):
            total += points[cells[:, k]]
        for cross in self.crosses:
            total += cross.scores(cells)
        return total
