"""ClassMoments: weight, mean and scatter of one class, with addition and subtraction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import CancellationError
from directrix.moments.row_scatter import DENSE_FEATURES, RowScatter
from directrix.rows.labels import checked_factor, scaled_weights
from directrix.rows.sums import affine, exact_sum

if TYPE_CHECKING:
    from directrix._typing import FloatArray

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


def shrunk(group: ClassMoments, share: float) -> FloatArray:
    r"""Return the covariance shrunk by a share ρ.

    .. math:: (1 - \rho) \Sigma + \rho\, (\mathrm{tr}\,\Sigma / d)\, I
    """
    covariance = (1.0 - share) * np.asarray(group.covariance)
    mean_variance = float(group.variance.mean())
    covariance.flat[:: group.n_features + 1] += share * mean_variance
    return covariance


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
        return ClassMoments(
            self.count + other.count,
            weight,
            self.weight_sq + other.weight_sq,
            mean,
            scatter,
            tail,
        )

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
        return ClassMoments(
            self.count,
            self.weight,
            self.weight_sq,
            self.mean[columns],
            scatter,
            self.mean_tail[columns],
        )

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
        return ClassMoments(self.count, self.weight, self.weight_sq, mean, scatter, tail)


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
        raise CancellationError(lost.tolist())
