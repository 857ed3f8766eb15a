"""Counts of cells and of pairs of cells of one class, with exact addition and subtraction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, IntArray
from directrix.exceptions import CancellationError, NegativeCountError
from directrix.rows import labels
from directrix.rows.labels import require_moderate_weight, scaled_weights
from directrix.rows.summary import count_rows as count_of
from directrix.tables.binner import Binner
from directrix.tables.table import Table

#: Greatest total weight of a class in whole numbers: up to it every count is also a float64.
MOST_WEIGHT = 1 << 53

#: Share of the total by which sums and differences of real weights may be off: it is rounding.
ROUNDING = 2.0**-36

Number: TypeAlias = int | float


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Weight of the rows of one class in each cell, and in each pair of cells.

    ``count`` is the number of rows with positive weight. Sums of weights and of their squares are
    whole numbers if all weights are. ``pairs`` is the upper triangle of a sparse CSR array of shape
    (cells, cells), of all columns one after the other: entry (a, b) is the weight of the rows that
    are in cells a and b, so that the diagonal holds the cells themselves. Its type is int32 where
    the total weight allows it, int64 for larger whole numbers, else float64. No zeros are stored.
    """

    count: int
    weight: Number
    weight_sq: Number
    pairs: Any = field(repr=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies and unpickled counts are read-only like their originals.
        self.__dict__.update(state)
        self.__post_init__()

    def __post_init__(self) -> None:
        wanted = _whole_type(self.weight)
        if self.exact and self.pairs.dtype != wanted:
            object.__setattr__(self, "pairs", self.pairs.astype(wanted))
        # Arrays are shared between counts, so they must never change.
        for array in (self.pairs.data, self.pairs.indices, self.pairs.indptr):
            array.flags.writeable = False

    @classmethod
    def empty(cls, n_cells: int) -> PairCounts:
        """Return the counts of no rows, which are the identity of ``+``."""
        return cls(0, 0, 0, sparse.csr_array((n_cells, n_cells), dtype=np.int32))

    @property
    def exact(self) -> bool:
        """Whether the counts are whole numbers."""
        return bool(self.pairs.dtype.kind == "i")

    def cells(self) -> AnyArray:
        """Return the weight of every cell."""
        pairs = self.pairs
        diagonal: AnyArray = np.zeros(pairs.shape[0], np.int64 if self.exact else np.float64)
        # A cell that has rows begins its row of the triangle; SciPy would read all of it.
        filled = np.flatnonzero(np.diff(pairs.indptr))
        diagonal[filled] = pairs.data[pairs.indptr[filled]]
        return diagonal

    def regrouped(self, number: IntArray, n_cells: int) -> PairCounts:
        """Return the counts of coarser cells.

        ``number`` is the new number of each cell, −1 for cells that are left out; cells of one
        column stay together, and columns stay in order.
        """
        pairs = self.pairs.tocoo()
        row, column = number[pairs.row], number[pairs.col]
        kept = (row >= 0) & (column >= 0)
        entries = pairs.data[kept], (row[kept], column[kept])
        merged = sparse.csr_array(entries, shape=(n_cells, n_cells))
        return replace(self, pairs=_canonical(merged))

    def __mul__(self, factor: float) -> PairCounts:
        # Whole-number counts stay whole numbers if the factor is one.
        if not (self.count and factor):
            return PairCounts.empty(self.pairs.shape[0])
        if self.exact and factor.is_integer():
            whole = int(factor)
            require_whole_range(whole * int(self.weight))
            weight_sq = whole * whole * self.weight_sq
            pairs = self._pairs_for(whole * int(self.weight)) * whole
            return PairCounts(self.count, whole * self.weight, weight_sq, pairs)
        weights = scaled_weights(float(self.weight), float(self.weight_sq), factor)
        return PairCounts(self.count, *weights, self.pairs * factor)

    def __add__(self, other: PairCounts) -> PairCounts:
        weight = self.weight + other.weight
        require_whole_range(weight)
        return PairCounts(
            self.count + other.count,
            weight,
            self.weight_sq + other.weight_sq,
            _canonical(self._pairs_for(weight) + other.pairs),
        )

    def _pairs_for(self, weight: Number) -> Any:
        """Return the pairs in a type that can hold sums up to a total weight."""
        wanted = _whole_type(weight) if self.exact else self.pairs.dtype
        return self.pairs.astype(np.promote_types(self.pairs.dtype, wanted), copy=False)

    def __sub__(self, other: PairCounts) -> PairCounts:
        count, weight = self.count - other.count, self.weight - other.weight
        weight_sq = self.weight_sq - other.weight_sq
        pairs = self.pairs - other.pairs
        exact = pairs.dtype.kind == "i"
        # Differences of real weights may miss zero by their rounding.
        noise = 0.0 if exact else ROUNDING * float(self.weight)
        if pairs.data.min(initial=0) < -noise:
            entry = int(np.flatnonzero(pairs.data < -noise)[0])
            cell = int(np.searchsorted(pairs.indptr, entry, side="right")) - 1
            raise NegativeCountError(cell=cell)
        if min(count, weight + noise) < 0 or (count == 0 and weight > noise):
            raise NegativeCountError
        if count == 0:
            return PairCounts.empty(pairs.shape[0])
        if exact:
            if not count <= weight <= weight_sq:  # the weight of a row is one or more
                raise NegativeCountError
            return PairCounts(count, weight, weight_sq, _canonical(pairs))
        if weight <= noise:
            raise CancellationError
        # (Σω)² / n ≤ Σω² ≤ (Σω)², which rounding may have broken
        weight_sq = min(max(float(weight_sq), weight**2 / count), weight**2)
        filled = pairs.diagonal() > noise
        row = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
        pairs.data[~(filled[row] & filled[pairs.indices]) | (pairs.data <= noise)] = 0.0
        return PairCounts(count, weight, weight_sq, _canonical(pairs))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCounts):
            return NotImplemented
        return (
            (self.count, self.weight, self.weight_sq)
            == (other.count, other.weight, other.weight_sq)
            and np.array_equal(self.pairs.indptr, other.pairs.indptr)
            and np.array_equal(self.pairs.indices, other.pairs.indices)
            and np.array_equal(self.pairs.data, other.pairs.data)
        )

    __hash__ = None  # type: ignore[assignment]


