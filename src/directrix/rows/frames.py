"""Frame: the columns of a table of any library (NumPy, SciPy, pandas, polars, Arrow), one by one.

Libraries are recognised by the methods of their types, so that none is imported. narwhals reads no
record batches or repeated names, rounds nullable integers, and takes five times as long for a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions.columns import ColumnNamesError, ColumnNotFoundError, LazyTableError
from directrix.rows.labels import is_missing

# ── Tables: what they are, and the names of their columns ─────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a table in memory.

    Parameters
    ----------
    library : {"pandas", "polars", "arrow", "numpy"}
        That of the columns; those of sparse matrices are arrays.
    native : data frame, Arrow table or batch, array or sparse matrix
    labels : tuple
        Names of the columns, or their numbers in an array.
    n_rows : int
    column : callable
        Returns the column at a position, as its library has it.
    """

    library: str
    native: Any
    labels: tuple[Any, ...]
    n_rows: int
    column: Callable[[int], Any]

    @classmethod
    def of(cls, X: Any) -> Frame:
        """Return the columns of a data frame, Arrow table, array, sparse matrix or list of rows."""
        if isinstance(X, Frame):
            return X
        X = in_memory(X)
        if is_arrow(X):
            return cls("arrow", X, tuple(X.schema.names), X.num_rows, X.column)
        if is_frame(X) and not hasattr(X, "iloc"):
            return cls("polars", X, tuple(X.columns), len(X), X.get_columns().__getitem__)
        if is_frame(X):
            labels, is_unique = tuple(X.columns.tolist()), X.columns.is_unique
            # In a table of one row, a column takes twice as long by its position as by its name.
            by_name = is_unique and all(isinstance(name, str) for name in labels)
            column = (lambda k: X[labels[k]]) if by_name else (lambda k: X.iloc[:, k])
            return cls("pandas", X, labels, len(X), column)
        array = X if sparse.issparse(X) else _matrix(X)
        columns = sparse.csc_array(array) if sparse.issparse(array) else array
        return cls("numpy", array, tuple(range(array.shape[1])), array.shape[0], _of_array(columns))

    def positions(self, labels: Sequence[Any]) -> list[int]:
        """Return the positions of columns; raise ColumnNotFoundError if one is missing."""
        position = {name: k for k, name in enumerate(self.labels)}
        missing = [name for name in labels if name not in position]
        if missing:
            raise ColumnNotFoundError(missing[0], self.labels)
        return [position[name] for name in labels]

    def select(self, labels: Sequence[Any]) -> Any:
        """Return some columns in the library of the table."""
        positions = self.positions(labels)
        if self.library == "numpy":
            return self.native[:, positions]
        chosen = list(labels)
        return self.native.select(chosen) if self.library == "arrow" else self.native[chosen]


def _of_array(array: Any) -> Callable[[int], AnyArray]:
    if sparse.issparse(array):
        return lambda k: array[:, [k]].toarray()[:, 0]
    return lambda k: array[:, k]


def _matrix(X: Any) -> AnyArray:
    """Return anything else as a two-dimensional array; lists keep the type of every value."""
    array = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        array = np.asarray(X, dtype=object)  # NumPy turns numbers into text in mixed lists
    if array.ndim != 2:
        msg = (
            f"a table must have two dimensions, rows and columns, not {array.ndim}. Reshape your "
            "data with X.reshape(-1, 1) if it is a single column, or X.reshape(1, -1) if it is a "
            "single row. A row of a frame is table.iloc[[0]], of a dict pd.DataFrame([row])"
        )
        raise ValueError(msg)
    return array


