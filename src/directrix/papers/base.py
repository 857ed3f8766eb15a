"""PaperClassifier: the base class of the papers' classifiers, and objectives without intercept."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix._typing import AnyArray, FloatArray
from directrix.estimators.base import two_classes
from directrix.fit.progress import run_fits_on_copies
from directrix.linear.lbfgs import Objective, Solution
from directrix.linear.loss import Loss
from directrix.linear.objectives import DataObjective
from directrix.moments import Moments
from directrix.papers.kernels import kernel_of


class PaperClassifier(ClassifierMixin, BaseEstimator):
    """Base class of the papers' classifiers: two classes, linear in the rows or in their kernels.

    The last of ``classes_``, which are sorted, is the paper's class +1. Features are taken as they
    are: where a paper standardises them, put a scaler before the classifier. Fits run on a copy, so
    one that fails changes nothing.
    """

    classes_: AnyArray
    coef_: FloatArray
    dual_coef_: FloatArray
    intercept_: FloatArray
    n_iter_: int
    solution_: Solution
    support_: AnyArray
    support_vectors_: Any
    # Of classes that take no kernel.
    kernel: Any = None
    tau: float = 1.0

    def __init_subclass__(cls, **options: Any) -> None:
        """Let fits run on copies."""
        run_fits_on_copies(cls, nullcontext())
        super().__init_subclass__(**options)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row; above zero it is predicted to be of the last class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        scores: FloatArray = self._columns(X) @ self._weights + self.intercept_[0]
        return scores

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row, by the sign of its score.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        """
        scores = self.decision_function(X)
        labels: AnyArray = self.classes_[(scores > 0).astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel == "min"
        return tags

    @property
    def _weights(self) -> FloatArray:
        weights: FloatArray = (self.coef_ if self.kernel is None else self.dual_coef_)[0]
        return weights

    def _columns(self, X: Any) -> Any:
        """Return what the coefficients multiply: rows, or their kernels with the support."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.kernel is None:
            return X
        if not len(self.support_):
            return np.zeros((X.shape[0], 0))
        return kernel_of(self.kernel, self.tau)(X, self.support_vectors_)

    def _rows(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        """Check rows and labels; return the rows, and which are of the last class."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_ = two_classes(y)
        return X, y == self.classes_[1]

    def _keep(self, solution: Solution, *, intercept: bool) -> Self:
        """Store a linear model; without ``intercept`` the solution has the coefficients alone."""
        # A start may be a minimum, and scikit-learn asks for one iteration.
        self.solution_, self.n_iter_ = solution, max(solution.n_iter, 1)
        coef = solution.coef if intercept else np.append(solution.coef, 0.0)
        self.coef_, self.intercept_ = coef[None, :-1].copy(), coef[-1:].copy()
        return self


def objective_of(
    X: Any, positive: AnyArray, loss: Loss, ridge: float, *, intercept: bool
) -> Objective:
    """Return a loss of rows of weight one as a function of the coefficients."""
    objective = DataObjective(X, positive, np.ones(len(positive)), loss, ridge)
    return objective if intercept else WithoutIntercept(objective)


@dataclass(frozen=True)
class WithoutIntercept:
    """An objective of coefficients and intercept as one of the coefficients, f(x; w) = w·x."""

    objective: Any

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient by w."""
        value, gradient = self.objective(np.append(coef, 0.0))
        return value, gradient[:-1]

    def hessian_product(self, coef: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the Hessian by w times a vector."""
        product: FloatArray = self.objective.hessian_product(
            np.append(coef, 0.0), np.append(vector, 0.0)
        )
        return product[:-1]


class Remembered:
    """Objective that remembers its value and gradient at the last point.

    A line search asks for value and gradient separately, and a solver then asks again at the point
    where the search ended.
    """

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._at: FloatArray | None = None
        self._known: tuple[float, FloatArray]

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient."""
        if self._at is None or not np.array_equal(self._at, coef):
            self._known = self._objective(coef)
            self._at = coef.copy()
        return self._known

    def value(self, coef: FloatArray) -> float:
        """Return the value."""
        return self(coef)[0]

    def gradient(self, coef: FloatArray) -> FloatArray:
        """Return the gradient."""
        return self(coef)[1]


def choice(name: str, given: Any, known: Any) -> Any:
    """Return a parameter that must be one of some names; raise ValueError for any other."""
    if not (isinstance(given, str) and given in known):
        msg = f"{name} must be one of {', '.join(map(repr, known))}, not {given!r}"
        raise ValueError(msg)
    return given


def summary_of(X: Any, positive: AnyArray) -> Moments:
    """Return the moments of both classes; of wide sparse rows as operators over the rows."""
    n_values = getattr(X, "nnz", X.shape[0] * X.shape[1])
    wide = X.shape[1] > _WIDE and n_values < X.shape[1] ** 2
    return Moments.of(X, positive, classes=[False, True], sample=0, keep_rows=wide)


#: Features from which rows are kept, where they take less memory than matrices.
_WIDE = 1_000
