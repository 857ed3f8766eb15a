"""KernelScoring: what classifiers share that are linear models or kernel expansions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix.classifiers.base import LinearClassifier
from directrix.classifiers.fitting.standardization import Standardization

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.kernels.kernel import Kernel
    from directrix.classifiers.scoring import ScoringFormula

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
