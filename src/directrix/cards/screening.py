r"""Screening of wide tables: which columns a card may have, by their counts of bins alone.

Columns are ranked by the score test of the rates of positives in their cells,

.. math:: \chi^2 = \sum_c \frac{(k_c - p\, n_c)^2}{p (1 - p)\, n_c}

less its expectation, over its deviation. Neighbouring ordered bins are tested in groups of equal
weight. The test looks at labels, so that the rows outside each fold have a ranking of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.basis import LEAST_DIRECTIONS
from directrix.cards.prior import CellKinds, cell_weights, merge_neighbours
from directrix.fit.training_rows import Rows

#: Directions of all columns from which on a table is screened; and how many of them, and columns,
#: are then kept without each fold: other folds may keep others.
WIDE, _KEPT_DIRECTIONS, _KEPT = 1_000, 600, 200
#: Groups of neighbouring bins that are tested together.
_GROUPS = 5
#: Least weight of a cell that is tested.
_LEAST = 1e-9


def screened(rows: Rows, kinds: Sequence[CellKinds]) -> dict[int | None, AnyArray]:
    """Return which columns pass, by the rows outside each fold and by all rows (None)."""
    n_folds = 0 if rows.fold is None else int(rows.fold.max()) + 1
    fold = np.zeros(len(rows.weight), dtype=np.int64) if rows.fold is None else rows.fold
    every: list[list[float]] = [[] for _ in range(1 + n_folds)]
    for of_column, cells in zip(kinds, rows.X.T, strict=True):
        counts = _counts(of_column, cells, rows, fold)
        whole = counts.sum(axis=0)
        every[0].append(_strength(whole))
        for k in range(n_folds):
            every[1 + k].append(_strength(whole - counts[k]))
    size = np.array([directions_of_column(of_column) for of_column in kinds])
    passed: dict[int | None, AnyArray] = {}
    for number, strengths in enumerate(every):
        order = np.argsort(-np.array(strengths), kind="stable")[:_KEPT]
        few_enough = np.cumsum(size[order]) <= _KEPT_DIRECTIONS
        few_enough[0] = True
        kept = np.zeros(len(kinds), dtype=bool)
        kept[order[few_enough]] = True
        passed[None if number == 0 else number - 1] = kept
    return passed


def directions_of_column(kinds: CellKinds) -> int:
    """Return the number of directions that a column has at least."""
    return LEAST_DIRECTIONS if kinds.n_ordered else kinds.n_cells


def _counts(kinds: CellKinds, cells: IntArray, rows: Rows, fold: IntArray) -> FloatArray:
    """Return the weight of negatives and positives by fold, class and group of cells."""
    group = np.arange(kinds.n_cells)
    if kinds.n_ordered:
        held = cell_weights(kinds, cells, rows.weight)[kinds.ordered]
        group[kinds.ordered] = kinds.n_cells + merge_neighbours(held, _GROUPS)
    group = np.unique(group, return_inverse=True)[1]
    size = int(group.max()) + 1
    index = (fold * 2 + rows.positive) * size + group[cells]
    counts = np.bincount(index, rows.weight, (int(fold.max()) + 1) * 2 * size)
    return counts.reshape(-1, 2, size).astype(np.float64)


def _strength(counts: FloatArray) -> float:
    """Return the test of a column: its deviation from what labels alone would show."""
    held = counts.sum(axis=0)
    counts, held = counts[:, held > _LEAST], held[held > _LEAST]
    share = counts[1].sum() / held.sum()
    off = float(((counts[1] - share * held) ** 2 / held).sum() / max(share * (1.0 - share), _LEAST))
    known = max(len(held) - 1, 1)
    return (off - known) / float(np.sqrt(2.0 * known))
