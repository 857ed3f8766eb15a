"""Conditions that the counts of any rows satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.tables.counts.pair_counts import MOST_WEIGHT, ROUNDING, PairCounts

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray

#: Relative amount by which rounding may break the inequality of weights and their squares.
_WEIGHT_ROUNDING = 1e-9

#: Sums that are compared at a time.
_SUMS = 1 << 20


def contradiction(counts: PairCounts, starts: IntArray) -> str | None:
    """Return what shows that counts are of no rows, or None.

    Parameters
    ----------
    counts : PairCounts
        With an upper triangle in canonical format: sorted, without zeros.
    starts : array of int of shape (columns + 1,)
        First cell of each column, and the number of all cells.
    """
    if not counts.count:
        empty = not (counts.weight or counts.weight_sq or counts.pairs.nnz)
        return None if empty else "a class without rows has counts"
    if counts.pairs.data.min(initial=1) <= 0 or counts.count < 0 or counts.weight <= 0:
        return "a count is not positive"
    if _weights_contradict(counts):
        return "its counts and weights contradict each other"
    return _contradiction_of_cells(counts, starts)


def _weights_contradict(counts: PairCounts) -> bool:
    if counts.exact and not counts.count <= counts.weight <= MOST_WEIGHT:
        return True
    # (Σω)² / n ≤ Σω² ≤ (Σω)², divided by Σω so that nothing overflows
    share = counts.weight_sq / counts.weight
    low, high = counts.weight / counts.count, counts.weight
    return not low * (1 - _WEIGHT_ROUNDING) <= share <= high * (1 + _WEIGHT_ROUNDING)


def _contradiction_of_cells(counts: PairCounts, starts: IntArray) -> str | None:
    pairs, cells = counts.pairs, counts.cells()
    column = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    row = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
    if np.any((column[row] == column[pairs.indices]) & (row != pairs.indices)):
        return "a row would be in two cells of a column"
    slack = 0.0 if counts.exact else 2 * ROUNDING * float(counts.weight)
    totals = np.add.reduceat(cells, starts[:-1])
    if np.abs(totals - counts.weight).max() > slack:
        return "the cells of a column do not add up to the weight of its class"
    below = sparse.csr_array(sparse.triu(pairs, 1).T)
    size = max(_SUMS // (len(starts) - 1), 1)
    for first in range(0, len(cells), size):
        # In each cell the counts by the cells of another column add up to that of the cell.
        rows = slice(first, min(first + size, len(cells)))
        sums = sum(_by_column(part, rows, column) for part in (pairs, below))
        if np.abs(sums - cells[rows, None]).max() > slack:
            return "the pairs of a cell do not add up to its count"
    return None


def _by_column(pairs: Any, rows: slice, column: IntArray) -> FloatArray:
    """Return sums of some rows of a matrix by the column that cells belong to."""
    start, stop = pairs.indptr[[rows.start, rows.stop]]
    row = np.repeat(
        np.arange(rows.stop - rows.start), np.diff(pairs.indptr[rows.start : rows.stop + 1])
    )
    n_columns = int(column[-1]) + 1
    number = row * n_columns + column[pairs.indices[start:stop]]
    size = (rows.stop - rows.start) * n_columns
    # Sums of float64 are exact for whole numbers of at most 2⁵³.
    sums = np.bincount(number, pairs.data[start:stop], size).astype(np.float64, copy=False)
    return sums.reshape(-1, n_columns)
