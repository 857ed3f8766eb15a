"""Kernels by name, and kernels that are functions of two vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels

if TYPE_CHECKING:
    from directrix._typing import FloatArray

KERNELS = ("linear", "rbf", "polynomial", "min")


@dataclass(frozen=True)
class Kernel:
    """A kernel by name or as a function of two vectors.

    Parameters
    ----------
    name : "linear", "rbf", "polynomial", "min" or callable
    params : dict, optional
        Parameters of scikit-learn's kernel of this name, or of the function.
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
        """
        if not (params is None or isinstance(params, Mapping)):
            msg = f"kernel_params must be a dict, not {params!r}"
            raise ValueError(msg)
        if kernel is None and params:
            msg = f"kernel_params={params!r} without a kernel: name one"
            raise ValueError(msg)
        return None if kernel is None else cls(kernel, dict(params or {}))

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
