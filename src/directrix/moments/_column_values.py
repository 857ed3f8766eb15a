"""Values of a column of any table: as floats, or the type of those that floats cannot hold.

A column is a NumPy array or a column of a pandas, polars or Arrow table. NumPy reads all of them,
so that none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

NUMERIC_KINDS = "biuf"
_TIME_KINDS = "mM"
#: Names of the types of missing values: every library has its own.
_MISSING = ("NoneType", "NAType", "NaTType")


def refused_type(column: Any) -> str | None:
    """Return the type of the values that floats cannot hold; None if there are none.

    Missing values do not count, nor do texts that are written as numbers, which scikit-learn
    converts. Lists and other collections do not count either: no kind of column holds those.
    """
    values = np.asarray(column)
    declared = column.dtype if hasattr(column, "dtype") else column.type
    if values.dtype.kind in _TIME_KINDS:
        return str(declared)
    if values.dtype.kind in NUMERIC_KINDS + "c" or _are_floats(values):
        return None
    for value in values.tolist():
        if type(value).__name__ not in _MISSING and _is_refused(value):
            # An array or frame of objects says nothing about the objects.
            unknown = isinstance(declared, np.dtype) or str(declared) == "Object"
            return type(value).__name__ if unknown else str(declared)
    return None


def as_floats(column: Any) -> FloatArray:
    """Return a column as floats, with NaN for missing values; raise an error if it is not numbers.

    Parameters
    ----------
    column : array or column of a table
        A column that has no `refused_type`.
    """
    values = np.asarray(column)
    if values.dtype.kind == "c":
        msg = "complex numbers have no order"
        raise TypeError(msg)
    if values.dtype.kind == "O":
        missing = [type(value).__name__ in _MISSING for value in values.tolist()]
        values = np.where(missing, np.nan, values)
    return values.astype(np.float64)


def _are_floats(values: AnyArray) -> bool:
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _is_refused(value: Any) -> bool:
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return True
    return False
