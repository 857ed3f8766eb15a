"""KernelScoring: what classifiers share that are linear models or kernel expansions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from directrix.classifiers.base import LinearClassifier
from directrix.classifiers.state import ModelMetadata, ModelState, StateArrays, require
from directrix.files.layout import is_number
from directrix.fitting.training_rows import Standardization
from directrix.rows.keys import row_hash
from directrix.rows.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.classifiers.scoring import ScoringFormula

# ── Kernels by name, and kernels that are functions of two vectors ────────────────────────────────

KERNELS = ("linear", "rbf", "polynomial", "min")


@dataclass(frozen=True)
class Kernel:
    """A kernel by name or as a function of two vectors.

    `params` are those of scikit-learn's kernel of this name, or of the function.

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
        """Return the kernel of a classifier's parameters, None for a linear model.

        For the kernel "rbf", ``bandwidth`` may stand for ``gamma``: see `gamma_from_bandwidth`.
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
class Columns:
    """The columns of a linear model: by default the features themselves.

    The ridge is that of the coefficients of `X`. `centers` are the indices of the features or, with
    a kernel, of the rows that the coefficients of `columns` belong to.
    """

    X: Any
    centers: IntArray

    @property
    def columns(self) -> Any:
        """The columns that the coefficients multiply."""
        return self.X

    def coefficients(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients of the columns from those of ``X``."""
        return weight

    def columns_for(self, rows: Any) -> Any:
        """Return the columns of other rows."""
        return rows


@dataclass(frozen=True)
class KernelColumns(Columns):
    r"""The kernels of some rows as the columns of a linear model, with the ridge |a|².

    .. math:: f(x) = \sum_j a_j K(x, x_j), \qquad \frac{\alpha}{2} \sum_j a_j^2

    It is the model of Hasan and Pal 2015 (eq. 36–39), with a Gaussian prior on each coefficient;
    `KernelExpansion` has the norm of the function instead. `rows` are the distinct rows, whose
    kernels are the basis.
    """

    kernel: Kernel
    rows: Any

    @classmethod
    def from_rows(cls, kernel: Kernel, rows: Any) -> KernelColumns:
        """Return the columns of the kernels of some rows."""
        centers, center_index, matrix = _kernel_matrix(kernel, rows)
        return KernelColumns(matrix[center_index], centers, kernel, rows[centers])

    def columns_for(self, rows: Any) -> FloatArray:
        """Return the kernels of other rows with the centers."""
        return self.kernel(rows, self.rows)


@dataclass(frozen=True)
class KernelExpansion(KernelColumns):
    r"""A function in the span of the kernels of some rows, as a linear model.

    .. math:: f(x) = \sum_j a_j K(x, x_j), \qquad
              K = U \Lambda U^\top, \quad \Phi = U \Lambda^{1/2}, \quad
              K a = \Phi w, \quad a^\top K a = \|w\|^2, \quad a = U \Lambda^{-1/2} w

    Hasan and Pal 2015, eq. 36–37. By the representer theorem the minimum over all functions with
    the norm of the kernel is of this form, and that norm is aᵀKa, not |a|². In the coordinates w it
    is an ordinary ridge, and the objective, which has the condition number of K² in a, is that of a
    linear model. `X` is Φ, `matrix` K, `inverse` UΛ^(−1/2); `center_index` is the index of each
    row's center.
    """

    center_index: IntArray
    matrix: FloatArray
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
        return cls(X[center_index], centers, kernel, rows[centers], center_index, matrix, inverse)

    @property
    def columns(self) -> FloatArray:
        """Kernels of all rows with the centers, of shape (n, m)."""
        return self.matrix[self.center_index]

    def coefficients(self, weight: FloatArray) -> FloatArray:
        """Return the coefficients a of the kernels from those of ``X``."""
        return self.inverse @ weight


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


# ── The state of a fitted kernel expansion as facts and arrays, and its checks ────────────────────

_KERNEL_PARAMS = ("coef0", "degree", "gamma")


def kernel_facts(kernel: Kernel | None) -> ModelMetadata | None:
    """Return a kernel as facts; raise TypeError for one that is a function."""
    if kernel is None:
        return None
    params = kernel.params or {}
    if callable(kernel.name) or not set(params) <= set(_KERNEL_PARAMS):
        msg = (
            "a model file holds no code, so the kernel must be one of "
            f"{', '.join(map(repr, KERNELS))} with no other parameters than gamma, degree and coef0"
        )
        raise TypeError(msg)
    return ModelMetadata(name=kernel.name, params=ModelMetadata(params))


def restored_kernel(facts: Any) -> Kernel | None:
    """Return the kernel of some facts, after checking them; None for none."""
    if facts is None:
        return None
    complete = isinstance(facts, ModelMetadata) and sorted(facts) == ["name", "params"]
    known = complete and isinstance(facts["name"], str) and facts["name"] in KERNELS
    require(known, "it names a kernel that this version does not know")
    params = facts["params"]
    known = isinstance(params, ModelMetadata) and set(params) <= set(_KERNEL_PARAMS)
    require(known, "its kernel has parameters that this version does not know")
    numbers = all(value is None or is_number(value) for value in params.values())
    require(numbers, "a parameter of its kernel is not a number")
    return Kernel(facts["name"], dict(params))