def is_frame(data: Any) -> bool:
    """Return whether ``data`` is a pandas or polars data frame."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "get_column"))


def is_arrow(data: Any) -> bool:
    """Return whether ``data`` is an Arrow table or record batch."""
    # The schema is tested last, because a polars lazy frame warns when it is read.
    return hasattr(data, "num_rows") and hasattr(data, "column") and hasattr(data, "schema")


def is_table(data: Any) -> bool:
    """Return whether ``data`` is a table, not an iterable of tables."""
    return (
        is_frame(data)
        or is_arrow(data)
        or sparse.issparse(data)
        # A list of chunks may have been converted to an array of objects.
        or (isinstance(data, np.ndarray) and (data.dtype != object or data.ndim == 2))
    )


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
    return texts_or_none(list(Frame.of(data).labels)) if is_frame(data) or is_arrow(data) else None


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


# ── Columns: values as NumPy has them, as floats, and the type of those that floats cannot hold ───

NUMERIC_KINDS = "biuf"
_ARROW_NUMBERS = ("bool", "double", "float", "halffloat", "int", "uint", "decimal")
_ARROW_TEXTS = ("string", "large_string", "string_view")
#: Number and length of texts up to which a column of them, such as labels, is an array of texts.
_FEW_TEXTS, _SHORT_TEXT = 100, 40


def is_numeric(column: Any) -> bool:
    """Return whether a column has a type of numbers or booleans."""
    if not hasattr(column, "dtype"):  # Arrow
        return str(column.type).startswith(_ARROW_NUMBERS)
    if hasattr(column.dtype, "kind"):
        return bool(column.dtype.kind in NUMERIC_KINDS)
    return str(column.dtype) == "Boolean" or bool(column.dtype.is_numeric())


def column_values(column: Any) -> AnyArray:
    """Return a column as NumPy values; nulls of Arrow become NaN, or None in text."""
    if not hasattr(column, "dtype"):  # Arrow
        return arrow_values(column)
    values: AnyArray = column.to_numpy() if hasattr(column, "to_numpy") else column
    return values


def arrow_values(column: Any) -> AnyArray:
    """Return the values of an Arrow array; nulls become NaN, or None in text."""
    if hasattr(column, "chunks"):
        parts = [arrow_values(chunk) for chunk in column.chunks]
        return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.empty(0)
    array, type_name = column, str(column.type)
    if type_name in _ARROW_TEXTS and not column.null_count:
        return _few_texts(column)
    if type_name == "bool":
        array = array.cast("int8")
    elif type_name.startswith("decimal"):
        array = array.cast("float64")
    values: AnyArray = array.to_numpy(zero_copy_only=False)
    return values.astype(bool) if type_name == "bool" and values.dtype.kind == "i" else values


def _few_texts(column: Any) -> AnyArray:
    """Return texts as an array of NumPy's, which knows their type, if there are only a few."""
    encoded = column.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    if len(distinct) > _FEW_TEXTS or max(map(len, distinct), default=0) > _SHORT_TEXT:
        objects: AnyArray = column.to_numpy(zero_copy_only=False)
        return objects
    texts: AnyArray = np.array(distinct, dtype=str)[encoded.indices.to_numpy(zero_copy_only=False)]
    return texts


def numbers_of(library: str, column: Any, rows: AnyArray | slice) -> AnyArray:
    """Return some rows of a column that `is_numeric`, with NaN for missing values."""
    # The library is given: a series of polars takes long to say what methods it lacks.
    values: AnyArray
    if library == "pandas":
        values = column.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
        return values
    if isinstance(rows, slice):
        column = column.slice(rows.start, rows.stop - rows.start)
    else:
        column = column.take(rows) if library == "arrow" else column[rows]
    values = arrow_values(column) if library == "arrow" else column.cast(float).to_numpy()
    return values


def as_floats(values: AnyArray) -> FloatArray:
    """Return values as floats, with NaN for missing ones; raise an error if they are not numbers.

    The column of them has no `refused_type`.
    """
    if values.dtype.kind == "c":
        msg = "complex numbers have no order"
        raise TypeError(msg)
    if values.dtype.kind == "O":
        values = np.where([is_missing(value) for value in values.tolist()], np.nan, values)
    return values.astype(np.float64)


def refused_type(column: Any) -> str | None:
    """Return the type of the values that floats cannot hold; None if there are none.

    Missing values do not count, nor do texts that are written as numbers, which scikit-learn
    converts. Lists and other collections do not count either: no kind of column holds those.
    """
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        return declared_type(column)
    if values.dtype.kind in NUMERIC_KINDS + "c" or _converts(np.float64, values):
        return None
    declared = getattr(column, "dtype", None)
    for value in values.tolist():
        if not is_missing(value) and _is_refused(value):
            # An array or frame of objects says nothing about the objects.
            unknown = isinstance(declared, np.dtype) or str(declared) == "Object"
            return type(value).__name__ if unknown else declared_type(column)
    return None


def declared_type(column: Any) -> str:
    """Return the type that a column says it has."""
    return str(column.dtype if hasattr(column, "dtype") else column.type)


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
