"""Scores of a fitted kernel expansion, shared by the classifiers that take a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from directrix.classifiers.fitting.standardization import Standardization

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.kernels.kernel import Kernel


def expansion_scores(classifier: Any, X: Any) -> FloatArray:
    r"""Return :math:`\sum_j a_j K(x, x_j) + b` for rows that have been validated.

    Parameters
    ----------
    classifier : fitted classifier with a kernel
    X : array or sparse matrix of shape (n, d)
    """
    kernel, units = classifier._kernel, classifier._units  # noqa: SLF001 - both classifiers have them
    scores: FloatArray = np.full(X.shape[0], classifier.intercept_[0])
    if classifier.n_support_:
        centers = units.rows(classifier.support_vectors_)
        scores += kernel(units.rows(X), centers) @ classifier.dual_coef_[0]
    return scores


def kernel_units(kernel: Kernel, X: Any, weight: FloatArray) -> Standardization:
    """Return the standardisation of the features: none for a kernel of features as given."""
    if kernel.as_given:
        return Standardization(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    return Standardization.of(X, weight)


def refuse_formula() -> NoReturn:
    """Raise ValueError: a kernel expansion has no coefficients of features to export."""
    msg = (
        "a model with a kernel is a sum over rows and has no coefficients of features, so "
        "it has no form in SQL, ONNX, JSON or Python: keep it with directrix.export.save, "
        "or put sklearn.kernel_approximation.Nystroem before a classifier without kernel"
    )
    raise ValueError(msg)
