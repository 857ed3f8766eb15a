"""Kernels by name, and kernels that are functions of two vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
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
