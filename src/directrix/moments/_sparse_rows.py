"""Moments of sparse rows, from products of stored values without a dense copy of the matrix.

The products of all pairs of stored values of a row are added to the matrix of products. Rows are
sorted by their number of stored values, so that NumPy forms the pairs of thousands of rows at a
time, each pair once. SciPy's general ``X.T @ X`` cannot use the symmetry.

Uncentred products are accurate where the mean of a column is small relative to its spread, as in a
column that is mostly zero. The other columns are called *heavy*; almost all of their values are
stored. They are summarised a second time, as dense columns with a shift.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments._dense_rows import mirror_lower, moments_of_dense
from directrix.moments._row_scatter import RowBlock, RowScatter
from directrix.moments.class_moments import ClassMoments
from directrix.moments.labels import code_dtype
from directrix.moments.rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from directrix._typing import AnyArray, FloatArray

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

    Parameters
    ----------
    matrix : csr_array
        The rows, with sorted indices and no duplicates.
    groups, n_groups, weight
        As for `moments_of_dense`.
    implicit : bool
        Keep the rows and a scatter operator instead of a scatter matrix.
    """
    n, d = matrix.shape
    if not implicit and matrix.nnz > DENSE_SHARE * n * d:
        return moments_of_dense(SparseRows(matrix), groups, n_groups, weight)
    tallies = [_Tally(d, implicit=implicit) for _ in range(n_groups)]
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
    columns = (
        moments_of_dense(SparseRows(matrix, heavy), groups, n_groups, weight)
        if heavy.size
        else [ClassMoments.empty(0)] * n_groups
    )
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


class _Tally:
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

        Parameters
        ----------
        members : iterator of (rows, weight)
            The rows of the group once more.
        heavy : array of int
            Indices of the heavy columns.
        columns : ClassMoments
            Summary of the heavy columns, from dense rows.
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
            RowBlock(
                rows,
                heavy,
                rows[:, heavy].toarray() - mean[heavy],
                weight,
                np.ones(self.n_features),
                shift,
                np.zeros(self.n_features),
            )
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
