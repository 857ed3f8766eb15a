"""Validation of the parameters and summaries of MomentClassifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.frontier._standard_space import require_rows_of_both
from directrix.metrics.table import resolve

if TYPE_CHECKING:
    from directrix.classifiers.moment.classifier import MomentClassifier
    from directrix.metrics.base import Metric
    from directrix.moments import Moments

#: Features beyond which a fit to rows keeps them instead of matrices (measured: dense rows take
#: the same time either way at 1,000 features and five rows per feature, or 2,000 and eight).
WIDE_FEATURES = 1_000
#: Values of the rows, for each element of a matrix, beyond which matrices are better after all.
VALUES_PER_ELEMENT = 4


def checked_metric(classifier: MomentClassifier) -> Metric:
    """Return the metric; refuse invalid parameters."""
    if classifier.choose not in ("rows", "moments"):
        msg = f"choose must be 'rows' or 'moments', not {classifier.choose!r}"
        raise ValueError(msg)
    if isinstance(classifier.shrinkage, str) and classifier.shrinkage not in ("oas", "cv"):
        msg = f"shrinkage must be 'oas', 'cv' or a share from 0 to 1, not {classifier.shrinkage!r}"
        raise ValueError(msg)
    return resolve(classifier.metric)


def keeps_rows(X: Any) -> bool:
    """Return whether the summary should keep the rows: it is then smaller, and faster to fit.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    """
    d = X.shape[1]
    n_values = X.nnz if sparse.issparse(X) else X.shape[0] * d
    return d > WIDE_FEATURES and bool(n_values <= VALUES_PER_ELEMENT * d * d)


def require_same_classes(classifier: MomentClassifier, classes: Any) -> None:
    """Refuse to add rows to a fit that has no summary, or that has other classes."""
    if not hasattr(classifier, "coef_"):
        return
    if not hasattr(classifier, "moments_"):
        msg = (
            "this classifier comes from a file, which keeps no summary to add rows to: call "
            "fit_moments(Moments.load(...)) with the saved moments_ first, or begin anew with "
            "sklearn.base.clone"
        )
        raise ValueError(msg)
    known = classifier.classes_.tolist()
    given = known if classes is None else np.ravel(classes).tolist()
    if set(given) != set(known):
        msg = (
            f"classes must be those of the first call, {known}, not {given}: leave them out, "
            "or begin anew with sklearn.base.clone"
        )
        raise ValueError(msg)


def require_rows_in_folds(moments: Moments) -> None:
    """Refuse a summary in which one fold has all rows of a class."""
    require_rows_of_both(moments)
    for number in range(len(moments.folds)):
        rest = moments.without_fold(number)
        if not (rest.positive.count and rest.negative.count):
            msg = (
                f"all rows of one class are in fold {number}: there are too few for folds by a "
                "hash. Give fold=HashFolds(2), or read the rows and use fit."
            )
            raise ValueError(msg)
