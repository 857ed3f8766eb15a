"""Matrix: block-wise access to arrays, sparse matrices and data frames of features.

Rows are read only in blocks, so that no input is ever copied whole. Libraries are recognised by
their methods, and NumPy reads the columns of all of them, so that none is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions.columns import (
    ColumnNamesError,
    ColumnNotFoundError,
    InfiniteValuesError,
    LazyTableError,
    MissingValuesError,
    NotNumericError,
    UnusableColumnsError,
)

# ── Feature names and column selection by name, index, slice or mask ──────────────────────────────


def checked_names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    """Return feature names as a tuple, after checking that they are distinct and complete."""
    checked = tuple(str(name) for name in names)
    if len(checked) != n_features or len(set(checked)) != n_features:
        msg = f"feature_names must be {n_features} different names, one for each feature"
        raise ValueError(msg)
    return checked


def column_index(columns: Any, n_features: int, names: tuple[str, ...] | None) -> AnyArray:
    """Return the indices of columns given by name, index, slice or mask; refuse repeated ones."""
    index = _index(columns, n_features, names)
    if len(set(index.tolist())) < len(index):
        msg = "a column is chosen twice"
        raise ValueError(msg)
    return index


def _index(columns: Any, n_features: int, names: tuple[str, ...] | None) -> AnyArray:
    all_columns: AnyArray = np.arange(n_features)
    if isinstance(columns, slice):
        return all_columns[columns]
    chosen = np.atleast_1d(np.asarray(columns))
    if chosen.ndim != 1:
        msg = f"the columns must be a list, not an array of shape {chosen.shape}"
        raise IndexError(msg)
    if chosen.dtype.kind in "OT" and all(isinstance(name, str) for name in chosen.tolist()):
        chosen = np.array(chosen.tolist(), dtype=str)
    if chosen.dtype.kind != "U":
        index: AnyArray = all_columns[chosen if chosen.size else chosen.astype(np.int64)]
        return index
    index_of = {name: index for index, name in enumerate(names or ())}
    missing = [name for name in chosen.tolist() if name not in index_of]
    if missing:
        raise ColumnNotFoundError(missing[0], index_of, "feature")
    return np.array([index_of[name] for name in chosen.tolist()], dtype=np.int64)


# ── Values of a column of any table: as floats, or the type of those that floats cannot hold ──────

NUMERIC_KINDS = "biuf"
#: Names of the types of missing values: every library has its own, and none is imported for it.
MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def refused_type(column: Any) -> str | None:
    """Return the type of the values that floats cannot hold; None if there are none.

    Missing values do not count, nor do texts that are written as numbers, which scikit-learn
    converts. Lists and other collections do not count either: no kind of column holds those.
    """
    values = np.asarray(column)
    declared = column.dtype if hasattr(column, "dtype") else column.type
    if values.dtype.kind in "mM":
        return str(declared)
    if values.dtype.kind in NUMERIC_KINDS + "c" or _converts(np.float64, values):
        return None
    for value in values.tolist():
        if type(value).__name__ not in MISSING_TYPES and _is_refused(value):
            # An array or frame of objects says nothing about the objects.
            unknown = isinstance(declared, np.dtype) or str(declared) == "Object"
            return type(value).__name__ if unknown else str(declared)
    return None


def as_floats(column: Any) -> FloatArray:
    """Return a column as floats, with NaN for missing values; raise an error if it is not numbers.

    The column has no `refused_type`.
    """
    values = np.asarray(column)
    if values.dtype.kind == "c":
        msg = "complex numbers have no order"
        raise TypeError(msg)
    if values.dtype.kind == "O":
        missing = [type(value).__name__ in MISSING_TYPES for value in values.tolist()]
        values = np.where(missing, np.nan, values)
    return values.astype(np.float64)


def _is_refused(value: Any) -> bool:
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return False
    return not _converts(float, value)


def _converts(number: type, value: Any) -> bool:
    try:
        number(value)
    except (TypeError, ValueError):
        return False
    return True


# ── Matrix: block-wise access to arrays, sparse matrices and data frames of features ──────────────

_VALUES_AT_A_TIME = 1 << 18


class Matrix(ABC):
    """Base class for matrices of features that return blocks of rows as arrays."""

    shape: tuple[int, int]
    names: tuple[str, ...] | None = None

    @abstractmethod
    def block(self, start: int, stop: int) -> AnyArray:
        """Return rows ``start`` to ``stop`` (not included) as a two-dimensional array."""

    def take(self, index: AnyArray) -> AnyArray:
        """Return the rows of these indices, which must be sorted, as a two-dimensional array."""
        if not len(index):
            return self.block(0, 0)
        first = int(index[0])
        rows: AnyArray = self.block(first, int(index[-1]) + 1)[index - first]
        return rows

    def stored(self) -> Iterator[tuple[AnyArray, AnyArray, FloatArray]]:
        """Yield row indices, column indices and values of all stored entries, in chunks."""
        n, d = self.shape
        size = max(_VALUES_AT_A_TIME // max(d, 1), 1)
        for start in range(0, n, size):
            block = np.asarray(self.block(start, min(start + size, n)), dtype=np.float64)
            row, column = (index.ravel() for index in np.indices(block.shape))
            yield start + row, column, block.ravel()

    def column(self, index: int) -> str:
        """Return the name of a column for messages, or its index if it has no name."""
        return repr(self.names[index]) if self.names else str(index)


class ArrayRows(Matrix):
    """Rows of a NumPy array; blocks are views."""

    def __init__(self, array: AnyArray) -> None:
        if array.dtype.kind == "O":
            array = _as_float(array)
        if array.dtype.kind not in NUMERIC_KINDS:
            _refuse_text(array)
            msg = f"the features must be real numbers, not {array.dtype}; encode them first"
            raise TypeError(msg)
        if array.ndim != 2:
            msg = (
                f"the features must have two dimensions, rows and columns, not {array.ndim}. "
                "Reshape your data with X.reshape(-1, 1) if it is a single feature, or "
                "X.reshape(1, -1) if it is a single row"
            )
            raise ValueError(msg)
        self.array = array
        self.shape = array.shape

    def block(self, start: int, stop: int) -> AnyArray:  # noqa: D102 - inherited
        return self.array[start:stop]


class ColumnRows(ArrayRows):
    """Some columns of a NumPy array; blocks are copies."""

    def __init__(self, array: AnyArray, columns: AnyArray) -> None:
        super().__init__(array)
        self.columns = columns
        self.shape = (array.shape[0], len(columns))

    def block(self, start: int, stop: int) -> AnyArray:  # noqa: D102 - inherited
        return self.array[start:stop, self.columns]


class SparseRows(Matrix):
    """All or some columns of a CSR matrix; blocks are dense."""

    def __init__(self, matrix: Any, columns: AnyArray | None = None) -> None:
        self.matrix = matrix
        self.columns = columns
        self.shape = (matrix.shape[0], matrix.shape[1] if columns is None else len(columns))

    def block(self, start: int, stop: int) -> FloatArray:  # noqa: D102 - inherited
        rows = self.matrix[start:stop]
        if self.columns is not None:
            rows = rows[:, self.columns]
        dense: FloatArray = rows.toarray()
        return dense

    def take(self, index: AnyArray) -> FloatArray:  # noqa: D102 - inherited
        return SparseRows(self.matrix[index], self.columns).block(0, len(index))

    def stored(self) -> Iterator[tuple[AnyArray, AnyArray, FloatArray]]:  # noqa: D102 - inherited
        matrix = self.matrix.tocoo()
        yield matrix.row, matrix.col, matrix.data.astype(np.float64)


class FrameRows(Matrix):
    """Columns of a pandas or polars data frame; blocks are copies."""

    def __init__(self, frame: Any, columns: Sequence[str] | None = None) -> None:
        columns = list(frame.columns) if columns is None else list(columns)
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            raise ColumnNotFoundError(missing[0], frame.columns)
        wanted = set(columns)
        if not len(wanted) == len(columns) == sum(name in wanted for name in frame.columns):
            msg = f"a column occurs twice in {columns}; give every column a different name"
            raise ValueError(msg)
        self.frame = frame
        self.labels = columns
        self.shape = (len(frame), len(columns))
        if all(isinstance(name, str) for name in columns):
            self.names = tuple(columns)
        refused = [name for name in columns if not _is_numeric(frame[name].dtype)]
        if refused:
            dtypes = [refused_type(frame[name]) or str(frame[name].dtype) for name in refused]
            raise NotNumericError(refused, dtypes)

    def block(self, start: int, stop: int) -> FloatArray:  # noqa: D102 - inherited
        return self._values(slice(start, stop), stop - start)

    def take(self, index: AnyArray) -> FloatArray:  # noqa: D102 - inherited
        return self._values(index, len(index))

    def _values(self, chosen: AnyArray | slice, n_rows: int) -> FloatArray:
        frame = self.frame
        rows = frame.iloc[chosen] if hasattr(frame, "iloc") else frame[chosen]
        block = np.empty((n_rows, self.shape[1]))
        for index, name in enumerate(self.labels):
            column = rows[name]
            # Missing values of nullable columns become NaN, which is refused later with the name of
            # the column.
            block[:, index] = (
                column.to_numpy(dtype=np.float64, na_value=np.nan)
                if hasattr(frame, "iloc")
                else column.cast(float).to_numpy()
            )
        return block


def as_rows(data: Any) -> Matrix:
    """Wrap an array, sparse matrix or data frame of features as ``Matrix``."""
    if isinstance(data, Matrix):
        return data
    data = in_memory(data)
    if sparse.issparse(data):
        return SparseRows(canonical_csr(data))
    if is_frame(data):
        return FrameRows(data)
    return ArrayRows(np.asarray(data))


def is_frame(data: Any) -> bool:
    """Return whether ``data`` is a pandas or polars data frame."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "get_column"))


