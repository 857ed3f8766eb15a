"""CodedRows: rows as cells, whose features are a linear map of cells that is never multiplied out.

A row has one cell in every block (a column, or a pair of columns), so that a table is a sparse
matrix of ones. Scores need only the points of the cells, and gradients only sums by cell: features
of a thousand directions cost no more than the columns they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray

#: Cells of which all pairs are counted in one dense matrix.
_FEW_CELLS = 2_000
#: Rows that are multiplied out at a time.
_PART = 1 << 12


class Coding:
    r"""From coefficients to the points of cells, and from sums by cell to gradients.

    The points of a column's cells are :math:`B w`; those of the cells of a pair of columns
    :math:`A W B^\top`, with a matrix of coefficients W.

    ``columns`` holds the coding of each column, of shape (cells, directions), and ``pairs`` the
    codings of both columns of each pair. ``scale`` has a factor of the points of each block, the
    relative prior deviation of its points; ``signs`` is 1 where a coefficient of a column may not
    be negative, else 0.
    """

    def __init__(
        self,
        columns: Sequence[Any],
        pairs: Sequence[tuple[FloatArray, FloatArray]] = (),
        scale: FloatArray | None = None,
        signs: IntArray | None = None,
    ) -> None:
        self._signs = signs
        scale = np.ones(len(columns) + len(pairs)) if scale is None else scale
        self.scale = scale
        self._columns, self._pairs = tuple(columns), tuple(pairs)
        scaled = [factor * basis for factor, basis in zip(scale, columns, strict=False)]
        self._main = _block_diagonal(scaled)
        self._typed: dict[tuple[str, Any], Any] = {}
        # Pairs are padded to one size, so that all of them are one product.
        self._left = _stacked([pair[0] for pair in pairs], scale[len(columns) :])
        self._right = _stacked([pair[1] for pair in pairs], None)
        self.starts = np.cumsum([0, *(basis.shape[0] for basis in columns)])
        sizes = [basis.shape[1] for basis in columns]
        ranks = self._left.shape[2] * self._right.shape[2]
        #: Where the features of each block begin, and the end of the last.
        self.feature_starts = np.cumsum([0, *sizes, *[ranks] * len(pairs)])

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self._pairs)

    @property
    def main_matrix(self) -> Any:
        """From the coefficients of columns to the points of their cells, as a sparse matrix."""
        return self._main

    @property
    def n_features(self) -> int:
        """Number of coefficients."""
        return int(self.feature_starts[-1])

    @property
    def signs(self) -> IntArray | None:
        """Signs of all coefficients, with a zero for the intercept last; None if all are free."""
        if self._signs is None or not self._signs.any():
            return None
        rest = self.n_features + 1 - len(self._signs)
        return np.concatenate([self._signs, np.zeros(rest, dtype=np.int64)])

    @property
    def n_cells(self) -> int:
        """Number of cells of all blocks, and one for the constant."""
        of_pairs = len(self._pairs) * int(self._left.shape[1] * self._right.shape[1])
        return int(self._main.shape[0]) + of_pairs + 1

    def cell_numbers(self, cells: IntArray, pair_cells: Sequence[tuple[IntArray, IntArray]]) -> Any:
        """Return the number of each row's cell in every block, of shape (n, blocks + 1).

        ``pair_cells`` are the cells of both columns of each pair.
        """
        first, left, right = self._main.shape[0], self._left.shape[1], self._right.shape[1]
        # Block by block, each contiguous, and turned once: much faster than rows with gaps.
        n_columns = cells.shape[1]
        numbers = np.empty((n_columns + len(pair_cells) + 1, len(cells)), dtype=np.int32)
        for index, start in enumerate(self.starts[:-1]):
            np.add(cells[:, index], start, out=numbers[index], casting="unsafe")
        for index, (one, other) in enumerate(pair_cells, start=n_columns):
            np.multiply(one, right, out=numbers[index], casting="unsafe")
            numbers[index] += other
            numbers[index] += first + (index - n_columns) * left * right
        numbers[-1] = self.n_cells - 1
        return np.ascontiguousarray(numbers.T)

    def points(self, coef: AnyArray) -> AnyArray:
        """Return the points of every cell, of shape (cells, k).

        ``coef`` is of shape (features, k), or (features + 1, k) with a constant last.
        """
        k = coef.shape[1]
        of_columns = self._main.shape[1]
        points = np.zeros((self.n_cells, k), dtype=coef.dtype)
        points[: self._main.shape[0]] = self._of_type("main", coef.dtype) @ coef[:of_columns]
        if self._pairs:
            left, right = (self._of_type(side, coef.dtype) for side in ("left", "right"))
            pairs, _, rank = left.shape
            inner = coef[of_columns : self.n_features].reshape(pairs, rank, -1)
            half = (left @ inner).reshape(pairs, left.shape[1], right.shape[2], k)
            full = right[:, None] @ half
            points[self._main.shape[0] : -1] = full.reshape(-1, k)
        if len(coef) > self.n_features:
            points[-1] = coef[-1]
        return points

    def gradient(self, sums: AnyArray, *, constant: bool = False) -> AnyArray:
        """Return the transpose of `points` applied to sums by cell, of shape (features, k)."""
        matrices = [self._of_type(name, sums.dtype) for name in ("back", "left", "right")]
        return self._back(sums, *matrices, constant=constant)

    def squares(self, sums: AnyArray, *, constant: bool = False) -> AnyArray:
        """Return the sums of squared features from the weight of every cell."""
        main = sparse.csr_array(self._main.multiply(self._main).T)
        return self._back(sums, main, self._left**2, self._right**2, constant=constant)

    def _of_type(self, name: str, dtype: Any) -> Any:
        """Return a matrix in a type of numbers; conversions take as long as products."""
        if (name, dtype) not in self._typed:
            matrices = {"main": self._main, "left": self._left, "right": self._right}
            matrix = sparse.csr_array(self._main.T) if name == "back" else matrices[name]
            self._typed[name, dtype] = matrix.astype(dtype)
        return self._typed[name, dtype]

    def _back(
        self, sums: AnyArray, main: Any, left: AnyArray, right: AnyArray, *, constant: bool
    ) -> AnyArray:
        k, dtype = sums.shape[1], sums.dtype
        of_columns, cells = main.shape
        result = np.empty((self.n_features + constant, k), dtype=dtype)
        result[:of_columns] = main @ sums[:cells]
        if self._pairs:
            pairs = len(left)
            full = sums[cells:-1].reshape(pairs, left.shape[1], right.shape[1], k)
            half = right.transpose(0, 2, 1)[:, None] @ full
            inner = left.transpose(0, 2, 1) @ half.reshape(pairs, left.shape[1], -1)
            result[of_columns : self.n_features] = inner.reshape(-1, k)
        if constant:
            result[-1] = sums[-1]
        return result

    def scaled(self, scale: FloatArray) -> Coding:
        """Return the coding with other factors of its blocks."""
        return Coding(self._columns, self._pairs, scale, self._signs)

    def block_points(self, coef: FloatArray) -> list[FloatArray]:
        """Return the points of the cells of every block: a vector, or a matrix for a pair."""
        points = self.points(coef[:, None])[:, 0]
        of_columns = [
            points[start : start + basis.shape[0]]
            for start, basis in zip(self.starts, self._columns, strict=False)
        ]
        size = self._left.shape[1], self._right.shape[1]
        of_pairs = points[self._main.shape[0] : -1].reshape(len(self._pairs), *size)
        sizes = [(len(left), len(right)) for left, right in self._pairs]
        return of_columns + [
            block[: cut[0], : cut[1]] for block, cut in zip(of_pairs, sizes, strict=True)
        ]


@dataclass(frozen=True)
class CodedRows:
    """Rows of coded features; a matrix as far as fits need one.

    ``cells`` is sparse, of shape (n, cells), with one entry for every block and row: one, or the
    sign of a row. ``constant`` adds a constant feature after all others.
    """

    cells: Any
    coding: Coding
    constant: bool = False

    @classmethod
    def of(cls, numbers: IntArray, coding: Coding) -> CodedRows:
        """Return the rows with these cell numbers, as `Coding.cell_numbers` returns them."""
        n, blocks = numbers.shape
        start = np.arange(n + 1, dtype=np.int64) * blocks
        data = np.ones(n * blocks, dtype=np.float32)
        shape = n, coding.n_cells
        return cls(sparse.csr_array((data, numbers.ravel(), start), shape=shape), coding)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return int(self.cells.shape[0]), self.coding.n_features + self.constant

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self.cells.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> CodedRows:
        return CodedRows(self.cells[rows], self.coding, self.constant)

    def __matmul__(self, coef: AnyArray) -> AnyArray:
        if coef.ndim == 1:
            return (self @ coef[:, None])[:, 0]
        product: AnyArray = self.cells @ self.coding.points(coef)
        return product

    @property
    def T(self) -> TransposedRows:  # noqa: N802 - as of an array
        """The transpose, which takes products only."""
        return TransposedRows(self)

    def signed(self, order: IntArray, sign: AnyArray) -> CodedRows:
        """Return rows in another order, times their signs, with a constant feature last."""
        cells = sparse.csr_array(self.cells[order], copy=True)
        cells.data = np.repeat(sign, np.diff(cells.indptr))
        return CodedRows(cells, self.coding, constant=True)

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Return the weighted sum of the square of every feature."""
        sums = self._sums(weight)[:, None]
        return np.asarray(self.coding.squares(sums, constant=self.constant)[:, 0], dtype=float)

    def moments(self, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weighted sum of the rows, and of their products with themselves.

        Of columns alone these are counts of cells and of pairs of cells; features of crosses are
        multiplied out, in parts.
        """
        total = np.asarray(self.T @ share, dtype=np.float64)
        if not self.coding.n_pairs:
            return total, self.information(share)[0]
        second = np.zeros((len(total), len(total)))
        root = np.sqrt(share).astype(np.float32)[:, None]
        for start in range(0, len(share), _PART):
            part = slice(start, start + _PART)
            scaled = self[part].dense() * root[part]
            second += scaled.T @ scaled
        return total, second

    def dense(self) -> AnyArray:
        """Return the features of all rows as an array."""
        return self @ np.eye(self.shape[1], dtype=self.dtype)

    def information(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weighted sum of products of the features of columns, and the rest's squares.

        The first are sums over pairs of cells, of all columns and the constant, which comes last;
        the second are of the features of crosses, as if these were independent.
        """
        squares = self.coding.squares(self._sums(weight)[:, None], constant=self.constant)[:, 0]
        matrix, cells = self.coding.main_matrix, self._cells_of_columns
        inner = self._products_of_columns(weight)
        of_columns = len(inner)
        if not self.constant:
            return inner, squares[of_columns:]
        edge = np.append(matrix.T @ (cells.T @ weight), squares[-1])
        full = np.empty((of_columns + 1, of_columns + 1))
        full[:-1, :-1] = inner
        full[-1], full[:, -1] = edge, edge
        return full, squares[of_columns:-1]

    def _products_of_columns(self, weight: FloatArray) -> FloatArray:
        """Return the weighted sum of products of the features of columns."""
        matrix, cells = self.coding.main_matrix, self._cells_of_columns
        if matrix.shape[0] <= _FEW_CELLS:  # counts of pairs of cells first
            counts = cells.T @ (sparse.diags_array(weight) @ cells)
            back = sparse.csr_array(matrix.T)
            return np.asarray(back @ np.asarray(back @ counts.toarray()).T)
        products = np.zeros((matrix.shape[1], matrix.shape[1]))
        root = np.sqrt(weight)
        for start in range(0, len(weight), _PART):
            part = slice(start, start + _PART)
            rows = (cells[part] @ matrix).toarray() * root[part, None]
            products += rows.T @ rows
        return products

    def _sums(self, weight: FloatArray) -> FloatArray:
        """Return the weight of every cell."""
        size = np.diff(self.cells.indptr)
        repeated = np.repeat(weight, size)
        return np.bincount(self.cells.indices, repeated, self.cells.shape[1]).astype(np.float64)

    @cached_property
    def _cells_of_columns(self) -> Any:
        """The cells of columns alone, each with a one."""
        cells = sparse.csr_array(self.cells[:, : self.coding.main_matrix.shape[0]])
        cells = cells.astype(np.float64)
        cells.data = np.ones_like(cells.data)
        return cells

    @cached_property
    def cells_back(self) -> Any:
        """The transpose of the cells."""
        return self.cells.T


@dataclass(frozen=True)
class TransposedRows:
    """The transpose of coded rows."""

    rows: CodedRows

    def __matmul__(self, slopes: AnyArray) -> AnyArray:
        if slopes.ndim == 1:
            return (self @ slopes[:, None])[:, 0]
        sums = self.rows.cells_back @ slopes
        return self.rows.coding.gradient(sums, constant=self.rows.constant)


def _block_diagonal(blocks: Sequence[Any]) -> Any:
    """Return blocks along the diagonal as a sparse matrix; a dense one may not fit in memory."""
    if not blocks:
        return sparse.csr_array((0, 0))
    # SciPy's block_diag makes two sparse matrices of each block, which takes longer than a solve.
    values, columns, lengths, start = [], [], [], 0
    for block in blocks:
        if sparse.issparse(block):
            rows = sparse.csr_array(block)
            value, column, length = rows.data, rows.indices, np.diff(rows.indptr)
        else:
            row, column = np.nonzero(block)
            value, length = block[row, column], np.bincount(row, minlength=len(block))
        values.append(value)
        columns.append(column + start)
        lengths.append(length)
        start += block.shape[1]
    pointers = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    size = np.int32 if max(int(pointers[-1]), start) < np.iinfo(np.int32).max else np.int64
    indices = np.concatenate(columns).astype(size), pointers.astype(size)
    shape = len(pointers) - 1, start
    return sparse.csr_array((np.concatenate(values), *indices), shape=shape)


def _stacked(bases: Sequence[FloatArray], scale: FloatArray | None) -> FloatArray:
    """Return codings of pairs as one array of shape (pairs, cells, directions), padded by zeros."""
    cells = max((basis.shape[0] for basis in bases), default=0)
    rank = max((basis.shape[1] for basis in bases), default=0)
    stacked = np.zeros((len(bases), cells, rank))
    for index, basis in enumerate(bases):
        factor = 1.0 if scale is None else scale[index]
        stacked[index, : basis.shape[0], : basis.shape[1]] = factor * basis
    return stacked
