"""Labels: those of training rows, the positive one, and names of output columns of classes.

Every export, the command line and the integrations take the names from here, so that a column means
the same wherever a model is run.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from directrix._typing import AnyArray
from directrix.exceptions import LabelNotFoundError, MissingLabelsError, MixedLabelsError
from directrix.rows.labels import missing_in

# ── Labels of training rows as arrays: none is missing, and booleans are booleans ─────────────────


def plain_labels(y: Any) -> Any:
    """Return labels as NumPy has them; objects of one type as booleans, whole numbers or dates.

    What is not a list of labels is returned as it is, and refused by scikit-learn.

    Raises MissingLabelsError if a label is None, NaN or NA, and MixedLabelsError if labels have no
    common order.
    """
    try:
        labels: AnyArray = np.asarray(y)
    except ValueError:  # rows of different lengths
        return y
    if labels.ndim != 1 or not labels.size:
        return y
    kind = labels.dtype.kind
    if kind in {"f", "O"}:
        missing = missing_in(labels)
        if missing.any():
            raise MissingLabelsError(int(missing.sum()), int(missing.argmax()))
    if kind == "O":
        types = {type(label) for label in labels.tolist()}
        if types <= {bool, np.bool_} or types <= {int, np.int64}:
            return np.array(labels.tolist())
        _require_one_order(labels.tolist())
        in_zone = any(getattr(label, "tzinfo", None) is not None for label in labels.tolist())
        if all(issubclass(t, date) for t in types) and not in_zone:
            return labels.astype("M8[us]")
    if kind == "U" and isinstance(y, list | tuple):  # NumPy makes texts of numbers among them
        _require_one_order(y)
    # Nullable types of pandas would become floats.
    return labels if kind in "biu" else y


def _require_one_order(labels: Sequence[Any]) -> None:
    one_of_each = {type(label): label for label in labels}
    try:
        sorted(one_of_each.values())
    except TypeError:
        raise MixedLabelsError(tuple(one_of_each.values())) from None


# ── The positive label: which of two labels a metric counts as positive, and a fit is to catch ────
#
# ``classes_`` is sorted and a score above zero predicts its last label, as scikit-learn expects,
# whichever label is positive. Fits work with scores in favour of the positive label; where this
# is the first of ``classes_``, the fitted scores change their sign at the end
# (`FitResult.sign_flipped`).


def positive_label(positive: Any, classes: AnyArray) -> Any:
    """Return the label to catch, as it is in ``classes``.

    ``positive`` is what the user asked for; None for the last. ``classes`` are the two labels,
    sorted. Raises LabelNotFoundError if there is no such label.
    """
    labels = classes.tolist()
    if positive is None:
        return labels[1]
    if classes.dtype.kind == "M":
        with suppress(TypeError, ValueError):  # of a label that is no date
            positive = np.datetime64(positive, "us").item()
    if positive not in labels:
        raise LabelNotFoundError(positive, tuple(labels))
    return labels[labels.index(positive)]


def dates_in_microseconds(labels: AnyArray) -> AnyArray:
    """Return labels that are dates in microseconds, if they fit; other labels as they are.

    Only these are dates and times of Python: in nanoseconds a label would be an integer there.
    """
    if labels.dtype.kind != "M":
        return labels
    dates = labels.astype("M8[us]")
    return dates if (dates == labels).all() else labels


def ending_with(positive: Any, classes: AnyArray) -> AnyArray:
    """Return two labels with the positive one last; raise as `positive_label` does."""
    label = positive_label(positive, classes)
    return classes if classes.tolist()[-1] == label else classes[::-1]


def positive_of(estimator: Any) -> Any:
    """Return the positive label of a fitted classifier: by default the last."""
    label = getattr(estimator, "positive_", None)
    classes = np.asarray(estimator.classes_).tolist()
    return label if label in classes and label is not None else classes[-1]


def toward_positive(estimator: Any, scores: Any) -> Any:
    """Return scores of a fitted classifier, turned so that more of them favour its positive label.

    ``scores`` come from its ``decision_function``.
    """
    is_last = positive_of(estimator) == np.asarray(estimator.classes_).tolist()[-1]
    return scores if is_last else -np.asarray(scores)


# ── Names of output columns that belong to a class, such as ``probability_bad`` ───────────────────

#: Signs that tell labels apart, such as ``<=50K`` and ``>50K``; longer ones first.
_WORDS = {
    "<=": "le",
    ">=": "ge",
    "!=": "ne",
    "<": "lt",
    ">": "gt",
    "=": "eq",
    "+": "plus",
    "%": "percent",
}
#: With the name of the output and a number at the end, less than PostgreSQL keeps (63 bytes).
_MOST_BYTES = 44
_SAFE_INTEGER = 2.0**53


def class_names(classes: Sequence[Any]) -> tuple[str, ...]:
    """Return for each class the end of the names of its output columns.

    It is the label in lower case, where signs and spaces are underscores: a name that is an
    identifier in SQL and Python. Numbers have no decimal point if they are whole, booleans are
    ``true`` and ``false``, dates are in ISO 8601. If two labels would have the same name, both have
    the index of the class at the end.

    ``classes`` are all labels of a classifier, in the order of ``classes_``.

    Examples
    --------
    >>> class_names(["bad", "good"]), class_names([False, True]), class_names([-1.0, 0.5])
    (('bad', 'good'), ('false', 'true'), ('minus_1', '0_5'))
    >>> class_names(["<=50K", ">50K"]), class_names(["a b", "a-b"])
    (('le_50k', 'gt_50k'), ('a_b_0', 'a_b_1'))
    """
    names = [_name(label) or f"class_{k}" for k, label in enumerate(classes)]
    while len(set(names)) < len(names):
        counts = Counter(names)
        names = [f"{name}_{k}" if counts[name] > 1 else name for k, name in enumerate(names)]
    return tuple(names)


def output_names(output: str, classes: Sequence[Any]) -> tuple[str, ...]:
    """Return the name of an output for each class, such as ``score_a`` and ``score_b``.

    Examples
    --------
    >>> output_names("probability", ["no", "yes"])
    ('probability_no', 'probability_yes')
    """
    return tuple(f"{output}_{name}" for name in class_names(classes))


def probability_name(classes: Sequence[Any], positive: Any = None) -> str:
    """Return the name of the probability of the positive class.

    ``classes`` are both labels, in the order of ``classes_``. ``positive`` is the label whose
    probability is written, by default the last.

    Examples
    --------
    >>> probability_name(["bad", "good"], "bad")
    'probability_bad'
    """
    return output_names("probability", classes)[positive_index(classes, positive)]


def positive_index(classes: Sequence[Any], positive: Any = None) -> int:
    """Return the index of the positive one of two classes: by default the last."""
    return 1 if positive is None else list(classes).index(positive)


def label_text(label: Any) -> str:
    """Return a label as text: whole numbers without a decimal point, dates in ISO 8601."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    if isinstance(label, date):
        return label.isoformat()
    if isinstance(label, float) and label.is_integer() and abs(label) < _SAFE_INTEGER:
        return str(int(label))
    return str(label)


