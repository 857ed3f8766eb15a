"""What every linear classifier of two classes is to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.calibration import Calibration
    from directrix.moments import Moments


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """A score ``coef_ @ x + intercept_``, a prediction where it is above zero, a probability."""

    classes_: AnyArray
    coef_: FloatArray
    intercept_: FloatArray
    calibration_: Calibration

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row: above zero is predicted the last class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores: FloatArray = safe_sparse_dot(X, self.coef_[0], dense_output=True)
        scores += self.intercept_[0]
        return scores

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row, at the operating point the classifier was trained for.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        """
        above = (self.decision_function(X) > 0).astype(np.intp)
        labels: AnyArray = self.classes_[above]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; ``calibration_.how`` says how it was made.

        It increases with the score. Only for the error is the operating point at one half: a line
        trained for one false positive in a hundred cuts where that is reached.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n, 2)
        """
        scores = self.decision_function(X)
        positive = self.calibration_(scores)
        return np.column_stack([1.0 - positive, positive])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def _take_names(self, moments: Moments) -> None:
        """Know the features as a summary does."""
        self.n_features_in_ = moments.n_features
        if moments.feature_names is not None:
            self.feature_names_in_ = np.array(moments.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, AnyArray]:
        """Return features and labels that scikit-learn finds in order."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset
        )
        return X, y


def two_classes(y: AnyArray) -> AnyArray:
    """Return the two labels there are, or say what to do about any other number of them."""
    classes = np.unique(y)
    check_classification_targets(classes)  # of all of y it would look for them once more
    if len(classes) > 2:
        msg = (
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}. Choose one class against the others with `y == label`, or use "
            "sklearn.multiclass.OneVsRestClassifier."
        )
        raise ValueError(msg)
    if not len(classes):
        msg = "there are no rows to learn from (rows of weight zero do not count)"
        raise ValueError(msg)
    if len(classes) < 2:
        msg = (
            f"y has one class only, {classes.tolist()}: a line needs rows of both. (Rows of weight "
            "zero do not count.)"
        )
        raise ValueError(msg)
    return classes
