"""SLA of Nguyen and Sanner 2013 as Hasan and Pal 2015 run it: the sigmoid loss from an SVM."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from directrix._typing import AnyArray, FloatArray
from directrix.fitting.solvers import solver_for
from directrix.losses import Sigmoid
from directrix.objectives import DataObjective


class SigmoidSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear classifier of the search SLA for the least training error, with its own intercept.

    `SmoothClassifier` with ``loss="sigmoid", solver="sla"`` chooses a ridge and its threshold on
    held-out rows. The method of the paper does neither: it starts from a linear SVM of
    standardised features (liblinear, C = 1), has no penalty, and predicts with the line that the
    search found.

    Attributes
    ----------
    line_ : array of shape (d + 1,)
        Coefficients of the standardised features, intercept last.
    """

    line_: FloatArray

    def fit(self, X: Any, y: AnyArray) -> Self:
        """Fit to rows and labels, which are True or False."""
        self.classes_ = np.array([False, True])
        self._scaler = StandardScaler().fit(X)
        rows = self._scaler.transform(X)
        svm = LinearSVC(dual="auto", random_state=0).fit(rows, y)
        objective = DataObjective(rows, np.asarray(y), np.ones(len(y)), Sigmoid())
        start = np.append(svm.coef_, svm.intercept_)
        search = solver_for("sla", objective.loss)
        self.line_ = search.run(objective, start, np.random.default_rng(0), None).coef
        return self

    def predict(self, X: Any) -> AnyArray:
        """Return the label of each row: True where its score is above zero."""
        labels: AnyArray = self._scaler.transform(X) @ self.line_[:-1] + self.line_[-1] > 0
        return labels
