"""Summarise rows, labels, weights and folds into one ClassMoments per fold and class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, NoReturn

import numpy as np
from scipy.linalg import blas

from directrix._typing import AnyArray, FloatArray
from directrix.moments.class_moments import DENSE_FEATURES, ClassMoments, RowBlock, RowScatter
from directrix.rows import labels
from directrix.rows.labels import code_dtype, require_moderate_weight
from directrix.rows.rows import Matrix, SparseRows, as_rows, checked_names, not_finite_error
from directrix.rows.sums import exact_sum

# ── Moments of dense rows: gather by group, shift, then one symmetric product per block ───────────

# The cost is little more than that of the product alone (``benchmarks/speed/moments.py``); the
# memory is one block. Rows are shifted by the anchor of their group before they are multiplied.
# Centring the product at the end loses a bounded number of digits, whatever the order of the rows:
# let the anchor be the mean of rows that weigh a share p of all rows of the group. If the other
# rows lie Δ away, the mean lies (1 − p) Δ from the anchor, and the scatter per unit weight is at
# least p (1 − p) Δ². Centring therefore cancels at most a factor 1 + (1 − p)² Δ² / (p (1 − p) Δ²) =
# 1 / p.
#
# So the anchor is moved to the running mean whenever the weight of the group has grown
# ``GROWTH``-fold since it was set. That happens log(n) times, and sorted or drifting rows lose two
# bits instead of all. Where the running mean is within one standard deviation of zero the anchor is
# zero, which loses at most four bits (a factor 4 / p, by the same argument), and almost none when
# the rows are in random order. Standardised rows are therefore not shifted at all.

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
    rows: Matrix, groups: AnyArray, n_groups: int, weight: FloatArray | None
) -> list[ClassMoments]:
    """Return one ClassMoments for each group of rows.

    ``groups`` holds the group of each row; rows of group ``n_groups`` are left out.
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
    rows: Matrix, groups: AnyArray, n_groups: int, weight: FloatArray | None
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
    block = RowBlock.of(None, np.arange(len(anchor)), shifted, weight, anchor)
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

        Rows are overwritten; ``ones`` is a vector of ones of their number.
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


#: Rows and columns of a tile that is mirrored at a time.
_TILE = 64


