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
    if y is None or np.ndim(y) != 1 or not len(y):
        return y
    labels: AnyArray = np.asarray(y)
    if labels.dtype.kind == "f":
        _require_labels(np.isnan(labels))
        return y
    if labels.dtype.kind in "biu":
        return labels  # nullable types of pandas too
    if labels.dtype.kind != "O":
        return y
    flat = labels.tolist()
    _require_labels(np.array([_is_missing(label) for label in flat]))
    types = {type(label) for label in flat}
    if types <= {bool, np.bool_}:
        return labels.astype(np.bool_)
    if types <= {int, np.int64}:
        return np.array(flat)
    return y


def _is_missing(label: Any) -> bool:
    if type(label).__name__ in _ABSENT:
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def _require_labels(missing: AnyArray) -> None:
    if missing.any():
        raise MissingLabelsError(int(missing.sum()), int(missing.argmax()))
