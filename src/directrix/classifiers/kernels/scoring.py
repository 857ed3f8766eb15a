"""KernelScoring: what classifiers share that are linear models or kernel expansions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from directrix.classifiers.base import LinearClassifier
from directrix.classifiers.kernels.expansion import KERNELS, Kernel
from directrix.classifiers.state import Facts, ModelState, StateArrays, require
from directrix.files.layout import is_number
from directrix.fitting.standardization import Standardization

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.kernels.expansion import Kernel
    from directrix.classifiers.scoring import ScoringFormula

# ── The state of a fitted kernel expansion as facts and arrays, and its checks ────────────────────

_KERNEL_PARAMS = ("coef0", "degree", "gamma")


def kernel_facts(kernel: Kernel | None) -> Facts | None:
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
    return Facts(name=kernel.name, params=Facts(params))


def restored_kernel(facts: Any) -> Kernel | None:
    """Return the kernel of some facts, after checking them; None for none."""
    if facts is None:
        return None
    complete = isinstance(facts, Facts) and sorted(facts) == ["name", "params"]
    known = complete and isinstance(facts["name"], str) and facts["name"] in KERNELS
    require(known, "it names a kernel that this version does not know")
    params = facts["params"]
    known = isinstance(params, Facts) and set(params) <= set(_KERNEL_PARAMS)
    require(known, "its kernel has parameters that this version does not know")
    numbers = all(value is None or is_number(value) for value in params.values())
    require(numbers, "a parameter of its kernel is not a number")
    return Kernel(facts["name"], dict(params))


def expansion_arrays(classifier: Any) -> dict[str, Any]:
    """Return the arrays of a classifier that is a kernel expansion, apart from its intercept."""
    units: Standardization = classifier._units  # noqa: SLF001 - both classifiers have them
    return {
        "dual_coef": classifier.dual_coef_,
        "unit_mean": units.mean,
        "unit_scale": units.scale,
        "rows": classifier.support_vectors_,
    }


def expansion_attributes(arrays: StateArrays, n_features: int) -> dict[str, Any]:
    """Return the attributes of a kernel expansion from its arrays, after checking them."""
    attributes = support_attributes(arrays)
    n_rows = attributes["n_support_"]
    attributes["dual_coef_"] = arrays.take("dual_coef", (1, n_rows), "float64")
    mean = arrays.take("unit_mean", (n_features,), "float64")
    scale = arrays.take("unit_scale", (n_features,), "float64")
    require((scale > 0).all(), "unit_scale is not above zero")
    attributes["_units"] = Standardization(mean, scale)
    attributes["support_vectors_"] = arrays.take("rows", (n_rows, n_features), "float32", "float64")
    return attributes


def restored_expansion(state: ModelState) -> dict[str, Any]:
    """Return the attributes of a kernel expansion with its kernel, after checking the arrays."""
    arrays = StateArrays(state.arrays)
    attributes = expansion_attributes(arrays, state.n_features)
    arrays.require_empty()
    kernel = restored_kernel(state.facts.get("kernel"))
    require_matching_kernel(attributes, kernel)
    return attributes | {"_kernel": kernel}


def support_attributes(arrays: StateArrays) -> dict[str, Any]:
    """Return the indices of the coefficients that are kept, their number and the intercept."""
    support = arrays.take("support", (None,), "int64")
    require((support >= 0).all(), "support has a negative index")
    intercept = arrays.take("intercept", (1,), "float64")
    return {"support_": support, "n_support_": len(support), "intercept_": intercept}


def require_matching_kernel(attributes: dict[str, Any], kernel: Kernel | None) -> None:
    """Check that there is a kernel where there are rows, and that these are rows it can take.

    A kernel of features as given needs rows that are not standardised and never negative.
    """
    with_kernel = "support_vectors_" in attributes
    require((kernel is not None) == with_kernel, "its kernel does not match its arrays")
    if kernel is None or not kernel.as_given:
        return
    units, rows = attributes["_units"], attributes["support_vectors_"]
    unscaled = not units.mean.any() and (units.scale == 1.0).all()
    values = rows.data if sparse.issparse(rows) else rows
    require(
        unscaled and (values >= 0).all(),
        "its kernel takes features as given, and never negative ones",
    )


# ── KernelScoring: what classifiers share that are linear models or kernel expansions ─────────────

#: Attributes of linear models, and of the other kind.
_OF_LINES = ("coef_", "feature_scales_")
_OF_EXPANSIONS = ("dual_coef_", "support_", "support_vectors_", "n_support_")
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

        It is ``coef_ @ x + intercept_``, or with a kernel :math:`\sum_j a_j K(x, x_j) + b`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n,)
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

    def _forget_model(self) -> None:
        """Delete the model of an earlier fit, which may have had another kernel or none."""
        for name in (*_OF_LINES, *_OF_EXPANSIONS):
            self.__dict__.pop(name, None)

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
        return Standardization(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    return Standardization.of(X, weight)
