"""Count labelled rows of a table by class, fold and pairs of cells, in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.moments import labels
from directrix.moments.summary import count_rows as count_of
from directrix.moments.weights import checked_weight, require_moderate_weight
from directrix.tables.counts.pair_counts import MOST_WEIGHT, PairCounts, count_pairs
from directrix.tables.reading.table import Table

if TYPE_CHECKING:
    from directrix._typing import AnyArray, IntArray
    from directrix.tables.binner import Binner

#: Cells of rows that are held at a time.
_CELLS_AT_A_TIME = 1 << 26


def count_rows(
    binner: Binner, X: Any, y: Any, sample_weight: Any, fold: Any, classes: Any
) -> tuple[AnyArray, tuple[tuple[PairCounts, ...], ...]]:
    """Return the classes, and the counts of each fold and class.

    The parameters are those of `BinCounts.of`.
    """
    n = count_of(X)
    weight = None if sample_weight is None else checked_weight(sample_weight, n)
    present = None if weight is None or weight.all() else np.flatnonzero(weight)
    kept = slice(None) if present is None else present
    codes, class_labels = labels.encode_rows(y, n, kept, classes)
    folds = None if fold is None else labels.fold_numbers(fold, n)[kept]
    n_folds = 1 if folds is None else int(folds.max(initial=0)) + 1
    group = codes.astype(np.int64)
    if folds is not None:
        group += folds.astype(np.int64) * len(class_labels)
    weight = None if weight is None else _as_whole(weight[kept])
    n_groups = n_folds * len(class_labels)
    sizes = [bins.n_cells for bins in binner.bins_]
    groups: list[PairCounts] = []
    for rows, cells in _cell_blocks(binner, X, n, present):
        of_rows = None if weight is None else weight[rows]
        block = count_pairs(cells, sizes, group[rows], n_groups, of_rows)
        groups = [a + b for a, b in zip(groups, block, strict=True)] if groups else block
    for counts in groups:
        if counts.count:
            require_moderate_weight(float(counts.weight))
    width = len(class_labels)
    return class_labels, tuple(tuple(groups[k * width : (k + 1) * width]) for k in range(n_folds))


def sum_pairs(binner: Binner, X: Any, values: Any) -> Any:
    """Return sums of a number of each row by pairs of cells, as a sparse upper triangle.

    Parameters
    ----------
    binner : Binner, fitted
    X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
    values : array of shape (n,)
        Finite numbers of any sign.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        msg = f"the values must be one finite number for each row, not {numbers.shape}"
        raise ValueError(msg)
    sizes = [bins.n_cells for bins in binner.bins_]
    group = np.zeros(len(numbers), dtype=np.int64)
    sums = sparse.csr_array((sum(sizes), sum(sizes)))
    for rows, cells in _cell_blocks(binner, X, len(numbers), None):
        sums = sums + count_pairs(cells, sizes, group[rows], 1, numbers[rows])[0].pairs
    return sums


def _as_whole(weight: AnyArray) -> AnyArray:
    """Return weights as int64 if all are whole numbers, otherwise unchanged."""
    whole = np.array_equal(weight, np.floor(weight)) and weight.sum() <= MOST_WEIGHT
    return weight.astype(np.int64) if whole else weight


def _cell_blocks(
    binner: Binner, X: Any, n_rows: int, present: IntArray | None
) -> Iterator[tuple[slice, AnyArray]]:
    """Yield the cells of blocks of rows, with the slice of the rows that are present."""
    found = count_of(X)
    if found != n_rows:
        msg = f"there are {found} rows but {n_rows} labels"
        raise ValueError(msg)
    most = max(bins.n_cells for bins in binner.bins_)
    dtype = np.uint8 if most <= 1 << 8 else np.uint16 if most <= 1 << 16 else np.int32
    size = max(_CELLS_AT_A_TIME // len(binner.bins_), 1)
    done = 0
    for start in range(0, max(n_rows, 1), size):
        stop = min(start + size, n_rows)
        block = X if stop - start == n_rows else _row_slice(X, start, stop)
        cells = binner.cells(block).astype(dtype)
        if present is not None:
            inside = present[(present >= start) & (present < stop)]
            cells = np.asfortranarray(cells[inside - start])
        yield slice(done, done + len(cells)), cells
        done += len(cells)


def _row_slice(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, Table):
        return X.take(np.arange(start, stop))
    if hasattr(X, "iloc"):
        return X.iloc[start:stop]
    if hasattr(X, "num_rows") or hasattr(X, "get_column"):  # Arrow and polars
        return X.slice(start, stop - start)
    return sparse.csr_array(X)[start:stop] if sparse.issparse(X) else X[start:stop]
