"""Kernels of rows: those of the papers, and the coordinates in which an expansion is linear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import (
    linear_kernel,
    manhattan_distances,
    pairwise_kernels,
    polynomial_kernel,
    rbf_kernel,
)

from directrix._typing import FloatArray, IntArray
from directrix.linear.loss import require_above_zero
from directrix.rows.keys import row_hash
from directrix.rows.rows import as_rows

#: From rows and other rows to the kernel of each pair.
Kernel: TypeAlias = Callable[[Any, Any], FloatArray]

# A matrix of 20,000² numbers takes 3 GB, and its eigenvectors an hour.
_MOST_ROWS = 20_000
# Eigenvalues below this share of the largest are rounding errors.
_LEAST_EIGENVALUE = 1e-12
# A negative eigenvalue beyond this share of the largest is no rounding error: it is not a kernel.
_MOST_NEGATIVE = 1e-6


def kernel_of(kernel: Any, tau: float) -> Kernel:
    r"""Return a kernel by name, or for a function of two vectors.

    "rbf" is :math:`e^{-\|x - z\|^2 / 2 \tau^2}`; "linear" is :math:`x^\top z`, "polynomial" its
    cube plus one, scaled as in scikit-learn, and "min" the intersection kernel,
    :math:`\sum_k \min(x_k, z_k)`, for features that are never negative.
    """
    require_above_zero(tau=tau)
    if callable(kernel):
        return lambda rows, others: pairwise_kernels(_dense(rows), _dense(others), metric=kernel)
    named: dict[str, Kernel] = {
        "linear": linear_kernel,
        "rbf": partial(rbf_kernel, gamma=1.0 / (2.0 * tau**2)),
        "polynomial": polynomial_kernel,
        "min": intersection,
    }
    if not (isinstance(kernel, str) and kernel in named):
        names = ", ".join(map(repr, named))
        msg = f"kernel must be {names} or a function of two vectors, not {kernel!r}"
        raise ValueError(msg)
    return named[kernel]


def _dense(rows: Any) -> Any:
    return rows.toarray() if sparse.issparse(rows) else rows


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
    """Return sparse rows with 32-bit indices, which scikit-learn's distance needs."""
    if not sparse.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


@dataclass(frozen=True)
class KernelRows:
    """The distinct rows of a fit, and the kernel of each pair of them.

    `centers` are the indices of these rows, and `center_of_row` the number of each row's center.
    """

    centers: IntArray
    center_of_row: IntArray
    matrix: FloatArray

    @classmethod
    def of(cls, kernel: Kernel, rows: Any) -> KernelRows:
        """Compute the kernels of distinct rows, in an order that does not depend on theirs."""
        # Sorted by content, so that the expansion does not depend on the order of the rows.
        _, centers, center_of_row = np.unique(
            row_hash(as_rows(rows)), return_index=True, return_inverse=True
        )
        if len(centers) > _MOST_ROWS:
            msg = (
                f"{len(centers)} rows are too many for a kernel expansion, which needs the kernel "
                f"of all pairs (at most {_MOST_ROWS} rows): put "
                "sklearn.kernel_approximation.Nystroem before a linear classifier"
            )
            raise ValueError(msg)
        matrix = kernel(rows[centers], rows[centers])
        if not np.isfinite(matrix).all():
            msg = "the kernel is not finite for all pairs of rows: scale the features"
            raise ValueError(msg)
        return cls(centers, center_of_row, matrix)

    @property
    def of_rows(self) -> FloatArray:
        """The kernels of every row with the centers, of shape (n, m)."""
        return self.matrix[self.center_of_row]

    def coordinates(self) -> tuple[FloatArray, FloatArray]:
        r"""Return coordinates in which a function of the span has the norm of its coefficients.

        .. math:: K = U \Lambda U^\top, \quad \Phi = U \Lambda^{1/2}, \quad
                  K a = \Phi w, \quad a^\top K a = \|w\|^2, \quad a = U \Lambda^{-1/2} w

        By the representer theorem the minimum over all functions with the norm of the kernel is in
        the span of the rows. The objective, which has the condition number of K² in a, is that of a
        linear model with an ordinary ridge in w.

        Returns
        -------
        array of shape (n, q)
            Φ, for every row.
        array of shape (m, q)
            :math:`U \Lambda^{-1/2}`, which maps w to a.
        """
        size, vectors = linalg.eigh(0.5 * (self.matrix + self.matrix.T))
        largest = float(np.abs(size).max())
        if size[0] < -_MOST_NEGATIVE * largest:
            msg = (
                f"the kernel is not positive semi-definite: its matrix has the eigenvalue "
                f"{size[0]:.2g}, and the largest is {size[-1]:.2g}"
            )
            raise ValueError(msg)
        kept = size > _LEAST_EIGENVALUE * largest
        root = np.sqrt(size[kept])
        return (vectors[:, kept] * root)[self.center_of_row], vectors[:, kept] / root
