r"""The features of a card: every column is a few smooth functions of its cells.

The points of column j are :math:`B_j \beta_j`, where :math:`B_j B_j^\top` is close to the prior
covariance of its cells (`directrix.cards.prior`): neighbouring bins are close, levels,
missing and special values are by themselves. The leading directions have nearly all of the prior's
variance, so that ten are enough for a number, and fewer where there are many columns. Where points
may only rise, :math:`B_j` has functions that rise, and coefficients that may not be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.prior import CellKinds, cell_weights, column_codings
from directrix.fit.directions import Direction

#: Directions of a column with ordered bins at most, and at least where columns are many; and about
#: so many of all these columns together.
_DIRECTIONS, LEAST_DIRECTIONS, _TOGETHER = 10, 2, 480


@dataclass(frozen=True, eq=False)
class Basis:
    """Matrices from coefficients to the points of the cells of each column.

    ``columns`` has the matrix of each column, of shape (cells, directions). ``block`` has the
    column of each coefficient, and −1 for the intercept, which is last. ``signs`` are 1 for
    coefficients that may not be negative.
    """

    columns: tuple[FloatArray, ...]
    block: IntArray
    signs: IntArray

    @classmethod
    def of(
        cls,
        kinds: Sequence[CellKinds],
        cells: IntArray,
        weight: FloatArray,
        directions: Sequence[Direction] = (),
    ) -> Basis:
        """Return the basis of rows with these cells; labels are not looked at."""
        weights = [
            cell_weights(of_column, column, weight)
            for of_column, column in zip(kinds, cells.T, strict=True)
        ]
        n_ordered = sum(bool(of_column.n_ordered) for of_column in kinds)
        rank = int(np.clip(_TOGETHER // max(n_ordered, 1), LEAST_DIRECTIONS, _DIRECTIONS))
        made, signs = column_codings(kinds, weights, rank, directions)
        return cls.from_columns([as_dense(each) for each in made], signs)

    @classmethod
    def from_columns(cls, columns: Sequence[FloatArray], signs: Sequence[IntArray] = ()) -> Basis:
        """Return the basis of these matrices; without ``signs`` no coefficient has one."""
        size = [each.shape[1] for each in columns]
        block = np.append(np.repeat(np.arange(len(columns)), size), -1)
        every = np.concatenate([*signs, [0]]) if len(signs) else np.zeros(len(block), np.int64)
        return cls(tuple(columns), block, every)

    def rows(self, cells: IntArray) -> AnyArray:
        """Return the features of rows with these cells, and a column of ones: dense float32."""
        made: AnyArray = np.empty((len(cells), len(self.block)), dtype=np.float32)
        start = 0
        for k, matrix in enumerate(self.columns):
            made[:, start : start + matrix.shape[1]] = matrix.astype(np.float32)[cells[:, k]]
            start += matrix.shape[1]
        made[:, -1] = 1.0
        return made

    def points(self, coef: FloatArray) -> tuple[FloatArray, ...]:
        """Return the points of the cells of each column."""
        return tuple(
            matrix @ coef[self.block == k] if matrix.shape[1] else np.zeros(len(matrix))
            for k, matrix in enumerate(self.columns)
        )


def as_dense(matrix: Any) -> FloatArray:
    """Return a coding as an array, whether it is sparse or not."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)