def support_attributes(arrays: StateArrays) -> dict[str, Any]:
    """Return the indices of the coefficients that are kept, and their number, after checking."""
    support = arrays.take("support", (None,), "int64")
    require((support >= 0).all(), "support has a negative index")
    return {"support_": support, "n_support_": len(support)}


# ── KernelScoring: what classifiers share that are linear models or kernel expansions ─────────────

#: Attributes of linear models alone.
_OF_LINES = ("coef_", "feature_scales_")
_REASON = (
    "a model with a kernel is a sum over rows and has no coefficients of features, so it has no "
)
_REMEDY = "put sklearn.kernel_approximation.Nystroem before a classifier without kernel"


class KernelScoring(LinearClassifier):
    """Base class of classifiers with a parameter ``kernel``.

    A fit sets ``_kernel``; with a kernel also ``_units``, ``dual_coef_``, ``support_vectors_``,
    ``n_support_`` and ``intercept_``.
    """

    kernel: Any
    dual_coef_: FloatArray
    support_vectors_: Any
    support_: AnyArray
    n_support_: int
    _kernel: Kernel | None = None
    _units: Standardization

    def decision_function(self, X: Any) -> FloatArray:
        r"""Return the score of each row; above zero it is predicted to be of the last class.

        It is ``coef_ @ x + intercept_``, or with a kernel :math:`\sum_j a_j K(x, x_j) + b`; rows
        are those of `LinearClassifier.decision_function`.
        """
        check_is_fitted(self)
        if self._kernel is None:
            return super().decision_function(X)
        X = self._validated_features(X)
        scores: FloatArray = np.full(X.shape[0], self.intercept_[0])
        if self.n_support_:
            centers = self._units.rows(self.support_vectors_)
            scores += self._kernel(self._units.rows(X), centers) @ self.dual_coef_[0]
        return scores

    def scoring_formula(self) -> ScoringFormula:
        """Return what this classifier computes for a row; raise ValueError with a kernel."""
        check_is_fitted(self)
        if self._kernel is not None:
            msg = (
                f"{_REASON}form in SQL, ONNX, JSON or Python: keep it with directrix.export.save, "
                f"or {_REMEDY}"
            )
            raise ValueError(msg)
        return super().scoring_formula()

    def _state_arrays(self) -> dict[str, Any]:
        if self._kernel is None:
            return super()._state_arrays()
        return {
            "intercept": self.intercept_,
            "support": np.asarray(self.support_, dtype=np.int64),
            "dual_coef": self.dual_coef_,
            "unit_mean": self._units.mean,
            "unit_scale": self._units.scale,
            "rows": self.support_vectors_,
        }

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        kernel = restored_kernel(state.facts.get("kernel"))
        matching = (kernel is not None) == ("rows" in state.arrays)
        require(matching, "its kernel does not match its arrays")
        if kernel is None:
            return super()._restored_scoring(state) | {"_kernel": None}
        arrays, d = StateArrays(state.arrays), state.n_features
        attributes = {"_kernel": kernel} | support_attributes(arrays)
        n_rows = attributes["n_support_"]
        attributes["intercept_"] = arrays.take("intercept", (1,), "float64")
        attributes["dual_coef_"] = arrays.take("dual_coef", (1, n_rows), "float64")
        mean, scale = (arrays.take(f"unit_{part}", (d,), "float64") for part in ("mean", "scale"))
        require((scale > 0).all(), "unit_scale is not above zero")
        attributes["_units"] = Standardization(mean, scale)
        rows = arrays.take("rows", (n_rows, d), "float32", "float64")
        attributes["support_vectors_"] = rows
        arrays.require_empty()
        if kernel.as_given:
            unscaled = not mean.any() and (scale == 1.0).all()
            values = rows.data if sparse.issparse(rows) else rows
            as_given = unscaled and (values >= 0).all()
            require(as_given, "its kernel takes features as given, and never negative ones")
        return attributes

    if not TYPE_CHECKING:  # it would make every attribute known

        def __getattr__(self, name: str) -> NoReturn:
            """Raise AttributeError, with the reason if a kernel is why an attribute is missing."""
            reason = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in _OF_LINES and self.__dict__.get("_kernel") is not None:
                reason = f"{_REASON}{name}: see dual_coef_ and support_vectors_, or {_REMEDY}"
            raise AttributeError(reason)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel == "min"
        return tags


def kernel_units(kernel: Kernel, X: Any, weight: FloatArray) -> Standardization:
    """Return the standardisation of the features: none for a kernel of features as given."""
    if kernel.as_given:
        return identity_units(X)
    return Standardization.of(X, weight)


def identity_units(X: Any) -> Standardization:
    """Return units that leave features or coordinates as they are."""
    return Standardization(np.zeros(X.shape[1]), np.ones(X.shape[1]))