def require_whole_range(weight: Number) -> None:
    """Raise OverflowError for a total of whole numbers that float64 could not hold exactly."""
    if isinstance(weight, int) and weight > MOST_WEIGHT:
        msg = (
            f"the weights of a class would add up to {weight}, and whole numbers are exact up to "
            f"{MOST_WEIGHT}: divide the weights by a common factor"
        )
        raise OverflowError(msg)


def _whole_type(weight: Number) -> Any:
    """Return the type of whole-number counts with a total weight, which no count exceeds."""
    return np.int32 if weight <= np.iinfo(np.int32).max else np.int64


def _canonical(pairs: Any) -> Any:
    pairs.sum_duplicates()
    pairs.eliminate_zeros()
    pairs.sort_indices()
    return pairs


def count_pairs(
    cells: AnyArray, sizes: Sequence[int], group: AnyArray, n_groups: int, weight: AnyArray | None
) -> list[PairCounts]:
    """Count the rows of each group by pairs of cells.

    ``sizes`` are the numbers of cells of the columns. Positive weights are of type int64 if all are
    whole numbers, and None if all are one.
    """
    exact = weight is None or weight.dtype.kind == "i"
    # Sums of float64 are exact for whole numbers of at most 2⁵³.
    float_weight = None if weight is None else weight.astype(np.float64)
    totals = _totals(group, n_groups, weight)
    buffers = [
        _TriangleBuffer(sizes, count, _whole_type(total) if exact else np.float64)
        for count, total, _ in totals
    ]
    members = [np.flatnonzero(group == k) for k in range(n_groups)]
    for i, size in enumerate(sizes):
        # All rows of the matrix that belong to a column are made at once. If most would be zero,
        # a sparse product takes less time and memory than a dense slab of them.
        if 2 * len(cells) * (len(sizes) - i) < n_groups * size * sum(sizes[i:]):
            for rows, buffer in zip(members, buffers, strict=True):
                slab = _sparse_slab(cells, sizes, i, rows, weight)
                buffer.append(slab.data, slab.indices, np.diff(slab.indptr), slab.shape[1])
        else:
            slab = _dense_slab(cells, sizes, i, group, n_groups, float_weight)
            for of_group, buffer in zip(slab, buffers, strict=True):
                entries = np.flatnonzero(of_group)
                row, column = np.divmod(entries, of_group.shape[1])
                lengths = np.bincount(row, minlength=len(of_group))
                buffer.append(of_group.ravel()[entries], column, lengths, of_group.shape[1])
    return [
        PairCounts(*total, buffer.matrix()) for total, buffer in zip(totals, buffers, strict=True)
    ]


class _TriangleBuffer:
    """An upper triangle that grows row by row, in arrays that are made once and cut at the end.

    Pieces that are joined at the end would take twice the memory.
    """

    def __init__(self, sizes: Sequence[int], n_rows: int, number: Any) -> None:
        self._n_cells, most, left = int(sum(sizes)), 0, int(sum(sizes))
        for i, size in enumerate(sizes):
            most += min(n_rows * (len(sizes) - i), size * left)
            left -= size
        self._values, self._indices = np.empty(most, number), np.empty(most, np.int32)
        self._size = 0
        self._lengths: list[AnyArray] = []

    def append(self, values: AnyArray, indices: AnyArray, lengths: AnyArray, width: int) -> None:
        """Add the next rows of the triangle.

        ``values`` are the counts that are not zero, row by row, ``indices`` their sorted positions
        among the last ``width`` cells, and ``lengths`` how many there are in each row.
        """
        part = slice(self._size, self._size + len(values))
        self._values[part], self._indices[part] = values, indices
        self._indices[part] += self._n_cells - width
        self._lengths.append(lengths)
        self._size = part.stop

    def matrix(self) -> Any:
        """Return the triangle, and give back what its arrays do not need."""
        for array in (self._values, self._indices):
            array.resize(self._size, refcheck=False)
        pointers = np.concatenate([[0], np.cumsum(np.concatenate(self._lengths), dtype=np.int64)])
        # SciPy gives indices the type of the pointers, and 64 bits are needed for few matrices.
        pointers = pointers.astype(np.int32 if self._size < np.iinfo(np.int32).max else np.int64)
        parts = self._values, self._indices, pointers
        return sparse.csr_array(parts, shape=(self._n_cells,) * 2)


