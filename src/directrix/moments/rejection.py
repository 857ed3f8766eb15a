"""Errors that name the columns for which a table is refused: text, missing values, infinity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.exceptions.columns import (
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    UnusableColumnsError,
)
from directrix.moments._column_values import NUMERIC_KINDS, as_floats, refused_type
from directrix.moments.rows import Rows, as_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray


def explain_rejection(data: Any) -> UnusableColumnsError | None:
    """Return the error that names the columns of a refused table that are not finite numbers.

    Text comes first, then missing values, then infinity; None if the table was refused for another
    reason. All values are read, so this is only for tables that have been refused.

    Parameters
    ----------
    data : array, sparse matrix, data frame or Arrow table
    """
    try:
        columns = _columns(data)
        if columns is None:
            return not_finite_error(as_rows(data))
        types = [refused_type(column) for _, column in columns]
        refused = [index for index, dtype in enumerate(types) if dtype is not None]
        if refused:
            names = [columns[index][0] for index in refused]
            return NotNumericError(names, [str(types[index]) for index in refused])
        return not_finite_error(_TableRows(columns)) if columns else None
    except (TypeError, ValueError):  # not a table of columns: scikit-learn's error describes it
        return None


def not_finite_error(
    rows: Rows, present: AnyArray | None = None, *, partial: bool = False
) -> UnusableColumnsError | None:
    """Return the error that names the columns with missing values or infinity; None for neither.

    Parameters
    ----------
    rows : Rows
    present : array of bool, optional
        Which rows are searched; by default all.
    partial : bool
        Whether there are rows beside these.
    """
    for error_class, is_culprit in (
        (MissingValuesError, np.isnan),
        (InfiniteValuesError, np.isinf),
    ):
        bad_rows, bad_columns = (np.zeros(size, dtype=bool) for size in rows.shape)
        for row, column, value in rows.stored():
            culprit = is_culprit(value) if present is None else is_culprit(value) & present[row]
            bad_rows[row[culprit]] = True
            bad_columns[column[culprit]] = True
        if bad_columns.any():
            indices = np.flatnonzero(bad_columns).tolist()
            names = indices if rows.names is None else [rows.names[index] for index in indices]
            return error_class(names, int(bad_rows.sum()), partial=partial)
    return None


class _TableRows(Rows):
    """Columns of any table, with their names or indices; blocks are copies."""

    def __init__(self, columns: Sequence[tuple[Any, Any]]) -> None:
        self.names = tuple(name for name, _ in columns)
        self.columns = [np.asarray(column) for _, column in columns]
        self.shape = (len(self.columns[0]), len(columns))

    def block(self, start: int, stop: int) -> FloatArray:
        return np.column_stack([as_floats(column[start:stop]) for column in self.columns])


def _columns(data: Any) -> list[tuple[Any, Any]] | None:
    """Return the columns of a table with their names or indices; None if all are numbers."""
    if sparse.issparse(data):
        return None
    if hasattr(data, "iloc"):  # a name may occur twice in pandas
        return [(name, data.iloc[:, index]) for index, name in enumerate(data.columns)]
    if hasattr(data, "get_column"):
        return [(name, data.get_column(name)) for name in data.columns]
    if hasattr(data, "schema") and hasattr(data, "column"):
        return [(name, data.column(index)) for index, name in enumerate(data.schema.names)]
    array = np.asarray(data)
    if array.dtype.kind in NUMERIC_KINDS or array.ndim != 2:
        return None
    return [(index, array[:, index]) for index in range(array.shape[1])]