def mirror_lower(matrix: FloatArray) -> None:
    """Copy the lower triangle of a square matrix onto the upper one, in place, tile by tile."""
    d = len(matrix)
    for start in range(0, d, _TILE):
        stop = min(start + _TILE, d)
        tile = matrix[start:stop, start:stop]
        tile[...] = np.tril(tile) + np.tril(tile, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T


# ── Moments of sparse rows, from products of stored values without a dense copy of the matrix ─────

# The products of all pairs of stored values of a row are added to the matrix of products. Rows are
# sorted by their number of stored values, so that NumPy forms the pairs of thousands of rows at a
# time, each pair once. SciPy's general ``X.T @ X`` cannot use the symmetry.
#
# Uncentred products are accurate where the mean of a column is small relative to its spread, as in
# a column that is mostly zero. The other columns are called *heavy*; almost all of their values are
# stored. They are summarised a second time, as dense columns with a shift.

#: A column is heavy where mean² > 4 variance: the uncentred sum of squares is then more than five
#: times the centred one, and at least 80 % of the values of the column are stored.
_HEAVY = 5.0

#: Above this share of stored values a dense block is multiplied faster than pairs are formed.
DENSE_SHARE = 0.14

#: Rows per chunk: few enough that their stored values, gathered in another order, stay in cache.
_CHUNK_ROWS = 1 << 14

#: Size of each buffer of `_Pairs`, in values.
_BUFFER_VALUES = 1 << 18


def moments_of_sparse(
    matrix: Any, groups: AnyArray, n_groups: int, weight: FloatArray | None, *, implicit: bool
) -> list[ClassMoments]:
    """Return one ClassMoments for each group of rows of a canonical CSR array.

    The matrix has sorted indices and no duplicates; ``implicit`` keeps the rows in a scatter
    operator instead of a scatter matrix. Other parameters are those of `moments_of_dense`.
    """
    n, d = matrix.shape
    if not implicit and matrix.nnz > DENSE_SHARE * n * d:
        return moments_of_dense(SparseRows(matrix), groups, n_groups, weight)
    tallies = [_SparseTally(d, implicit=implicit) for _ in range(n_groups)]
    pairs = _Pairs(int(np.diff(matrix.indptr).max(initial=0)))
    for start in range(0, n, _CHUNK_ROWS):
        chunk = matrix[start : start + _CHUNK_ROWS].astype(np.float64, copy=False)
        codes = groups[start : start + _CHUNK_ROWS]
        weights = None if weight is None else weight[start : start + _CHUNK_ROWS]
        for group, tally in enumerate(tallies):
            members = np.flatnonzero(codes == group)
            if members.size:
                tally.add(chunk, members, None if weights is None else weights[members], pairs)
    heavy = reduce(np.union1d, (tally.heavy() for tally in tallies), np.empty(0, dtype=np.int64))
    columns = [ClassMoments.empty(0)] * n_groups
    if heavy.size:
        columns = moments_of_dense(SparseRows(matrix, heavy), groups, n_groups, weight)
    return [
        tally.moments(_members(matrix, groups, weight, group), heavy, columns[group])
        for group, tally in enumerate(tallies)
    ]


def _members(
    matrix: Any, groups: AnyArray, weight: FloatArray | None, group: int
) -> Iterator[tuple[Any, FloatArray | None]]:
    """Yield the rows of a group and their weights, chunk by chunk, for a second pass."""
    for start in range(0, matrix.shape[0], _CHUNK_ROWS):
        members = start + np.flatnonzero(groups[start : start + _CHUNK_ROWS] == group)
        if members.size:
            yield matrix[members].astype(np.float64), None if weight is None else weight[members]


class _SparseTally:
    """Uncentred running sums of one group, centred at the end."""

    def __init__(self, n_features: int, *, implicit: bool) -> None:
        self.n_features = n_features
        self.implicit = implicit
        self.count = 0
        self.weight = 0.0
        self.weight_sq = 0.0
        self.total = np.zeros(n_features)
        # The lower triangle of all products; with implicit scatter only the diagonal.
        self.product = np.zeros(n_features if implicit else n_features * n_features)

    def add(self, chunk: Any, members: AnyArray, weight: FloatArray | None, pairs: _Pairs) -> None:
        """Add the member rows of a chunk."""
        if self.implicit:
            rows = chunk[members]
            row_weight = np.ones(members.size) if weight is None else weight
            self.total += rows.T @ row_weight
            self.product += (rows * rows).T @ row_weight
        else:
            pairs.add(chunk, members, weight, self.total, self.product)
        self.count += members.size
        self.weight += float(members.size) if weight is None else float(weight.sum())
        self.weight_sq += float(members.size) if weight is None else float(weight @ weight)

    def _diagonal(self) -> FloatArray:
        return self.product if self.implicit else self.product[:: self.n_features + 1]

    def heavy(self) -> AnyArray:
        """Return the indices of the columns whose centring would cancel."""
        if not self.count:
            return np.empty(0, dtype=np.int64)
        squares = self._diagonal()
        return np.flatnonzero(squares > _HEAVY * (squares - self.total**2 / self.weight))

    def moments(
        self,
        members: Iterator[tuple[Any, FloatArray | None]],
        heavy: AnyArray,
        columns: ClassMoments,
    ) -> ClassMoments:
        """Centre the sums and return the summary.

        ``members`` are the rows of the group once more, ``heavy`` the indices of the heavy columns,
        and ``columns`` their summary from dense rows.
        """
        d = self.n_features
        if not self.count:
            return ClassMoments.empty(d)
        mean = self.total / self.weight
        mean[heavy] = columns.mean
        tail = np.zeros(d)
        tail[heavy] = columns.mean_tail
        scatter: Any
        if self.implicit:
            scatter = self._operator(members, mean, tail, heavy, columns)
        else:
            scatter = self._matrix(members, mean, heavy, columns)
        return ClassMoments(self.count, self.weight, self.weight_sq, mean, scatter, tail)

    def _matrix(
        self,
        members: Iterator[tuple[Any, FloatArray | None]],
        mean: FloatArray,
        heavy: AnyArray,
        columns: ClassMoments,
    ) -> FloatArray:
        scatter = self.product.reshape(self.n_features, -1)
        step = mean * np.sqrt(self.weight)
        step[heavy] = 0.0
        scatter -= np.multiply.outer(step, step)
        mirror_lower(scatter)
        if heavy.size:
            # Σ ω (x_h − μ_h) x_j: one centred factor is enough, and the other stays sparse.
            cross = np.zeros((self.n_features, heavy.size))
            residual = np.zeros(heavy.size)
            for rows, weight in members:
                centred = rows[:, heavy].toarray() - columns.mean - columns.mean_tail
                if weight is not None:
                    centred *= weight[:, None]
                cross += rows.T @ centred
                residual += centred.sum(axis=0)
            cross -= np.multiply.outer(mean, residual)
            scatter[:, heavy] = cross
            scatter[heavy, :] = cross.T
            scatter[np.ix_(heavy, heavy)] = columns.scatter
        return scatter

    def _operator(
        self,
        members: Iterator[tuple[Any, FloatArray | None]],
        mean: FloatArray,
        tail: FloatArray,
        heavy: AnyArray,
        columns: ClassMoments,
    ) -> RowScatter:
        shift = np.zeros(self.n_features)
        shift[heavy] = mean[heavy]
        blocks = tuple(
            RowBlock.of(rows, heavy, rows[:, heavy].toarray() - mean[heavy], weight, shift)
            for rows, weight in members
        )
        diagonal = self.product - self.total**2 / self.weight
        diagonal[heavy] = columns.scatter.diagonal()
        return RowScatter(blocks, mean, tail, diagonal)


class _Pairs:
    """Products of all pairs of stored values, formed for thousands of rows at a time."""

    def __init__(self, longest: int) -> None:
        # Buffers are reused, because touching new memory costs more than the products themselves.
        self._capacity = max(_BUFFER_VALUES, longest)
        self._column, self._cell = np.empty((2, self._capacity), dtype=np.int64)
        self._value, self._term = np.empty((2, self._capacity))

    def add(
        self,
        chunk: Any,
        members: AnyArray,
        weight: FloatArray | None,
        total: FloatArray,
        product: FloatArray,
    ) -> None:
        """Add ω x_i to ``total[i]``, and ω x_i x_j to ``product[i * d + j]`` for all j ≤ i."""
        d = chunk.shape[1]
        lengths = np.diff(chunk.indptr)[members]
        # Longest first; small integers sort in linear time.
        order = np.argsort(-lengths.astype(code_dtype(d)), kind="stable")
        lengths, starts = lengths[order], chunk.indptr[members[order]].astype(np.int64)
        root = None if weight is None else np.sqrt(weight[order])
        indices = chunk.indices.astype(np.int64)
        first, filled = 0, int(np.count_nonzero(lengths))
        while first < filled:
            longest = int(lengths[first])
            n = min(self._capacity // longest, filled - first)
            run = slice(first, first + n)
            first += n
            columns = self._column[: longest * n].reshape(longest, n)
            values = self._value[: longest * n].reshape(longest, n)
            # The rows that have a k-th value are the leading ones.
            n_leading = np.searchsorted(-lengths[run], -np.arange(longest)).tolist()
            for k, m in enumerate(n_leading):
                positions = starts[run][:m] + k
                column = np.take(indices, positions, out=columns[k, :m], mode="clip")
                value = np.take(chunk.data, positions, out=values[k, :m], mode="clip")
                if root is None:
                    np.add.at(total, column, value)
                else:
                    value *= root[run][:m]
                    np.add.at(total, column, value * root[run][:m])
                cell, term = self._cell[: (k + 1) * m], self._term[: (k + 1) * m]
                np.add(columns[: k + 1, :m], column * d, out=cell.reshape(k + 1, m))
                np.multiply(values[: k + 1, :m], value, out=term.reshape(k + 1, m))
                np.add.at(product, cell, term)


# ── Summarise rows, labels, weights and folds into one ClassMoments per fold and class ────────────


def class_moments_of_rows(
    X: Any, y: Any, weight: Any, classes: Any, names: Any, fold: Any, *, keep_rows: bool
) -> dict[str, Any]:
    """Check rows and summarise them; return the constructor arguments of their `Moments`.

    The parameters are those of `Moments.of`.
    """
    rows = as_rows(X)
    n, d = rows.shape
    if names is not None:
        rows.names = checked_names(names, d)
    if d == 0:
        msg = "there are no features (X has no columns)"
        raise ValueError(msg)
    by = labels.group_rows(y, n, weight, fold, classes)
    groups = by.group
    if not isinstance(by.present, slice):  # rows of weight zero belong to no group
        groups = np.full(n, by.n_groups, dtype=code_dtype(by.n_groups))
        groups[by.present] = by.group
    # A NaN or an infinity shows in the sums of its group, so the rows are searched only then.
    with np.errstate(invalid="ignore", over="ignore"):
        wide = d > DENSE_FEATURES or keep_rows
        summaries = _summarize_groups(rows, groups, by.n_groups, by.weight, wide=wide)
    for group in summaries:
        if group.count and by.weight is not None:
            require_moderate_weight(group.weight)
    if not all(_is_finite(group) for group in summaries):
        _raise_not_finite(rows, groups < by.n_groups)
    return {
        "n_features": d,
        "classes": by.classes,
        "parts": by.parts(summaries),
        "feature_names": rows.names,
        "folded": fold is not None,
    }


def _summarize_groups(
    rows: Matrix, groups: AnyArray, n_groups: int, weight: FloatArray | None, *, wide: bool
) -> list[ClassMoments]:
    if isinstance(rows, SparseRows):
        return moments_of_sparse(rows.matrix, groups, n_groups, weight, implicit=wide)
    if wide:
        return kept_rows_of_dense(rows, groups, n_groups, weight)
    return moments_of_dense(rows, groups, n_groups, weight)


def _is_finite(group: ClassMoments) -> bool:
    finite = np.isfinite(group.mean).all() and np.isfinite(group.scatter.diagonal()).all()
    return bool(finite)


def _raise_not_finite(rows: Matrix, present: AnyArray) -> NoReturn:
    """Find the values that made the sums NaN or infinite, and raise ValueError that names them."""
    error = not_finite_error(rows, present)
    if error is not None:
        raise error
    largest, widest = 0.0, 0
    for row, column, value in rows.stored():
        size = np.where(present[row], np.abs(value), 0.0)
        if size.max(initial=0.0) > largest:
            largest, widest = float(size.max()), int(column[size.argmax()])
    msg = (
        f"the squares of column {rows.column(widest)} overflow (its largest value is "
        f"{largest:.3g}): rescale it, or make the weights smaller"
    )
    raise ValueError(msg)