def _sparse_slab(
    cells: AnyArray, sizes: Sequence[int], i: int, rows: IntArray, weight: AnyArray | None
) -> Any:
    """Count some rows by the cells of a column and of all later ones, as a sparse product."""
    starts = np.concatenate([[0], np.cumsum(sizes[i:])])
    width, n_columns = int(starts[-1]), len(sizes) - i
    numbers = (cells[rows, i:] + starts[:-1]).astype(np.int32)
    each = np.ones(len(rows), np.int64) if weight is None else weight[rows]
    pointers = np.arange(len(rows) + 1, dtype=np.int32)
    ones = np.ones(numbers.size, each.dtype)
    later = sparse.csr_array(
        (ones, numbers.ravel(), n_columns * pointers), shape=(len(rows), width)
    )
    own = sparse.csc_array((each, numbers[:, 0], pointers), shape=(sizes[i], len(rows)))
    # Turned twice, indices are sorted in linear time.
    slab = (own.tocsr() @ later).tocsc().tocsr()
    slab.eliminate_zeros()  # sums of numbers of both signs
    return slab


def _dense_slab(
    cells: AnyArray,
    sizes: Sequence[int],
    i: int,
    group: IntArray,
    n_groups: int,
    weight: AnyArray | None,
) -> AnyArray:
    """Count rows by group, cells of a column and cells of all later ones.

    One later column after the other, so that the table of a pair stays in the cache.
    """
    starts, size = np.concatenate([[0], np.cumsum(sizes[i:])]), sizes[i]
    slab = np.zeros((n_groups, size, int(starts[-1])), np.int64 if weight is None else np.float64)
    first = group * size + cells[:, i]
    own = np.bincount(first, weight, n_groups * size).reshape(n_groups, size)
    slab[:, range(size), range(size)] = own
    base, code = (np.empty(len(cells), dtype=np.int64) for _ in range(2))
    stride = 0
    for j in range(i + 1, len(sizes)):
        if sizes[j] != stride:  # many columns have the same number of cells
            stride = sizes[j]
            np.multiply(first, stride, out=base)
        np.add(base, cells[:, j], out=code)
        table = np.bincount(code, weight, n_groups * size * stride)
        start = starts[j - i]
        slab[:, :, start : start + stride] = table.reshape(n_groups, size, stride)
    return slab


def _totals(
    group: AnyArray, n_groups: int, weight: AnyArray | None
) -> list[tuple[int, Number, Number]]:
    """Return the number of rows, their weight and the sum of its squares for each group."""
    count = np.bincount(group, minlength=n_groups).tolist()
    if weight is None:
        return [(size, size, size) for size in count]
    if weight.dtype.kind == "f":
        total, total_sq = (np.bincount(group, w, n_groups).tolist() for w in (weight, weight**2))
        return list(zip(count, total, total_sq, strict=True))
    totals: list[tuple[int, Number, Number]] = []
    for k, size in enumerate(count):
        # Squares may be beyond 64 bits, so they are summed as Python numbers.
        values, times = (part.tolist() for part in np.unique_counts(weight[group == k]))
        total = sum(value * n for value, n in zip(values, times, strict=True))
        total_sq = sum(value * value * n for value, n in zip(values, times, strict=True))
        totals.append((size, total, total_sq))
    return totals


# ── Count labelled rows of a table by class, fold and pairs of cells, in blocks of rows ───────────

#: Cells of rows that are held at a time.
_CELLS_AT_A_TIME = 1 << 26


def count_rows(
    binner: Binner, X: Any, y: Any, sample_weight: Any, fold: Any, classes: Any
) -> tuple[AnyArray, tuple[tuple[PairCounts, ...], ...]]:
    """Return the classes, and the counts of each fold and class, as `BinCounts.of` does."""
    by = labels.group_rows(y, count_of(X), sample_weight, fold, classes)
    present = None if isinstance(by.present, slice) else by.present
    group = by.group.astype(np.int64)
    weight = None if by.weight is None else _as_whole(by.weight[by.present])
    sizes = [bins.n_cells for bins in binner.bins_]
    groups: list[PairCounts] = []
    for rows, cells in _cell_blocks(binner, X, count_of(X), present):
        of_rows = None if weight is None else weight[rows]
        block = count_pairs(cells, sizes, group[rows], by.n_groups, of_rows)
        groups = [a + b for a, b in zip(groups, block, strict=True)] if groups else block
    for counts in groups:
        if counts.count:
            require_moderate_weight(float(counts.weight))
    return by.classes, by.parts(groups)


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
