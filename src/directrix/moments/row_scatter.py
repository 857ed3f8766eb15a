"""RowScatter: the scatter of a class with very many features, as an operator over its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy.sparse import vstack
from scipy.sparse.linalg import LinearOperator

from directrix.rows.sums import affine, exact_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from directrix._typing import AnyArray, FloatArray

#: Most features for which the scatter is a matrix (200 MB per class); with more it is an operator
#: that keeps the rows.
DENSE_FEATURES = 5_000

#: Columns multiplied at a time when an operator is written out as a matrix.
_COLUMNS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of one class as ``x = scale ∘ z + shift``, with z sparse except in a few heavy columns.

    The mean of a heavy column is large relative to its spread, so almost all of its values are
    stored anyway. It is kept dense and shifted; a shift would fill a sparse column.
    """

    sparse: csr_array | None  # all columns; the heavy ones are ignored
    heavy: AnyArray  # indices of the heavy columns: all in order if nothing is sparse
    dense: FloatArray  # (n, number of heavy columns), already shifted
    weight: FloatArray | None
    scale: FloatArray
    shift: FloatArray
    shift_tail: FloatArray

    def dot(self, vectors: FloatArray) -> FloatArray:
        """Return ``Z (scale ∘ v)`` for each column v of ``vectors``."""
        vectors = self.scale[:, None] * vectors
        product: FloatArray
        if self.sparse is None:
            product = self.dense @ vectors
        else:
            heavy = self.dense @ vectors[self.heavy]
            vectors[self.heavy] = 0.0
            product = self.sparse @ vectors
            product += heavy
        return product

    def transposed_dot(self, rows: FloatArray) -> FloatArray:
        """Return ``scale ∘ (Zᵀ r)`` for each column r of ``rows``."""
        product: FloatArray
        if self.sparse is None:
            product = self.dense.T @ rows
        else:
            product = self.sparse.T @ rows
            product[self.heavy] = self.dense.T @ rows
        product *= self.scale[:, None]
        return product

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowBlock):
            return NotImplemented
        return self is other or all(
            np.array_equal(left, right)
            for left, right in zip(self._arrays(), other._arrays(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def _arrays(self) -> tuple[Any, ...]:
        sparse = self.sparse
        stored = (None,) * 3 if sparse is None else (sparse.indptr, sparse.indices, sparse.data)
        return (
            *stored,
            self.heavy,
            self.dense,
            self.weight,
            self.scale,
            self.shift,
            self.shift_tail,
        )

    def select(self, columns: AnyArray) -> RowBlock:
        """Return a block with these columns only."""
        heavy_index = np.full(len(self.scale), -1)
        heavy_index[self.heavy] = np.arange(len(self.heavy))
        chosen_index = heavy_index[columns]
        kept = np.flatnonzero(chosen_index >= 0)
        return RowBlock(
            None if self.sparse is None else self.sparse[:, columns],
            kept,
            self.dense[:, chosen_index[kept]],
            self.weight,
            self.scale[columns],
            self.shift[columns],
            self.shift_tail[columns],
        )

    def stacking_key(self) -> Any:
        """Return a key that blocks share if their rows can be stacked; its id for dense rows."""
        if self.sparse is None:
            return id(self)
        shift = np.array([self.shift, self.shift_tail])
        shift[:, self.heavy] = 0.0
        return self.heavy.tobytes(), self.scale.tobytes(), shift.tobytes()


def stacked_block(blocks: Sequence[RowBlock]) -> RowBlock:
    """Return the rows of some blocks in one; they must have the same `RowBlock.stacking_key`."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    heavy, dense = first.heavy, []
    for block in blocks:
        high, low = exact_sum(block.shift[heavy], -first.shift[heavy])
        low = low + (block.shift_tail - first.shift_tail)[heavy]
        dense.append(block.dense + (high + low) / first.scale[heavy])
    weighted = any(block.weight is not None for block in blocks)
    weights = [np.ones(len(b.dense)) if b.weight is None else b.weight for b in blocks]
    return replace(
        first,
        sparse=vstack([block.sparse for block in blocks], format="csr"),
        dense=np.concatenate(dense),
        weight=np.concatenate(weights) if weighted else None,
    )


class RowScatter(LinearOperator):  # type: ignore[misc]
    r"""Centred scatter of one class as a linear operator; the matrix is never formed.

    .. math:: S v = \sum_b \big( Z_b^\top \omega_b r_b - (\mu - s_b)\, 1^\top \omega_b r_b \big),
              \quad r_b = Z_b v - (\mu - s_b)^\top v

    where the rows of block b are :math:`x = z + s_b`. Both factors are centred before they are
    multiplied, so nothing cancels. The operator keeps a copy of the rows; d can be of any size.

    Parameters
    ----------
    blocks : tuple of RowBlock
        The rows.
    mean, mean_tail : array of shape (d,)
        High and low part of the mean of all rows of the class.
    diagonal : array of shape (d,)
        Diagonal of the scatter.
    factor : float
        The operator is ``factor * S``.
    """

    def __init__(
        self,
        blocks: tuple[RowBlock, ...],
        mean: FloatArray,
        mean_tail: FloatArray,
        diagonal: FloatArray,
        factor: float = 1.0,
    ) -> None:
        super().__init__(np.dtype(np.float64), (len(mean), len(mean)))
        self.blocks = blocks
        self.mean = mean
        self.mean_tail = mean_tail
        self._diagonal = diagonal
        self.factor = factor

    def diagonal(self) -> FloatArray:
        """Return the diagonal, which is stored."""
        return self.factor * self._diagonal

    @cached_property
    def _gaps(self) -> list[FloatArray]:
        """Mean of the class less the shift of each block."""
        gaps = []
        for block in self.blocks:
            high, low = exact_sum(self.mean, -block.shift)
            gaps.append(high + (low + (self.mean_tail - block.shift_tail)))
        return gaps

    def _matmat(self, vectors: FloatArray) -> FloatArray:
        vectors = np.asarray(vectors, dtype=np.float64)
        result = np.zeros(vectors.shape)
        for block, gap in zip(self.blocks, self._gaps, strict=True):
            rows = block.dot(vectors)
            rows -= gap @ vectors
            if block.weight is not None:
                rows *= block.weight[:, None]
            result += block.transposed_dot(rows)
            result -= np.multiply.outer(gap, np.ones(len(rows)) @ rows)
        if self.factor != 1.0:
            result *= self.factor
        return result

    def _matvec(self, vector: FloatArray) -> FloatArray:
        product: FloatArray = self._matmat(np.reshape(vector, (-1, 1)))
        return product[:, 0]

    def _adjoint(self) -> RowScatter:
        return self

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, int | float):
            return RowScatter(
                self.blocks, self.mean, self.mean_tail, self._diagonal, self.factor * factor
            )
        return super().__mul__(factor)

    __rmul__ = __mul__

    def __array__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        d = self.shape[0]
        msg = (
            f"with {d} features the scatter would take {8e-9 * d * d:,.1f} GB, so it is kept as an "
            "operator: use `scatter @ vectors` and `scatter.diagonal()`, or `select` at most "
            f"{DENSE_FEATURES} columns first"
        )
        raise TypeError(msg)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowScatter):
            return NotImplemented
        return self.blocks == other.blocks and np.array_equal(self.diagonal(), other.diagonal())

    __hash__ = None  # type: ignore[assignment]

    def merged(
        self, other: RowScatter, between: FloatArray, mean: FloatArray, mean_tail: FloatArray
    ) -> RowScatter:
        """Return the scatter of both sets of rows about their common mean.

        ``between`` is the diagonal of the scatter between the two means.
        """
        diagonal = (self._diagonal + other._diagonal) + between
        return RowScatter(self.blocks + other.blocks, mean, mean_tail, diagonal)

    def about(self, mean: FloatArray, mean_tail: FloatArray) -> RowScatter:
        """Return the scatter of the same rows with its mean set to this value."""
        return RowScatter(self.blocks, mean, mean_tail, self._diagonal, self.factor)

    def affine(self, scale: FloatArray, center: FloatArray, offset: FloatArray) -> RowScatter:
        """Return the scatter of ``scale ∘ (x − center) + offset``, whose mean `about` must set."""
        blocks = []
        for block in self.blocks:
            shift, tail = affine((block.shift, block.shift_tail), scale, center, offset)
            blocks.append(replace(block, scale=block.scale * scale, shift=shift, shift_tail=tail))
        return RowScatter(
            tuple(blocks), self.mean, self.mean_tail, self._diagonal * scale**2, self.factor
        )

    def stacked(self) -> RowScatter:
        """Return the same operator with like sparse blocks in one, which multiplies faster.

        Blocks of dense rows stay as they are: they are large, and a copy of them is not cheap.
        """
        alike: dict[Any, list[RowBlock]] = {}
        for block in self.blocks:
            alike.setdefault(block.stacking_key(), []).append(block)
        blocks = tuple(stacked_block(members) for members in alike.values())
        return RowScatter(blocks, self.mean, self.mean_tail, self._diagonal, self.factor)

    def select(self, columns: AnyArray) -> RowScatter | FloatArray:
        """Return the scatter of these columns, a matrix if they are at most ``DENSE_FEATURES``."""
        selected = RowScatter(
            tuple(block.select(columns) for block in self.blocks),
            self.mean[columns],
            self.mean_tail[columns],
            self._diagonal[columns],
            self.factor,
        )
        return selected if len(columns) > DENSE_FEATURES else selected.matrix()

    def matrix(self) -> FloatArray:
        """Return the scatter as a matrix; raise TypeError beyond ``DENSE_FEATURES`` features."""
        d = self.shape[0]
        if d > DENSE_FEATURES:
            self.__array__()
        matrix = np.empty((d, d))
        for start in range(0, d, _COLUMNS_AT_A_TIME):
            columns = np.arange(start, min(start + _COLUMNS_AT_A_TIME, d))
            unit = np.zeros((d, len(columns)))
            unit[columns, columns - start] = 1.0
            matrix[:, columns] = self @ unit
        matrix = (matrix + matrix.T) / 2
        np.fill_diagonal(matrix, self.diagonal())
        constant = self.diagonal() == 0
        matrix[constant] = 0.0
        matrix[:, constant] = 0.0
        return matrix
