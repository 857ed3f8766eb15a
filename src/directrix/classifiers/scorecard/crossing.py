"""Crossed: which pairs of columns a card crosses, learned without the fold it is tested on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.tables.coding.crosses import CrossColumn, rank_pairs
from directrix.tables.coding.prior import CellKinds, cell_weights

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.fitting.training_rows import TrainingRows


class Crossed(NamedTuple):
    """Columns as they take part in crosses, and pairs of them, learned without a fold.

    Parameters
    ----------
    columns : list of CrossColumn
    pairs : list of pairs of int
        Most promising first.
    """

    columns: list[CrossColumn]
    pairs: list[tuple[int, int]]

    @classmethod
    def of(
        cls,
        kinds: Sequence[CellKinds],
        rows: TrainingRows,
        chance: FloatArray,
        rank: int,
        fold: int | None,
        kept: Collection[int],
    ) -> Crossed:
        """Merge the cells of columns, and rank pairs of them by residuals.

        Parameters
        ----------
        kinds : sequence of CellKinds
        rows : TrainingRows
            With cells as their features.
        chance : array of shape (n,)
            Probability of the positive class by a card without crosses.
        rank : int
            Directions of a column in a cross at most.
        fold : int, optional
            Rows of this fold are not looked at.
        kept : collection of int
            Columns that may be crossed.
        """
        cells, weight = rows.X, rows.weight / rows.weight.mean()
        if fold is not None:
            weight[rows.fold == fold] = 0.0
        columns = []
        for k, (of_column, column) in enumerate(zip(kinds, cells.T, strict=True)):
            if k not in kept:
                columns.append(CrossColumn.absent(of_column.n_cells))
                continue
            total = cell_weights(of_column, column, weight)
            positive = cell_weights(of_column, column, weight * rows.positive)
            columns.append(CrossColumn.of(of_column, total, positive, rank))
        merged = [column.merged[cells[:, k]] for k, column in enumerate(columns)]
        used = np.flatnonzero(weight)
        residual, curvature = rows.positive - chance, chance * (1.0 - chance)
        pairs = rank_pairs(
            columns,
            np.column_stack(merged)[used],
            (weight * residual)[used],
            (weight * curvature)[used],
        )
        return cls(columns, pairs)
