"""The coordinates in which a kernel expansion is a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from directrix.moments.row_hash import row_hash
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.kernels.kernel import Kernel

# A matrix of 20,000² numbers takes 3 GB, and its eigenvectors an hour.
_MOST_ROWS = 20_000
# Eigenvalues below this share of the largest are rounding errors.
_LEAST_EIGENVALUE = 1e-12
# A negative eigenvalue beyond this share of the largest is no rounding error: it is not a kernel.
_MOST_NEGATIVE = 1e-6


@dataclass(frozen=True)
class LinearColumns:
    """Features as the columns of a linear model; it has the interface of `KernelExpansion`."""

    X: Any

    @property
    def columns(self) -> Any:
        """The columns that the coefficients multiply."""
        return self.X

    @property
    def centers(self) -> IntArray:
        """The index of the feature of each coefficient."""
        return np.arange(self.X.shape[1])

    def coefficients(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients of the columns from those of ``X``."""
        return weight

    def columns_for(self, rows: Any) -> Any:
        """Return the columns of other rows."""
        return rows


@dataclass(frozen=True)
class KernelExpansion:
    r"""A function in the span of the kernels of some rows, as a linear model.

    .. math:: f(x) = \sum_j a_j K(x, x_j), \qquad
              K = U \Lambda U^\top, \quad \Phi = U \Lambda^{1/2}, \quad
              K a = \Phi w, \quad a^\top K a = \|w\|^2, \quad a = U \Lambda^{-1/2} w

    Hasan and Pal 2015, eq. 36–37. By the representer theorem the minimum over all functions with
    the norm of the kernel is of this form, and that norm is aᵀKa, not |a|². In the coordinates w it
    is an ordinary ridge, and the objective, which has the condition number of K² in a, is that of a
    linear model.

    Parameters
    ----------
    kernel : Kernel
    centers : array of int of shape (m,)
        Indices of the distinct rows, whose kernels are the basis.
    center_index : array of int of shape (n,)
        Index of each row's center.
    rows : array or sparse matrix of shape (m, d)
        The centers.
    matrix : array of shape (m, m)
        Kernels of the centers.
    X : array of shape (n, r)
        Φ.
    inverse : array of shape (m, r)
        UΛ^(−1/2).
    """

    kernel: Kernel
    centers: IntArray
    center_index: IntArray
    rows: Any
    matrix: FloatArray
    X: FloatArray
    inverse: FloatArray

    @classmethod
    def from_rows(cls, kernel: Kernel, rows: Any) -> KernelExpansion:
        """Return the expansion on the kernels of some rows."""
        centers, center_index, matrix = _kernel_matrix(kernel, rows)
        size, vectors = linalg.eigh(0.5 * (matrix + matrix.T))
        largest = float(np.abs(size).max())
        if size[0] < -_MOST_NEGATIVE * largest:
            msg = (
                f"the kernel is not positive semi-definite: its matrix has the eigenvalue "
                f"{size[0]:.2g}, and the largest is {size[-1]:.2g}"
            )
            raise ValueError(msg)
        kept = size > _LEAST_EIGENVALUE * largest
        root = np.sqrt(size[kept])
        X, inverse = vectors[:, kept] * root, vectors[:, kept] / root
        return cls(
            kernel,
            centers,
            center_index,
            rows[centers],
            matrix,
            X[center_index],
            inverse,
        )

    @property
    def columns(self) -> FloatArray:
        """Kernels of all rows with the centers, of shape (n, m)."""
        return self.matrix[self.center_index]

    def coefficients(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients a of the kernels from those of ``X``."""
        return self.inverse @ weight

    def columns_for(self, rows: Any) -> FloatArray:
        """Return the kernels of other rows with the centers."""
        return self.kernel(rows, self.rows)


@dataclass(frozen=True)
class KernelColumns:
    r"""The kernels of some rows as the columns of a linear model, with the ridge |a|².

    .. math:: f(x) = \sum_j a_j K(x, x_j), \qquad \frac{\alpha}{2} \sum_j a_j^2

    It is the model of Hasan and Pal 2015 (eq. 36–39), with a Gaussian prior on each coefficient;
    `KernelExpansion` has the norm of the function instead. It has the same interface.

    Parameters
    ----------
    kernel : Kernel
    centers : array of int of shape (m,)
        Indices of the distinct rows.
    rows : array or sparse matrix of shape (m, d)
        The centers.
    X : array of shape (n, m)
        Kernels of all rows with the centers.
    """

    kernel: Kernel
    centers: IntArray
    rows: Any
    X: FloatArray

    @classmethod
    def from_rows(cls, kernel: Kernel, rows: Any) -> KernelColumns:
        """Return the columns of the kernels of some rows."""
        centers, center_index, matrix = _kernel_matrix(kernel, rows)
        return cls(kernel, centers, rows[centers], matrix[center_index])

    @property
    def columns(self) -> FloatArray:
        """The columns that the coefficients multiply."""
        return self.X

    def coefficients(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients of the columns from those of ``X``."""
        return weight

    def columns_for(self, rows: Any) -> FloatArray:
        """Return the kernels of other rows with the centers."""
        return self.kernel(rows, self.rows)


def _kernel_matrix(kernel: Kernel, rows: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the indices of distinct rows, the index of each row's, and the kernels of these."""
    # Sorted by content, so that a row of weight k gives what k rows give, in any order.
    _, centers, center_index = np.unique(
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
    return centers, center_index, matrix
