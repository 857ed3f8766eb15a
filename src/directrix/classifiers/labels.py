"""Labels of training rows as arrays: none is missing, and booleans are booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions import MissingLabelsError

if TYPE_CHECKING:
    from directrix._typing import AnyArray

#: Types of a missing value, by name, because pandas is not imported.
_ABSENT = {"NoneType", "NAType", "NaTType"}


def plain_labels(y: Any) -> Any:
    """Return labels as NumPy has them; objects that are all booleans or whole numbers as such.

    What is not a list of labels is returned as it is, and refused by scikit-learn.

    Parameters
    ----------
    y : array, series or list of shape (n,)

    Raises
    ------
    MissingLabelsError
        If a label is None, NaN or NA.
    """
    try:
        labels: AnyArray = np.asarray(y)
    except ValueError:  # rows of different lengths
        return y
    if labels.ndim != 1 or not labels.size:
        return y
    kind = labels.dtype.kind
    if kind == "f":
        _require_labels(np.isnan(labels))
    if kind == "O":
        _require_labels(np.array([_is_missing(label) for label in labels.tolist()]))
        types = {type(label) for label in labels.tolist()}
        if types <= {bool, np.bool_} or types <= {int, np.int64}:
            return np.array(labels.tolist())
    # Nullable types of pandas would become floats.
    return labels if kind in "biu" else y


def _is_missing(label: Any) -> bool:
    if type(label).__name__ in _ABSENT:
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def _require_labels(missing: AnyArray) -> None:
    if missing.any():
        raise MissingLabelsError(int(missing.sum()), int(missing.argmax()))
