"""The positive label: which of two labels a metric counts as positive, and a fit is to catch.

``classes_`` is sorted and a score above zero predicts its last label, as scikit-learn expects,
whichever label is positive. Fits work with scores in favour of the positive label; where this is
the first of ``classes_``, the fitted scores change their sign at the end (`FittedLine.turned`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions import LabelNotFoundError

if TYPE_CHECKING:
    from directrix._typing import AnyArray


def positive_label(positive: Any, classes: AnyArray) -> Any:
    """Return the label to catch, as it is in ``classes``.

    Parameters
    ----------
    positive : label or None
        What the user asked for; None for the last of two classes.
    classes : array
        Sorted labels. With more than two, each is positive in turn, and None is returned.

    Raises
    ------
    LabelNotFoundError
        If there is no such label, or there are more than two.
    """
    labels = classes.tolist()
    if positive is None:
        return labels[1] if len(labels) == 2 else None
    if classes.dtype.kind == "M":
        positive = _as_time(positive)
    if len(labels) != 2 or positive not in labels:
        raise LabelNotFoundError(positive, labels)
    return labels[labels.index(positive)]


def dates_in_microseconds(labels: AnyArray) -> AnyArray:
    """Return labels that are dates in microseconds, if they fit; other labels as they are.

    Only these are dates and times of Python: in nanoseconds a label would be an integer there.
    """
    if labels.dtype.kind != "M":
        return labels
    dates = labels.astype("M8[us]")
    return dates if (dates == labels).all() else labels


def _as_time(label: Any) -> Any:
    """Return a date as a date and time, as labels in microseconds are; others as they are."""
    try:
        return np.datetime64(label, "us").item()
    except (TypeError, ValueError):
        return label


def ending_with(positive: Any, classes: AnyArray) -> AnyArray:
    """Return two labels with the positive one last; raise as `positive_label` does."""
    label = positive_label(positive, classes)
    return classes if classes.tolist()[-1] == label else classes[::-1]


def positive_of(estimator: Any) -> Any:
    """Return the positive label of a fitted classifier of two classes: by default the last."""
    label = getattr(estimator, "positive_", None)
    classes = np.asarray(estimator.classes_).tolist()
    return label if label in classes and label is not None else classes[-1]


def toward_positive(estimator: Any, scores: Any) -> Any:
    """Return scores of a fitted classifier, turned so that more of them favour its positive label.

    Parameters
    ----------
    estimator : fitted classifier of two classes
    scores : array of shape (n,)
        From its ``decision_function``.
    """
    is_last = positive_of(estimator) == np.asarray(estimator.classes_).tolist()[-1]
    return scores if is_last else -np.asarray(scores)
