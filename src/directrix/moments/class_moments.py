"""ClassMoments: weight, mean and scatter of one class, with addition and subtraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import CancellationError
from directrix.rows.labels import checked_factor, scaled_weights
from directrix.rows.sums import affine, exact_sum

# ── RowScatter: the scatter of a class with very many features, as an operator over its rows ──────

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

    @classmethod
    def of(
        cls,
        rows: csr_array | None,
        heavy: AnyArray,
        dense: FloatArray,
        weight: FloatArray | None,
        shift: FloatArray,
    ) -> RowBlock:
        """Return a block of rows that are not scaled."""
        return cls(rows, heavy, dense, weight, np.ones(len(shift)), shift, np.zeros(len(shift)))

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
        dense = self.heavy, self.dense, self.weight, self.scale
        return *stored, *dense, self.shift, self.shift_tail

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
        self.blocks, self.mean, self.mean_tail = blocks, mean, mean_tail
        self._diagonal, self.factor = diagonal, factor

    def _with(self, **changes: Any) -> RowScatter:
        fields = {"blocks": self.blocks, "mean": self.mean, "mean_tail": self.mean_tail}
        return RowScatter(
            **{**fields, "diagonal": self._diagonal, "factor": self.factor, **changes}
        )

    def diagonal(self) -> FloatArray:
        """Return the diagonal, which is stored."""
        return self.factor * self._diagonal

    @cached_property
    def _gaps(self) -> list[FloatArray]:
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
            return self._with(factor=self.factor * factor)
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
        return self._with(mean=mean, mean_tail=mean_tail)

    def affine(self, scale: FloatArray, center: FloatArray, offset: FloatArray) -> RowScatter:
        """Return the scatter of ``scale ∘ (x − center) + offset``, whose mean `about` must set."""
        blocks = []
        for block in self.blocks:
            shift, tail = affine((block.shift, block.shift_tail), scale, center, offset)
            blocks.append(replace(block, scale=block.scale * scale, shift=shift, shift_tail=tail))
        return self._with(blocks=tuple(blocks), diagonal=self._diagonal * scale**2)

    def stacked(self) -> RowScatter:
        """Return the same operator with like sparse blocks in one, which multiplies faster.

        Blocks of dense rows stay as they are: they are large, and a copy of them is not cheap.
        """
        alike: dict[Any, list[RowBlock]] = {}
        for block in self.blocks:
            alike.setdefault(block.stacking_key(), []).append(block)
        return self._with(blocks=tuple(map(stacked_block, alike.values())))

    def select(self, columns: AnyArray) -> RowScatter | FloatArray:
        """Return the scatter of these columns, a matrix if they are at most ``DENSE_FEATURES``."""
        selected = self._with(
            blocks=tuple(block.select(columns) for block in self.blocks),
            mean=self.mean[columns],
            mean_tail=self.mean_tail[columns],
            diagonal=self._diagonal[columns],
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


# ── Shrinkage of a covariance towards a multiple of the identity, from moments ────────────────────


def oas(group: ClassMoments) -> float:
    r"""Return the oracle approximating shrinkage ρ (Chen et al. 2010, eq. 23).

    .. math:: \rho = \frac{(1 - 2/d)\, \mathrm{tr}\,\Sigma^2 + (\mathrm{tr}\,\Sigma)^2}
              {(n + 1 - 2/d)\,(\mathrm{tr}\,\Sigma^2 - (\mathrm{tr}\,\Sigma)^2 / d)}

    clipped to [0, 1], with n the total weight: a row of weight k counts as k rows.
    """
    d = group.n_features
    squares = _sum_of_squares(group)
    trace = float(group.variance.sum())
    denominator = (group.weight + 1.0 - 2.0 / d) * (squares - trace**2 / d)
    if denominator <= 0:
        return 1.0
    return min(1.0, ((1.0 - 2.0 / d) * squares + trace**2) / denominator)


#: Random vectors of each of the two estimates below, and of their common subspace.
_PROBES = 6


def _sum_of_squares(group: ClassMoments) -> float:
    r"""Return tr Σ², estimated by random vectors if Σ is an operator.

    .. math:: \mathrm{tr}\,\Sigma^2 = \|\Sigma Q\|_F^2 + \mathrm{tr}\,(I - Q Q^\top) \Sigma^2
              (I - Q Q^\top)

    with Q an orthonormal basis of Σ times random signs, which holds the leading directions; the
    second trace is estimated by Hutchinson's method (Meyer et al. 2021, Hutch++).
    """
    covariance = group.covariance
    if isinstance(covariance, np.ndarray):
        return float(np.vdot(covariance, covariance))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (group.n_features, 3 * _PROBES))
    basis, _ = np.linalg.qr(covariance @ signs[:, :_PROBES])
    others = signs[:, _PROBES:]
    others -= basis @ (basis.T @ others)
    products = covariance @ np.concatenate([basis, others], axis=1)
    squares = np.sum(products**2, axis=0)
    leading, rest = squares[: basis.shape[1]], squares[basis.shape[1] :]
    return float(leading.sum() + rest.mean())


def shrunk(group: ClassMoments, share: float) -> Any:
    r"""Return the covariance shrunk by a share ρ, as a matrix or an operator as it is.

    .. math:: (1 - \rho) \Sigma + \rho\, (\mathrm{tr}\,\Sigma / d)\, I
    """
    covariance = (1.0 - share) * group.covariance
    added = share * float(group.variance.mean())
    if isinstance(covariance, np.ndarray):
        covariance.flat[:: group.n_features + 1] += added
        return covariance
    return covariance + aslinearoperator(added * eye_array(group.n_features))


# ── ClassMoments: weight, mean and scatter of one class, with addition and subtraction ────────────

#: Least share of the minuend that a subtraction must leave: 22 of 52 bits then survive, which is
#: about seven digits.
SMALLEST_REMAINDER = 2.0**-30


@dataclass(frozen=True, eq=False)
class ClassMoments:
    r"""Weight, mean and scatter of the rows of one class.

    .. math:: \omega = \sum_i \omega_i,\quad \mu = \frac1\omega \sum_i \omega_i x_i,\quad
              S = \sum_i \omega_i (x_i - \mu)(x_i - \mu)^\top

    The scatter is centred but not divided by the weight, so merging needs no second pass over rows:

    .. math:: S_{a+b} = S_a + S_b + \frac{\omega_a \omega_b}{\omega_a + \omega_b}
              (\mu_b - \mu_a)(\mu_b - \mu_a)^\top

    (Chan, Golub and LeVeque, 1979). ``a + b`` merges, ``a - b`` removes a part, and ``0.5 * a`` has
    the same rows with half their weights.

    Parameters
    ----------
    count : int
        Number of rows with positive weight.
    weight, weight_sq : float
        Sum of the weights, and sum of their squares.
    mean : array of shape (d,)
        Weighted mean, rounded to float64.
    scatter : array of shape (d, d) or RowScatter
        Centred scatter. With very many features it is an operator that supports only
        ``scatter @ v`` and ``scatter.diagonal()``.
    mean_tail : array of shape (d,)
        Rounding error of ``mean``: ``mean + mean_tail`` has about 32 digits.
    """

    count: int
    weight: float
    weight_sq: float
    mean: FloatArray = field(repr=False)
    scatter: FloatArray | RowScatter = field(repr=False)
    mean_tail: FloatArray = field(repr=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies and unpickled summaries are read-only like their originals.
        self.__dict__.update(state)
        self.__post_init__()

    def __post_init__(self) -> None:
        # Arrays are shared between summaries, so they must never change.
        for array in (self.mean, self.mean_tail, self.scatter):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int) -> ClassMoments:
        """Return the summary of no rows, which is the identity of ``+``."""
        mean = np.zeros(n_features)
        wide = n_features > DENSE_FEATURES
        scatter = RowScatter((), mean, mean, mean) if wide else np.zeros((n_features,) * 2)
        return cls(0, 0.0, 0.0, mean, scatter, mean)

    def marginal(self) -> ClassMoments:
        """Return this summary with only the diagonal of its scatter."""
        scatter = RowScatter((), self.mean, self.mean_tail, self.scatter.diagonal())
        return replace(self, scatter=scatter)

    def with_matrix(self) -> ClassMoments:
        """Return this summary with its scatter as a matrix, if it keeps rows instead."""
        if isinstance(self.scatter, np.ndarray):
            return self
        return replace(self, scatter=self.scatter.matrix())

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return len(self.mean)

    @property
    def variance(self) -> FloatArray:
        """Diagonal of the covariance."""
        return self.scatter.diagonal() / self._positive_weight()

    @property
    def covariance(self) -> FloatArray | RowScatter:
        """Scatter divided by the total weight, the maximum-likelihood estimate."""
        return self.scatter * (1.0 / self._positive_weight())

    @property
    def effective_count(self) -> float:
        """Kish's effective sample size, (Σω)² / Σω²; the number of rows when weights are equal."""
        return self.weight**2 / self.weight_sq if self.count else 0.0

    def _positive_weight(self) -> float:
        if self.weight == 0:
            msg = "this class has no rows (or only rows of weight zero), so it has no covariance"
            raise ValueError(msg)
        return self.weight

    def __add__(self, other: ClassMoments) -> ClassMoments:
        if not isinstance(other, ClassMoments):
            return NotImplemented
        _require_same_shape(self, other)
        if not other.count:
            return self
        if not self.count:
            return other
        if type(self.scatter) is not type(other.scatter):
            return self.with_matrix() + other.with_matrix()
        weight = self.weight + other.weight
        gap = _mean_gap(self, other)
        # Start from the smaller mean, feature by feature, so that a + b and b + a are equal to
        # the last bit.
        ascending = gap >= 0
        base, base_tail = (
            np.where(ascending, left, right)
            for left, right in ((self.mean, other.mean), (self.mean_tail, other.mean_tail))
        )
        share = np.where(ascending, other.weight, self.weight) / weight
        mean, tail = exact_sum(base, base_tail + share * np.abs(gap))
        # Sorted weights make the factor independent of the order, and it does not overflow.
        lighter, heavier = sorted((self.weight, other.weight))
        factor = lighter * (heavier / weight)
        scatter: Any
        if isinstance(self.scatter, RowScatter) and isinstance(other.scatter, RowScatter):
            scatter = self.scatter.merged(other.scatter, factor * gap**2, mean, tail)
        else:
            # Adding the sum of both scatters, not one after the other, keeps a + b equal to b + a.
            scatter = _outer(gap, factor)
            scatter += self.scatter + other.scatter
        count, weight_sq = self.count + other.count, self.weight_sq + other.weight_sq
        return ClassMoments(count, weight, weight_sq, mean, scatter, tail)

    def __sub__(self, other: ClassMoments) -> ClassMoments:
        if not isinstance(other, ClassMoments):
            return NotImplemented
        _require_same_shape(self, other)
        if not other.count:
            return self
        if self.n_features > DENSE_FEATURES:
            msg = (
                "a summary of this many features keeps its rows and cannot be subtracted from; "
                "add up the parts you keep instead"
            )
            raise TypeError(msg)
        if not (isinstance(self.scatter, np.ndarray) and isinstance(other.scatter, np.ndarray)):
            return self.with_matrix() - other.with_matrix()
        count, weight = self.count - other.count, self.weight - other.weight
        rounding = SMALLEST_REMAINDER * self.weight
        if count < 0 or weight < -rounding or (count == 0 and weight > rounding):
            msg = (
                f"the summary to subtract has {other.count} rows of weight {other.weight:g}, the "
                f"one to subtract from {self.count} of weight {self.weight:g}: it is not a part "
                "of it"
            )
            raise ValueError(msg)
        if count == 0:
            return ClassMoments.empty(self.n_features)
        if weight < rounding:
            raise CancellationError
        gap = _mean_gap(other, self)
        mean, tail = exact_sum(self.mean, self.mean_tail + gap * (other.weight / weight))
        if count == 1:  # a single row has no scatter, so nothing is lost to cancellation
            scatter = np.zeros_like(self.scatter)
        else:
            between = _outer(gap, self.weight * (other.weight / weight))
            scatter = (self.scatter - other.scatter) - between
            _require_digits(scatter.diagonal(), self.scatter.diagonal(), between.diagonal())
        # (Σω)² / n ≤ Σω² ≤ (Σω)², which rounding may have broken
        weight_sq = self.weight_sq - other.weight_sq
        weight_sq = min(max(weight_sq, weight**2 / count), weight**2)
        return ClassMoments(count, weight, weight_sq, mean, scatter, tail)

    def __mul__(self, factor: Any) -> ClassMoments:
        if not isinstance(factor, Real):
            return NotImplemented
        factor = checked_factor(factor)
        if not (self.count and factor):
            return ClassMoments.empty(self.n_features)
        weight, weight_sq = scaled_weights(self.weight, self.weight_sq, factor)
        return replace(self, weight=weight, weight_sq=weight_sq, scatter=self.scatter * factor)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassMoments):
            return NotImplemented
        same_scatter = (
            np.array_equal(self.scatter, other.scatter)
            if isinstance(self.scatter, np.ndarray) and isinstance(other.scatter, np.ndarray)
            else self.scatter == other.scatter
        )
        return (
            (self.count, self.weight, self.weight_sq)
            == (other.count, other.weight, other.weight_sq)
            and np.array_equal(self.mean, other.mean)
            and np.array_equal(self.mean_tail, other.mean_tail)
            and bool(same_scatter)
        )

    __hash__ = None  # type: ignore[assignment]

    def select(self, columns: AnyArray) -> ClassMoments:
        """Return the summary of these columns: a principal sub-matrix of the scatter."""
        scatter = (
            self.scatter[np.ix_(columns, columns)]
            if isinstance(self.scatter, np.ndarray)
            else self.scatter.select(columns)
        )
        mean, tail = self.mean[columns], self.mean_tail[columns]
        return replace(self, mean=mean, scatter=scatter, mean_tail=tail)

    def affine(self, matrix: FloatArray, center: FloatArray, offset: FloatArray) -> ClassMoments:
        """Return the summary of the rows ``A (x − center) + offset``.

        A vector in place of the matrix A stands for a diagonal one, and keeps 32 digits of the
        mean.
        """
        if not self.count:
            return ClassMoments.empty(len(matrix))
        offset = np.broadcast_to(offset, (len(matrix),))
        scatter: Any
        if matrix.ndim == 1:
            mean, tail = affine((self.mean, self.mean_tail), matrix, center, offset)
            scatter = (
                self.scatter * np.multiply.outer(matrix, matrix)
                if isinstance(self.scatter, np.ndarray)
                else self.scatter.affine(matrix, center, offset)
            )
        else:
            moved, moved_tail = exact_sum(self.mean, -center)
            total, rest = exact_sum(matrix @ moved, offset)
            mean, tail = exact_sum(total, rest + matrix @ (moved_tail + self.mean_tail))
            scatter = matrix @ (self.scatter @ matrix.T)
            scatter = (scatter + scatter.T) / 2
        if isinstance(scatter, RowScatter):
            scatter = scatter.about(mean, tail)
        return replace(self, mean=mean, scatter=scatter, mean_tail=tail)


def _mean_gap(a: ClassMoments, b: ClassMoments) -> FloatArray:
    """Return the mean of b minus the mean of a, with the tails included."""
    high, low = exact_sum(b.mean, -a.mean)
    return high + (low + (b.mean_tail - a.mean_tail))


def _require_same_shape(a: ClassMoments, b: ClassMoments) -> None:
    if a.n_features != b.n_features:
        msg = f"the summaries have {a.n_features} and {b.n_features} features; they must agree"
        raise ValueError(msg)


def _outer(vector: FloatArray, factor: float) -> FloatArray:
    """Return ``factor v vᵀ``, symmetric to the last bit because the factor is applied last."""
    product = np.multiply.outer(vector, vector)
    product *= factor
    return product


def _require_digits(remainder: FloatArray, whole: FloatArray, between: FloatArray) -> None:
    """Raise CancellationError where the diagonal of a difference of scatters lost its digits."""
    taken = np.maximum(whole, between)
    lost = np.flatnonzero((remainder < SMALLEST_REMAINDER * taken) & (taken > 0))
    if lost.size:
        raise CancellationError(tuple(lost.tolist()))
