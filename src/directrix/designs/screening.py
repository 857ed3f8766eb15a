r"""Screening of wide tables: which columns a search looks at, by their counts of bins alone.

Columns are ranked by the chi-square test of the rates of positives in their cells,

.. math:: \chi^2 = \sum_c \frac{(k_c - p\, n_c)^2}{p (1 - p)\, n_c}

which is turned into a standard normal deviate by the cube root of Wilson and Hilferty (1931), so
that columns of few and of many cells compare. Neighbouring ordered bins are also tested together,
in two, four and eight groups: a trend that many bins divide among themselves shows there.

The test looks at labels. So every fold has a ranking of its own, from the rows of the others, and a
card that is tested on a fold has the columns of that ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.designs.structure import StructureSearch
from directrix.fitting.training_rows import Rows
from directrix.models.card import Card, Cross
from directrix.tables.coding.prior import CellKinds

#: Tables of more columns are screened.
WIDE = 500
#: Numbers of columns of the cards that are compared.
_NUMBERS = (16, 32, 64, 128, 256, WIDE)
#: A larger card that is worse by so much in AUC ends the comparison.
_WORSE = 1e-2
#: Numbers of groups in which ordered bins are tested, besides each by itself.
_GROUPS = (2, 4, 8)


class ScreenedColumns(NamedTuple):
    """The columns of a table that passed the screen.

    ``positions`` are those, in the table, of the columns that any ranking keeps, sorted.
    ``n_cells`` are the numbers of cells of all columns of the table. ``n_tried`` is the number of
    columns that each ranking keeps.
    """

    positions: IntArray
    n_cells: Sequence[int]
    n_tried: int

    def widened(self, card: Card) -> Card:
        """Return a card of these columns as one of all columns, the others without points."""
        columns = [np.zeros(size) for size in self.n_cells]
        for k, points in zip(self.positions, card.columns, strict=True):
            columns[k] = points
        crosses = [self._widened(cross) for cross in card.crosses]
        return replace(card, columns=tuple(columns), crosses=tuple(crosses))

    def _widened(self, cross: Cross) -> Cross:
        left, right = (int(self.positions[k]) for k in cross.columns)
        return replace(cross, columns=(left, right))


def screened(
    kinds: Sequence[CellKinds],
    rows: Rows,
    search_of: Callable[[IntArray, Mapping[int | None, list[int]]], StructureSearch],
) -> tuple[ScreenedColumns, StructureSearch]:
    """Compare cards of the best columns, twice as many each time, and return the best.

    The comparison ends at 500 columns, or when a larger card is clearly worse.

    ``rows`` have cells as their features. ``search_of`` maps positions of columns, and for each
    fold the indices of its columns among them, to the search for the structure of their card.
    """
    rankings = columns_by_information(kinds, rows)
    n_cells = [of_column.n_cells for of_column in kinds]
    best: tuple[float, ScreenedColumns, StructureSearch] | None = None
    for number in _NUMBERS:
        tops = {fold: ranking[:number] for fold, ranking in rankings.items()}
        index = np.unique(np.concatenate(list(tops.values())))
        by_fold = {fold: np.searchsorted(index, top).tolist() for fold, top in tops.items()}
        search = search_of(index, by_fold)
        auc = search.additive_auc
        if best is None or auc > best[0]:
            best = auc, ScreenedColumns(index, n_cells, number), search
        if not auc >= best[0] - _WORSE:
            break
    assert best is not None  # noqa: S101 - there is at least one number of columns
    return best[1:]


def columns_by_information(kinds: Sequence[CellKinds], rows: Rows) -> dict[int | None, IntArray]:
    """Return all columns without each fold, and with all rows, the most informative first.

    ``rows`` have cells as their features.
    """
    weight = rows.weight / rows.weight.mean()
    n_folds = 0 if rows.fold is None else int(rows.fold.max()) + 1
    group = rows.positive.astype(np.int64)
    if rows.fold is not None:
        group += 2 * rows.fold
    scores = np.empty((n_folds + 1, len(kinds)))
    for k, (of_column, cells) in enumerate(zip(kinds, rows.X.T, strict=True)):
        size = of_column.n_cells
        counts = np.bincount(group * size + cells, weight, 2 * max(n_folds, 1) * size)
        by_fold = counts.reshape(-1, 2, size)
        whole = by_fold.sum(axis=0, keepdims=True)
        tables = np.concatenate([whole, whole - by_fold]) if n_folds else whole
        scores[:, k] = information(of_column, tables)
    order = np.argsort(-scores, axis=1, kind="stable")
    return {None: order[0]} | {fold: order[1 + fold] for fold in range(n_folds)}


def information(kinds: CellKinds, tables: FloatArray) -> FloatArray:
    """Return how much the cells of a column tell about the class, as standard normal deviates.

    ``tables`` of shape (k, 2, cells) are the weights of negatives and positives in each cell, among
    several sets of rows. The greatest of the deviates of single cells and of groups of ordered ones
    is returned.
    """
    deviates = [_deviate(tables)]
    ordered = tables[:, :, kinds.ordered]
    others = np.delete(tables, kinds.ordered, axis=2)
    share = np.cumsum(ordered[0].sum(axis=0))
    for n_groups in _GROUPS:
        if n_groups >= kinds.n_ordered or not share[-1]:
            break
        middle = share - ordered[0].sum(axis=0) / 2.0
        group = np.minimum((n_groups * middle / share[-1]).astype(np.intp), n_groups - 1)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        grouped = np.add.reduceat(ordered, starts, axis=2)
        deviates.append(_deviate(np.concatenate([grouped, others], axis=2)))
    greatest: FloatArray = np.max(deviates, axis=0)
    return greatest


def _deviate(tables: FloatArray) -> FloatArray:
    """Return chi-square tests of tables of two classes as standard normal deviates."""
    total = tables.sum(axis=1)
    weight = total.sum(axis=1)
    rate = tables[:, 1].sum(axis=1) / np.where(weight > 0, weight, 1.0)
    # Differences of real weights may leave rounding where a cell has no rows.
    filled = total > 1e-9 * weight[:, None]
    variance = np.where(filled, total, 1.0) * (rate * (1.0 - rate))[:, None]
    surplus = np.where(filled, tables[:, 1] - rate[:, None] * total, 0.0)
    known = variance > 0
    square = np.where(known, surplus**2 / np.where(known, variance, 1.0), 0.0).sum(axis=1)
    freedom = np.maximum(filled.sum(axis=1) - 1.0, 0.0)
    spread = 2.0 / (9.0 * np.maximum(freedom, 1.0))
    deviate = (np.cbrt(square / np.maximum(freedom, 1.0)) - (1.0 - spread)) / np.sqrt(spread)
    return np.where(freedom > 0, deviate, -np.inf)