def in_memory(data: Any) -> Any:
    """Return data whose rows are in memory as an array, data frame or Arrow table.

    A narwhals frame becomes the frame that it wraps, and an object that only exports Arrow data
    (``__arrow_c_stream__`` or ``__arrow_c_array__``) a table of pyarrow; anything else is returned
    as it is. Raises `LazyTableError` for a lazy frame, whose rows are not in memory.
    """
    library = type(data).__module__.partition(".")[0]
    if type(data).__name__ == "LazyFrame":
        kind = f"{library} LazyFrame"
        raise LazyTableError(kind)
    if library == "narwhals":
        return data.to_native()
    if library == "pyarrow" or is_frame(data) or hasattr(data, "dtype"):
        return data
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return import_module("pyarrow").table(data)  # reads Arrow data of any other library
    return data


def require_same_index(**given: Any) -> None:
    """Refuse objects of pandas that have as many rows and other indexes, such as those of a join.

    Rows are taken by position. ``given`` are the objects by the names of the arguments.
    """
    indexed = [
        (name, each.index)
        for name, each in given.items()
        if type(each).__module__.partition(".")[0] == "pandas" and hasattr(each, "loc")
    ]
    for name, index in indexed[1:]:
        first, expected = indexed[0]
        if len(index) == len(expected) and not index.equals(expected):
            msg = (
                f"{first} and {name} have different indexes, and rows are taken by their position: "
                f"give {name}.loc[{first}.index], or {name}.to_numpy() if the order is the same"
            )
            raise ValueError(msg)