def _name(label: Any) -> str:
    text = label_text(label)
    if not text:
        return "empty"
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    if text.startswith("-"):
        text = f"minus_{text[1:]}"
    for sign, word in _WORDS.items():
        text = text.replace(sign, f"_{word}_")
    text = "".join(c if f"_{c}".isidentifier() else "_" for c in text)
    text = re.sub("_+", "_", text).strip("_")
    return text.encode()[:_MOST_BYTES].decode(errors="ignore").rstrip("_")


def require_class_labels(y: AnyArray) -> None:
    """Raise ValueError for a target that is a quantity, as scikit-learn does, and name a value."""
    try:
        check_classification_targets(y)
    except ValueError as error:
        values = np.asarray(y)
        fractions = values[values % 1 != 0] if values.dtype.kind == "f" else values[:0]
        if not len(fractions) and values.dtype.kind == "O" and values.ndim == 1:
            msg = (
                f"Unknown label type: {type(values[0]).__name__}. y has the value {values[0]}, and "
                "labels of classes are texts, Booleans, whole numbers or dates without a time "
                "zone: give texts, for instance by [str(label) for label in y]"
            )
            raise ValueError(msg) from error
        if not len(fractions):
            raise
        msg = (
            f"Unknown label type: continuous. y has the value {fractions[0]:g}, and labels of "
            "classes are texts, Booleans or whole numbers: are these scores? Make two classes of "
            "a quantity, such as y > limit, and drop rows whose label is not known."
        )
        raise ValueError(msg) from error
