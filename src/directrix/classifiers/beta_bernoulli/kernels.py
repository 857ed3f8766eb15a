"""Kernels, and the coordinates in which a kernel expansion is a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels

from directrix.moments.row_hash import row_hash
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray

KERNELS = ("linear", "rbf", "polynomial", "min")

# A matrix of 20,000² numbers is 3 GB, and its eigenvectors take an hour.
_MOST_ROWS = 20_000
# Directions of a smaller share of the largest are rounding.
_LEAST = 1e-12
# A kernel whose matrix is below zero by more is none.
_BELOW_ZERO = 1e-6


@dataclass(frozen=True)
class Kernel:
    """A kernel by name or as a function of two vectors.

    Parameters
    ----------
    name : "linear", "rbf", "polynomial", "min" or callable
    params : dict, optional
        Of scikit-learn's kernel of this name, or of the function.
    """

    name: Any
    params: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not (callable(self.name) or self.name in KERNELS):
            msg = (
                f"kernel must be None, {', '.join(map(repr, KERNELS))} or a function of two "
                f"vectors, not {self.name!r}"
            )
            raise ValueError(msg)

    @property
    def as_given(self) -> bool:
        """Whether it wants features as they are: counts and shares lose by being centred."""
        return callable(self.name) or self.name == "min"

    def __call__(self, rows: Any, others: Any) -> FloatArray:
        """Return the kernel of each row and each of the others."""
        if isinstance(self.name, str) and self.name == "min":
            return intersection(rows, others)
        if callable(self.name):
            # Of a function scikit-learn wants dense vectors.
            rows, others = (X.toarray() if sparse.issparse(X) else X for X in (rows, others))
        matrix: FloatArray = pairwise_kernels(rows, others, metric=self.name, **self.params or {})
        return matrix


def intersection(rows: Any, others: Any) -> FloatArray:
    r"""Return the intersection kernel of rows without negative features.

    .. math:: K(x, y) = \sum_k \min(x_k, y_k)
              = \tfrac12 \big(\|x\|_1 + \|y\|_1 - \|x - y\|_1\big)
    """
    for X in (rows, others):
        if X.min() < 0:
            msg = "kernel='min' is for features that are never negative: counts or shares"
            raise ValueError(msg)
    sums = (np.asarray(X.sum(axis=1)).reshape(-1) for X in (rows, others))
    apart = manhattan_distances(*(_short_indices(X) for X in (rows, others)))
    matrix: FloatArray = 0.5 * (np.add.outer(*sums) - apart)
    return matrix


def _short_indices(X: Any) -> Any:
    """Return sparse rows with 32-bit indices, the only ones that scikit-learn's distance takes."""
    if not sparse.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


@dataclass(frozen=True)
class LinearColumns:
    """A line's own coordinates: nothing to change. The companion of `KernelExpansion`."""

    X: Any

    @property
    def columns(self) -> Any:
        """What the coefficients multiply."""
        return self.X

    @property
    def centers(self) -> IntArray:
        """Which coefficients there are."""
        return np.arange(self.X.shape[1])

    def back(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients of the columns."""
        return weight

    def of(self, rows: Any) -> Any:
        """Return the columns of other rows."""
        return rows


@dataclass(frozen=True)
class KernelExpansion:
    r"""A function in the span of the kernels of some rows, as a linear model.

    .. math:: f(x) = \sum_j a_j K(x, x_j), \qquad
              K = U \Lambda U^\top, \quad \Phi = U \Lambda^{1/2}, \quad
              K a = \Phi w, \quad a^\top K a = \|w\|^2, \quad a = U \Lambda^{-1/2} w

    Hasan and Pal 2015, eq. 36–37. By the representer theorem the minimum over all functions with
    the norm of the kernel is of this form, and that norm is aᵀKa, not |a|². In the coordinates w
    it is a plain ridge, and an objective that in a has the condition of K² is that of a line.

    Parameters
    ----------
    kernel : Kernel
    centers : array of int of shape (m,)
        Rows whose kernels are expanded on: one of all that are equal.
    center_of : array of int of shape (n,)
        Place of each row's center.
    rows : array or sparse matrix of shape (m, d)
        The centers.
    columns : array of shape (n, m)
        Kernels of all rows with the centers.
    X : array of shape (n, r)
        Φ.
    inverse : array of shape (m, r)
        UΛ^(−1/2).
    """

    kernel: Kernel
    centers: IntArray
    center_of: IntArray
    rows: Any
    columns: FloatArray
    X: FloatArray
    inverse: FloatArray

    @classmethod
    def on(cls, kernel: Kernel, rows: Any) -> KernelExpansion:
        """Expand on some rows."""
        # Sorted by what is in them: a row of weight k is the same as k rows, in whatever order.
        _, centers, center_of = np.unique(
            row_hash(as_rows(rows)), return_index=True, return_inverse=True
        )
        if len(centers) > _MOST_ROWS:
            msg = (
                f"{len(centers)} rows are too many for a kernel expansion, which needs the kernel "
                f"of all pairs (at most {_MOST_ROWS} rows): put "
                "sklearn.kernel_approximation.Nystroem before a classifier without kernel in a "
                "pipeline"
            )
            raise ValueError(msg)
        matrix = kernel(rows[centers], rows[centers])
        if not np.isfinite(matrix).all():
            msg = "the kernel is not finite for all pairs of rows: scale the features"
            raise ValueError(msg)
        size, vectors = linalg.eigh(0.5 * (matrix + matrix.T))
        largest = float(np.abs(size).max())
        if size[0] < -_BELOW_ZERO * largest:
            msg = (
                f"the kernel is not one: its matrix has an eigenvalue of {size[0]:.2g}, next to "
                f"{size[-1]:.2g}, where none may be below zero"
            )
            raise ValueError(msg)
        kept = size > _LEAST * largest
        root = np.sqrt(size[kept])
        X, inverse = vectors[:, kept] * root, vectors[:, kept] / root
        return cls(
            kernel, centers, center_of, rows[centers], matrix[center_of], X[center_of], inverse
        )

    def back(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients a of the kernels."""
        return self.inverse @ weight

    def of(self, rows: Any) -> FloatArray:
        """Return the kernels of other rows with the centers."""
        return self.kernel(rows, self.rows)
