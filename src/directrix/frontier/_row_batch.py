"""Many fits to the same rows at once: every recipe without every fold.

Rows are sorted by class and fold, so that leaving out a fold is a weight of zero for some blocks
of them, and multiplied by the sign of their class, so that a product with a line is the margin. An
iteration of all problems is then one matrix product, one pass of elementwise arithmetic, and one
matrix product back. Rows are held in single precision, half the memory and the time of such a pass;
sums over parts of them, lines and steps are in double precision. That moves a line by less than the
tolerance of the solver, and the final fit does not take part in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix.tables.coding.coded_rows import CodedRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier.recipes import Recipe

    #: A recipe, and the fold that it leaves out.
    Problem = tuple[Recipe, int | None]

#: Numbers that fit into a processor's cache together with what is computed from them.
CACHED_NUMBERS = 1 << 15
#: Rows of a part of a block at least and at most.
_LEAST_ROWS, _MOST_ROWS = 64, 8192


class Block(NamedTuple):
    """Consecutive rows of one class and one fold."""

    start: int
    stop: int
    positive: bool
    fold: int


class RowBatch:
    """Rows on which many problems are solved at once.

    Parameters
    ----------
    X : array, sparse matrix or CodedRows of shape (n, d)
        Standardised, or coded in units of their prior.
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional

    Attributes
    ----------
    rows : array, sparse matrix or CodedRows of shape (n, d + 1)
        In the order of the blocks, times the sign of the class; the last column is the sign.
        In single precision.
    weight : array of shape (n,)
    blocks : list of Block
        Negatives first.
    """

    def __init__(
        self, X: Any, positive: AnyArray, weight: FloatArray, fold: IntArray | None
    ) -> None:
        fold = np.zeros(len(positive), dtype=np.int64) if fold is None else fold
        order = np.lexsort((fold, positive))
        sign = np.where(positive[order], 1.0, -1.0)[:, None]
        self.rows = _signed(X, order, sign)
        # In units of the mean: single precision has no room for others.
        self.weight: FloatArray = weight[order] / weight.mean()
        self.equal_weights = bool(np.ptp(weight) == 0)
        group = positive[order] * (int(fold.max()) + 1) + fold[order]
        cuts = [0, *(np.flatnonzero(np.diff(group)) + 1), len(order)]
        self.blocks = [
            Block(int(a), int(b), bool(positive[order[a]]), int(fold[order[a]]))
            for a, b in pairwise(cuts)
        ]
        self.sparse = not isinstance(self.rows, np.ndarray)
        self._of_blocks = [self.rows[block.start : block.stop] for block in self.blocks]

    @property
    def n_coef(self) -> int:
        """Coefficients of a line."""
        return int(self.rows.shape[1])

    @property
    def block_of_row(self) -> IntArray:
        """Index of the block of each row."""
        return np.repeat(np.arange(len(self.blocks)), [b.stop - b.start for b in self.blocks])

    def totals(self) -> FloatArray:
        """Return the weight of each block."""
        return np.array([self.weight[block.start : block.stop].sum() for block in self.blocks])

    def parts(self, block: int, n_problems: int) -> Iterator[tuple[Any, FloatArray]]:
        """Return rows and weights of a block in parts that fit into the cache.

        Sparse rows are not cut: that takes longer than what it saves.
        """
        rows, (start, stop, *_) = self._of_blocks[block], self.blocks[block]
        size = stop - start
        step = min(max(_LEAST_ROWS, CACHED_NUMBERS // n_problems), _MOST_ROWS)
        step = size if self.sparse else step
        for a in range(0, size, step):
            b = min(a + step, size)
            part = rows if b - a == size else rows[a:b]
            yield part, self.weight[start + a : start + b]


class BatchProblems(ABC):
    """Problems of one family of losses on a batch of rows; one of its members per problem.

    Parameters
    ----------
    batch : RowBatch
    problems : sequence of (Recipe, int or None)

    Attributes
    ----------
    ridge : array of shape (k,)
    share : array of shape (k, blocks)
        Factor of the weights of a block's rows in each problem; zero if its fold is left out.
    """

    def __init__(self, batch: RowBatch, problems: Sequence[Problem]) -> None:
        self.batch = batch
        self.ridge = np.array([recipe.ridge for recipe, _ in problems])
        fold = np.array([block.fold for block in batch.blocks])
        kept = np.array([np.ones(len(fold)) if out is None else fold != out for _, out in problems])
        self.share = self._shares(kept.astype(np.float64), problems)

    @abstractmethod
    def _shares(self, kept: FloatArray, problems: Sequence[Problem]) -> FloatArray:
        """Return `share`, from ones for blocks that are kept and zeros for others."""

    @abstractmethod
    def _loss(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the losses of some problems, and their gradients by lines."""

    def evaluate(self, lines: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return values and gradients of some problems, at lines in rows."""
        value, gradient = self._loss(lines, problems)
        ridge, coef = self.ridge[problems], lines[:, :-1]
        value += 0.5 * ridge * np.einsum("kp,kp->k", coef, coef)
        gradient[:, :-1] += ridge[:, None] * coef
        return value, gradient


def margins(lines: FloatArray, rows: Any) -> AnyArray:
    """Return lines times rows, of shape (k, rows), in single precision."""
    lines = lines.astype(rows.dtype)
    if not isinstance(rows, np.ndarray):
        return np.ascontiguousarray((rows @ lines.T).T)
    return _product(lines, rows.T)


def back(slopes: AnyArray, rows: Any) -> AnyArray:
    """Return the sums of rows times slopes, of shape (k, d + 1), in single precision."""
    if not isinstance(rows, np.ndarray):
        return np.asarray((rows.T @ slopes.T).T)
    return _product(slopes, rows)


def _product(left: AnyArray, right: AnyArray) -> AnyArray:
    """Return the product of two matrices, without a warning if it is not a number.

    A line search rejects a trial whose loss is not a number. And some BLAS kernels report an
    invalid operation for finite numbers: they calculate with lanes that they then discard.
    """
    with np.errstate(invalid="ignore"):
        product: AnyArray = left @ right
    return product


def _signed(X: Any, order: IntArray, sign: FloatArray) -> Any:
    if isinstance(X, CodedRows):
        return X.signed(order, sign[:, 0])
    if sparse.issparse(X):
        signs = sparse.diags_array(sign[:, 0])
        ones = sparse.csr_array(np.ones((len(sign), 1)))
        signed = signs @ sparse.hstack([sparse.csr_array(X)[order], ones])
        return sparse.csr_array(signed, dtype=np.float32)
    rows = np.empty((len(order), X.shape[1] + 1), dtype=np.float32)
    np.multiply(X[order], sign, out=rows[:, :-1], casting="same_kind")
    rows[:, -1:] = sign
    return rows