def feature_names_of(data: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame or Arrow table; None if they have none.

    Raises ColumnNamesError as `texts_or_none` does.
    """
    if is_frame(data):
        names = list(data.columns) if isinstance(data.columns, list) else data.columns.tolist()
    elif hasattr(data, "num_rows") and hasattr(data, "schema"):
        names = list(data.schema.names)
    else:
        return None
    return texts_or_none(names)


def texts_or_none(names: list[Any]) -> tuple[str, ...] | None:
    """Return names of columns that are texts; None if they are numbered 0, 1, ..., as in pandas.

    Raises ColumnNamesError for others: columns would be matched by position, whatever their names.
    """
    others = [name for name in names if not isinstance(name, str)]
    if not others:
        return tuple(names)
    if names == list(range(len(names))):
        return None
    raise ColumnNamesError(tuple(names), others[0])


def canonical_csr(matrix: Any) -> Any:
    """Return a CSR array with sorted indices and no duplicates, copied only if necessary."""
    if matrix.ndim != 2 or matrix.dtype.kind not in NUMERIC_KINDS:
        msg = "a sparse matrix of features must have two dimensions and hold real numbers"
        raise TypeError(msg)
    csr = sparse.csr_array(matrix)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "kind"):
        return bool(dtype.kind in NUMERIC_KINDS)
    return str(dtype) == "Boolean" or bool(getattr(dtype, "is_numeric", bool)())


def _as_float(array: AnyArray) -> FloatArray:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        _refuse_text(array)
        msg = f"the features must be numbers: {error}"
        raise TypeError(msg) from None


def _refuse_text(array: AnyArray) -> None:
    """Raise an error that names the columns with text, dates and the like, if there are any."""
    columns = array.T if array.ndim == 2 else ()
    types = {index: refused_type(column) for index, column in enumerate(columns)}
    refused = {index: dtype for index, dtype in types.items() if dtype is not None}
    if refused:
        raise NotNumericError(refused, refused.values()) from None


# ── Errors that name the columns for which a table is refused: text, missing values, infinity ─────


def explain_rejection(data: Any) -> UnusableColumnsError | None:
    """Return the error that names the columns of a refused table that are not finite numbers.

    Text comes first, then missing values, then infinity; None if the table was refused for another
    reason. All values are read, so this is only for tables that have been refused.
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
    rows: Matrix, present: AnyArray | None = None, *, partial: bool = False
) -> UnusableColumnsError | None:
    """Return the error that names the columns with missing values or infinity; None for neither.

    Only rows that are ``present`` are searched, by default all; ``partial`` tells that there are
    rows beside these.
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


class _TableRows(Matrix):
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
