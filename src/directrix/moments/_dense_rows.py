"""Moments of dense rows: gather by group, shift, then one symmetric product per block.

The cost is little more than that of the product alone (``benchmarks/speed/moments.py``); the memory
is one block. Rows are shifted by the anchor of their group before they are multiplied. Centring the
product at the end loses a bounded number of digits to cancellation, whatever the order of the rows:

    Let the anchor be the mean of rows that weigh a share p of all rows of the group. If the other
    rows lie Δ away, the mean lies (1 − p) Δ from the anchor, and the scatter per unit weight is at
    least p (1 − p) Δ². Centring therefore cancels at most a factor
    1 + (1 − p)² Δ² / (p (1 − p) Δ²) = 1 / p.

So the anchor is moved to the running mean whenever the weight of the group has grown
``GROWTH``-fold since it was set. That happens log(n) times, and sorted or drifting rows lose two
bits instead of all.

Where the running mean is within one standard deviation of zero the anchor is zero, which loses at
most four bits (a factor 4 / p, by the same argument), and almost none when the rows are in random
order. Standardised rows are therefore not shifted at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import blas

from directrix.moments._double_double import exact_sum
from directrix.moments._row_scatter import RowBlock, RowScatter
from directrix.moments.class_moments import ClassMoments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.rows import Rows

GROWTH = 4.0

#: Values gathered at a time: one megabyte stays in the second-level cache between gather, shift
#: and product. With many features at least ``_LEAST_ROWS`` rows are gathered, because a product
#: reads and writes d² values however few its rows are.
_GATHERED_VALUES = 1 << 17
_LEAST_ROWS = 512

#: Values of each group that a block has on average, at least: to call a product takes as long as to
#: multiply some hundred short rows.
_VALUES_PER_GROUP = 20_480

#: Values of a block that is rearranged as a whole (8 MB). Its rows are read in order, so that the
#: processor reads ahead; rows that are gathered group by group are far apart. Of larger blocks only
#: as much as stays in the cache is gathered at a time: with so many features rows are long, and
#: where they begin matters little.
_REARRANGED_VALUES = 1 << 20

#: Up to so many groups, one comparison per group is faster than a sort.
_FEW_GROUPS = 2

#: With few features and rows, a general BLAS product takes half the time of a symmetric one
#: (OpenBLAS, up to a million operations; other libraries lose nothing). The general product adds
#: row by row, so few rows also keep its rounding error small.
_FEW_FEATURES = 31
_FEW_ROWS = 512


def gathered_rows(n_features: int) -> int:
    """Return the number of rows to gather at a time."""
    return max(_GATHERED_VALUES // n_features, _LEAST_ROWS)


def block_rows(n_features: int, n_groups: int) -> int:
    """Return the number of rows to sort by group at a time."""
    rows_per_group = max(_VALUES_PER_GROUP // n_features, _LEAST_ROWS)
    return max(gathered_rows(n_features), rows_per_group * min(n_groups, 64))


def moments_of_dense(
    rows: Rows, groups: AnyArray, n_groups: int, weight: FloatArray | None
) -> list[ClassMoments]:
    """Return one ClassMoments for each group of rows.

    Parameters
    ----------
    rows : Rows
        The features.
    groups : integer array
        Group of each row, 0 to ``n_groups - 1``; rows of group ``n_groups`` are left out.
    n_groups : int
        Number of groups.
    weight : array or None
        Sample weights; None weights all rows equally.
    """
    n, d = rows.shape
    size = block_rows(d, n_groups)
    whole_blocks = size * d <= _REARRANGED_VALUES
    capacity = min(size if whole_blocks else gathered_rows(d), max(n, 1))
    buffer, ones = np.empty((capacity, d)), np.ones(capacity)
    tallies = [_Tally(d) for _ in range(n_groups)]
    for start in range(0, n, size):
        codes = groups[start : start + size]
        order, counts = _sort_by_group(codes, n_groups)
        # Contiguous, because np.take would otherwise copy the whole block for every run.
        block = np.ascontiguousarray(rows.block(start, min(start + size, n)))
        first = 0
        for run in _runs(counts, capacity):
            members = order[first : first + sum(length for _, length in run)]
            gathered = _gather(block, members, buffer)
            run_weight = None if weight is None else weight[start:][members]
            first += members.size
            begin = 0
            for group, length in run:
                segment = slice(begin, begin + length)
                tallies[group].add(
                    gathered[segment],
                    None if run_weight is None else run_weight[segment],
                    ones[:length],
                )
                begin += length
    return [tally.moments() for tally in tallies]


def _sort_by_group(codes: AnyArray, n_groups: int) -> tuple[AnyArray, list[int]]:
    """Return the rows of each group, one group after the other, and how many each group has."""
    if 0 < n_groups <= _FEW_GROUPS:
        members = [np.flatnonzero(codes == group) for group in range(n_groups)]
        return np.concatenate(members), [part.size for part in members]
    order = np.argsort(codes, kind="stable")
    return order, np.bincount(codes, minlength=n_groups)[:n_groups].tolist()


def _runs(counts: list[int], capacity: int) -> Iterator[list[tuple[int, int]]]:
    """Divide rows sorted by group into runs that fit the buffer.

    Yields lists of (group, number of rows). A run ends at the end of a group where possible, so
    that each product has as many rows as it can.
    """
    run: list[tuple[int, int]] = []
    filled = 0
    for group, count in enumerate(counts):
        remaining = count
        while remaining:
            if filled and filled + remaining > capacity:
                yield run
                run, filled = [], 0
            taken = min(remaining, capacity)
            run.append((group, taken))
            filled += taken
            remaining -= taken
    if run:
        yield run


def kept_rows_of_dense(
    rows: Rows, groups: AnyArray, n_groups: int, weight: FloatArray | None
) -> list[ClassMoments]:
    """Return one ClassMoments for each group, with its rows kept in a scatter operator.

    The parameters are those of `moments_of_dense`.
    """
    n, d = rows.shape
    size = block_rows(d, n_groups)
    result: list[ClassMoments | None] = [None] * n_groups
    for start in range(0, n, size):
        block = np.asarray(rows.block(start, min(start + size, n)), dtype=np.float64)
        codes = groups[start : start + size]
        for group in np.unique(codes[codes < n_groups]).tolist():
            members = np.flatnonzero(codes == group)
            member_weight = None if weight is None else weight[start + members]
            added, known = _moments_with_rows(block[members], member_weight), result[group]
            result[group] = added if known is None else known + added
    return [ClassMoments.empty(d) if group is None else group for group in result]


def _moments_with_rows(rows: FloatArray, weight: FloatArray | None) -> ClassMoments:
    """Summarise some rows of one group, and keep the rows in a scatter operator."""
    row_weight = np.ones(len(rows)) if weight is None else weight
    total = float(row_weight.sum())
    anchor = rows[0] + row_weight @ (rows - rows[0]) / total
    shifted = rows - anchor
    offset = row_weight @ shifted / total
    mean, tail = exact_sum(anchor, offset)
    all_columns = np.arange(len(anchor))
    block = RowBlock(
        None, all_columns, shifted, weight, np.ones(len(anchor)), anchor, np.zeros(len(anchor))
    )
    diagonal = row_weight @ shifted**2 - total * offset**2
    scatter = RowScatter((block,), mean, tail, diagonal)
    return ClassMoments(len(rows), total, float(row_weight @ row_weight), mean, scatter, tail)


def _gather(block: AnyArray, members: AnyArray, out: FloatArray) -> FloatArray:
    """Copy the member rows of a block into a float64 buffer."""
    out = out[: members.size]
    if members.size == len(block) and block.dtype == np.float64:  # all rows, in another order
        target = np.empty_like(members)
        target[members] = np.arange(members.size)
        row = np.dtype((np.void, out.strides[0]))
        np.put(out.view(row), target, block.view(row), mode="clip")
        return out
    if block.dtype == np.float64:
        # "clip" because "raise" makes np.take allocate another buffer; every index is valid.
        return np.take(block, members, axis=0, out=out, mode="clip")
    out[...] = np.take(block, members, axis=0)
    return out


class _Tally:
    """Running sums of one group, taken about its anchor."""

    def __init__(self, n_features: int) -> None:
        self.count = 0
        self.weight = 0.0
        self.weight_sq = 0.0
        self.anchored_weight = 0.0  # weight of the rows when the anchor was set
        self.anchor = np.zeros(n_features)
        self.shifts = False  # whether the anchor differs from zero
        self.total = np.zeros(n_features)
        # In Fortran order, because BLAS then fills the upper triangle in place.
        self.product = np.zeros((n_features, n_features), order="F")
        self._multiply = _general if n_features <= _FEW_FEATURES else _symmetric

    def add(self, rows: FloatArray, weight: FloatArray | None, ones: FloatArray) -> None:
        """Add rows to the sums.

        Parameters
        ----------
        rows : array of shape (m, d)
            Overwritten.
        weight : array of shape (m,) or None
        ones : array of shape (m,)
            A vector of ones.
        """
        count = len(rows)
        row_weight = ones if weight is None else weight
        added = float(count) if weight is None else float(weight.sum())
        if self.weight + added > GROWTH * self.anchored_weight:
            self._move_anchor(rows, row_weight, ones, added)
        if self.shifts:
            _subtract(rows, self.anchor, ones)
        self.total += row_weight @ rows
        if weight is None:
            self.weight_sq += added
        else:
            self.weight_sq += float(weight @ weight)
            rows *= np.sqrt(weight)[:, None]
        self.product = self._multiply(rows.T, self.product)
        self.weight += added
        self.count += count

    def _move_anchor(
        self, rows: FloatArray, row_weight: FloatArray, ones: FloatArray, added: float
    ) -> None:
        """Set the anchor to the mean of all rows so far, including these, or to zero."""
        # From the first row, not from zero: a constant column then has differences of exactly 0.
        origin = self.anchor if self.count else rows[0].copy()
        together = self.weight + added
        shifted = rows.copy()
        _subtract(shifted, origin, ones)
        mean = (self.total + row_weight @ shifted) / together
        squares = self.product.diagonal() - mean * (2 * self.total - self.weight * mean)
        _subtract(shifted, mean, ones)
        variance = (squares + row_weight @ np.square(shifted, out=shifted)) / together
        anchor = origin + mean
        anchor[anchor**2 <= variance] = 0.0
        if self.count:
            moved, moved_low = exact_sum(anchor, -origin)
            old = self.total / self.weight
            new = (old - moved) - moved_low
            self._add_outer(-self.weight, old)
            self._add_outer(self.weight, new)
            self.total = self.weight * new
        self.anchor, self.shifts = anchor, bool(anchor.any())
        self.anchored_weight = together

    def _add_outer(self, factor: float, vector: FloatArray) -> None:
        self.product = blas.dsyr(factor, vector, a=self.product, overwrite_a=1)

    def moments(self) -> ClassMoments:
        """Centre the sums and return the summary."""
        if not self.count:
            return ClassMoments.empty(len(self.anchor))
        offset = self.total / self.weight
        self._add_outer(-self.weight, offset)
        scatter = self.product.T  # C order, in which the filled triangle is the lower one
        mirror_lower(scatter)
        mean, tail = exact_sum(self.anchor, offset)
        return ClassMoments(self.count, self.weight, self.weight_sq, mean, scatter, tail)


def _subtract(rows: FloatArray, vector: FloatArray, ones: FloatArray) -> None:
    """Subtract a vector from every row, in place.

    As a rank-one update x − 1·v it rounds once, as a subtraction does, and runs twice as fast as
    NumPy's broadcast over short rows.
    """
    blas.dger(-1.0, vector, ones, a=rows.T, overwrite_a=1)


def _general(rows: FloatArray, product: FloatArray) -> FloatArray:
    for first in range(0, rows.shape[1], _FEW_ROWS):
        chunk = rows[:, first : first + _FEW_ROWS]
        product = blas.dgemm(1.0, chunk, chunk, trans_b=1, beta=1.0, c=product, overwrite_c=1)
    return product


def _symmetric(rows: FloatArray, product: FloatArray) -> FloatArray:
    result: FloatArray = blas.dsyrk(1.0, rows, beta=1.0, c=product, overwrite_c=1)
    return result


def mirror_lower(matrix: FloatArray, size: int = 64) -> None:
    """Copy the lower triangle of a square matrix onto the upper one, in place, tile by tile."""
    d = len(matrix)
    for start in range(0, d, size):
        stop = min(start + size, d)
        tile = matrix[start:stop, start:stop]
        tile[...] = np.tril(tile) + np.tril(tile, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
