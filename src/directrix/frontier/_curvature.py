"""Preconditioners of many problems at once: Fisher information matrices of logistic regressions.

The Hessians of the candidates of a fold resemble each other: up to a factor, which the solver
learns, all are covariances of rows with more weight on those near the line. So a problem takes the
information of the unweighted logistic regression that its chain of starts has passed last, in its
fold. Labels of held-out rows have no say in it: a preconditioner that folds shared would let them
decide into which minimum of a non-convex loss a descent falls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from directrix.frontier._row_batch import margins
from directrix.tables.coding.coded_rows import CodedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.frontier._row_batch import RowBatch
    from directrix.frontier.recipes import Key

#: Features up to which every logistic regression has an information of its own; up to which a fold
#: has one, that of a line of zeros; beyond that only its diagonal is taken.
_MOST_AT_LINE, _MOST_AT_ZERO = 300, 1_000
#: Share of the mean diagonal that is added to an information, so that it can be inverted.
_JITTER = 1e-9
#: Rows whose products are summed at a time.
_BLOCK = 1 << 14


class Anchor(NamedTuple):
    """The unweighted logistic regression whose information serves a problem, in one fold.

    Parameters
    ----------
    fold : int, optional
        The fold that is left out.
    key : Key, optional
        Of its recipe; None stands for a line of zeros.
    line : array of shape (d + 1,), optional
        Its line in that fold, if it has a key.
    """

    fold: int | None
    key: Key | None = None
    line: FloatArray | None = None


class Split(NamedTuple):
    """An information, or its factor, in two parts between which there is nothing.

    Parameters
    ----------
    columns : array of shape (q + 1, q + 1)
        Of the features of columns, and the intercept last.
    crosses : array of shape (p − q,)
        Diagonal, of the features of crosses.
    """

    columns: FloatArray
    crosses: FloatArray


class Curvature:
    """Information matrices of a batch of rows, made when they are first needed.

    Parameters
    ----------
    batch : RowBatch
    """

    def __init__(self, batch: RowBatch) -> None:
        self._batch = batch
        self._known: dict[tuple[Key | None, int | None], FloatArray | Split] = {}
        self._coded = isinstance(batch.rows, CodedRows)

    def preconditioner(self, anchors: Sequence[Anchor], ridge: FloatArray) -> Preconditioner:
        """Return the preconditioner of some problems, from their anchors and ridges."""
        numbers: dict[tuple[Key | None, int | None, float], int] = {}
        group: list[int] = []
        factors: list[AnyArray | Split] = []
        for anchor, strength in zip(anchors, ridge.tolist(), strict=True):
            if self._batch.n_coef - 1 > _MOST_AT_LINE and not self._coded:
                anchor = Anchor(anchor.fold)  # noqa: PLW2901 - this is all that is used of it
            key = anchor.key, anchor.fold, strength
            if key not in numbers:
                numbers[key] = len(factors)
                factors.append(_factor(self._information(anchor), strength))
            group.append(numbers[key])
        return Preconditioner(factors, np.array(group))

    def _information(self, anchor: Anchor) -> FloatArray | Split:
        """Return the information of a line: a matrix or, of many features, its diagonal."""
        key = anchor.key, anchor.fold
        if key not in self._known:
            batch = self._batch
            weight = batch.weight.copy()
            for block in batch.blocks:
                if block.fold == anchor.fold:
                    weight[block.start : block.stop] = 0.0
            weight /= weight.sum()
            if anchor.line is None:
                weight /= 4.0
            else:
                chance = 1.0 / (1.0 + np.exp(-np.abs(margins(anchor.line[None], batch.rows)[0])))
                weight *= chance * (1.0 - chance)
            self._known[key] = _gram(batch.rows, weight)
        return self._known[key]


class Preconditioner:
    """Inverse information matrices, with the ridge of each problem.

    Parameters
    ----------
    factors : sequence of arrays or Split
        Cholesky factors of shape (p, p), diagonals of shape (p,), or both.
    group : array of int of shape (k,)
        Index of the factor of each problem.
    """

    def __init__(self, factors: Sequence[AnyArray | Split], group: IntArray) -> None:
        self._factors, self._group = factors, group

    def __call__(self, vectors: FloatArray, problems: IntArray) -> FloatArray:
        """Return the inverse information of each problem times its vector."""
        result = np.empty_like(vectors)
        group = self._group[problems]
        for number in np.unique(group):
            rows = group == number
            result[rows] = _solved(self._factors[number], vectors[rows])
        return result


def _solved(factor: AnyArray | Split, vectors: FloatArray) -> FloatArray:
    """Return an inverse information times vectors in rows."""
    if isinstance(factor, Split):
        result = np.empty_like(vectors)
        q = len(factor.columns) - 1
        result[:, q:-1] = vectors[:, q:-1] / factor.crosses
        ends = np.r_[0:q, vectors.shape[1] - 1]
        result[:, ends] = _solved(factor.columns, vectors[:, ends])
        return result
    if factor.ndim == 1:
        return vectors / factor
    # Half the time of scipy.linalg.cho_solve, whose checks count here.
    solve = lapack.dpotrs if factor.dtype == np.float64 else lapack.spotrs
    return np.asarray(solve(factor, vectors.T)[0].T)


def _gram(rows: Any, weight: FloatArray) -> FloatArray | Split:
    """Return the weighted sum of products of rows with themselves, or its diagonal."""
    if isinstance(rows, CodedRows):
        if rows.coding.main_matrix.shape[1] > _MOST_AT_ZERO:
            return rows.square_sums(weight)
        return Split(*rows.information(weight))
    p = rows.shape[1]
    wide = p - 1 > _MOST_AT_ZERO
    if sparse.issparse(rows):
        if wide:
            return np.asarray(rows.multiply(rows).T @ weight, dtype=np.float64)
        return np.asarray(
            (rows.T @ (sparse.diags_array(weight) @ rows)).todense(), dtype=np.float64
        )
    total = np.zeros(p) if wide else np.zeros((p, p))
    for start in range(0, len(weight), _BLOCK):
        part = slice(start, start + _BLOCK)
        scaled = rows[part] * np.sqrt(weight[part]).astype(rows.dtype)[:, None]
        total += np.einsum("ij,ij->j", scaled, scaled) if wide else scaled.T @ scaled
    return total


def _factor(information: FloatArray | Split, ridge: float) -> AnyArray | Split:
    """Return the Cholesky factor of an information with a ridge; a diagonal stays one.

    Large factors are in single precision, half the memory and the time: an error in them costs
    iterations, not accuracy.
    """
    if isinstance(information, Split):
        tail = information.crosses + ridge
        return Split(np.asarray(_factor(information.columns, ridge)), tail)
    diagonal = information if information.ndim == 1 else np.einsum("ii->i", information)
    added = np.full(len(diagonal), ridge)
    added[-1] = 0.0
    shifted = diagonal + added
    level = float(shifted.mean())
    narrow = len(diagonal) - 1 <= _MOST_AT_LINE
    dtype: Any
    dtype, factorize = (np.float64, lapack.dpotrf) if narrow else (np.float32, lapack.spotrf)
    tiny = float(np.finfo(dtype).tiny)
    if information.ndim == 2:
        # What is not positive definite by rounding is so with more on its diagonal.
        for jitter in (_JITTER, 1e2 * _JITTER, 1e4 * _JITTER, 1e6 * _JITTER):
            matrix = information.astype(dtype)
            matrix[np.diag_indices(len(matrix))] += (added + jitter * level + tiny).astype(dtype)
            factor, failed = factorize(matrix)
            if not failed:
                return np.asarray(factor)
    return np.asarray(shifted + _JITTER * level + tiny)
