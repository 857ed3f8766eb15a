"""The coordinates in which a kernel expansion is a linear model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels

from directrix.rows.keys import row_hash
from directrix.rows.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray

# ── Kernels by name, and kernels that are functions of two vectors ────────────────────────────────

KERNELS = ("linear", "rbf", "polynomial", "min")


@dataclass(frozen=True)
class Kernel:
    """A kernel by name or as a function of two vectors.

    Parameters
    ----------
    name : "linear", "rbf", "polynomial", "min" or callable
    params : dict, optional
        Parameters of scikit-learn's kernel of this name, or of the function.

    Examples
    --------
    >>> Kernel.of("rbf", {"bandwidth": 2.0})
    Kernel(name='rbf', params={'gamma': 0.125})
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

    @classmethod
    def of(cls, kernel: Any, params: Any) -> Kernel | None:
        """Return the kernel of a classifier's parameters; raise ValueError for invalid ones.

        Parameters
        ----------
        kernel : str, callable or None
            None is a linear model.
        params : dict or None
            Of the kernel "rbf", ``bandwidth`` may stand for ``gamma``: see `gamma_from_bandwidth`.
        """
        if not (params is None or isinstance(params, Mapping)):
            msg = f"kernel_params must be a dict, not {params!r}"
            raise ValueError(msg)
        if kernel is None and params:
            msg = f"kernel_params={params!r} without a kernel: name one"
            raise ValueError(msg)
        params = dict(params or {})
        if isinstance(kernel, str) and kernel == "rbf" and "bandwidth" in params:
            if params.get("gamma") is not None:
                msg = f"kernel_params={params!r} has both gamma and bandwidth: give one of them"
                raise ValueError(msg)
            params["gamma"] = gamma_from_bandwidth(params.pop("bandwidth"))
        return None if kernel is None else cls(kernel, params)

    @property
    def as_given(self) -> bool:
        """Whether features are not standardised: centring would spoil counts and shares."""
        return callable(self.name) or self.name == "min"

    def __call__(self, rows: Any, others: Any) -> FloatArray:
        """Return the kernel of each row and each of the others."""
        if isinstance(self.name, str) and self.name == "min":
            return intersection(rows, others)
        if callable(self.name):
            # scikit-learn calls functions with dense vectors only.
            rows, others = (X.toarray() if sparse.issparse(X) else X for X in (rows, others))
        matrix: FloatArray = pairwise_kernels(rows, others, metric=self.name, **self.params or {})
        return matrix


def gamma_from_bandwidth(bandwidth: float) -> float:
    r"""Return scikit-learn's gamma of an RBF kernel from its bandwidth τ.

    .. math:: K(x, z) = e^{-\|x - z\|^2 / 2 \tau^2} = e^{-\gamma \|x - z\|^2}, \qquad
              \gamma = \frac{1}{2 \tau^2}

    Chuang 2017 (notes on CS229) and much of the literature give τ.

    Examples
    --------
    >>> gamma_from_bandwidth(2.0)
    0.125
    """
    if not 0.0 < bandwidth < inf:
        msg = f"bandwidth must be a number above zero, not {bandwidth!r}"
        raise ValueError(msg)
    return 1.0 / (2.0 * bandwidth**2)


def alpha_from_svc(C: float, n_rows: float) -> float:
    r"""Return the ridge α of `directrix.SmoothClassifier` from the C of a support vector machine.

    .. math:: \tfrac12 \|f\|^2 + C \sum_i (1 - y_i f(x_i))_+ = C n \Big[ \frac1n \sum_i
              (1 - y_i f(x_i))_+ + \frac\alpha2 \|f\|^2 \Big], \qquad \alpha = \frac{1}{C n}

    It is also the λ of Chuang 2017 (notes on CS229), whose functions have no intercept. Neither
    here nor in scikit-learn's SVC is the intercept penalised; in LinearSVC it is.

    Parameters
    ----------
    C : float
        As in ``sklearn.svm.SVC``.
    n_rows : float
        Number of training rows; with weights, their sum.

    Examples
    --------
    >>> alpha_from_svc(10.0, 200)
    0.0005
    """
    if not (0.0 < C < inf and n_rows > 0):
        msg = f"C and n_rows must be above zero, not {C!r} and {n_rows!r}"
        raise ValueError(msg)
    return 1.0 / (C * n_rows)


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


# ── The coordinates in which a kernel expansion is a linear model ─────────────────────────────────

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
