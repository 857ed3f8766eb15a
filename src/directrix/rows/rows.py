"""Matrix: block-wise access to arrays, sparse matrices and data frames of features.

Rows are read only in blocks, so that no input is ever copied whole. Libraries are recognised by
their methods, and NumPy reads the columns of all of them, so that none is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    UnusableColumnsError,
)
from directrix.rows.frames import (
    NUMERIC_KINDS,
    Frame,
    as_floats,
    declared_type,
    in_memory,
    is_arrow,
    is_frame,
    is_numeric,
    numbers_of,
    refused_type,
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
    """Columns of numbers of a pandas or polars data frame, or of an Arrow table or batch.

    Blocks are copies.
    """

    def __init__(self, data: Any, columns: Sequence[Any] | None = None) -> None:
        frame = Frame.of(data)
        labels = list(frame.labels if columns is None else columns)
        self.columns = [frame.column(k) for k in frame.positions(labels)]
        wanted = set(labels)
        if not len(wanted) == len(labels) == sum(name in wanted for name in frame.labels):
            msg = f"a column occurs twice in {labels}; give every column a different name"
            raise ValueError(msg)
        refused = {
            name: column
            for name, column in zip(labels, self.columns, strict=True)
            if not is_numeric(column)
        }
        if refused:
            dtypes = [refused_type(each) or declared_type(each) for each in refused.values()]
            raise NotNumericError(refused, dtypes)
        self.library, self.shape = frame.library, (frame.n_rows, len(labels))
        if all(isinstance(name, str) for name in labels):
            self.names = tuple(labels)
        in_arrow = {str(column.type) for column in self.columns} if frame.library == "arrow" else {}
        self.dtype = np.float32 if in_arrow == {"float"} else np.float64
        # Column-major, as Arrow stores them: transposing would cost more than most of the work.
        self.order: Literal["F", "C"] = "F" if in_arrow else "C"

    def block(self, start: int, stop: int) -> AnyArray:  # noqa: D102 - inherited
        return self._values(slice(start, stop), stop - start)

    def take(self, index: AnyArray) -> AnyArray:  # noqa: D102 - inherited
        return self._values(index, len(index))

    def _values(self, rows: AnyArray | slice, n_rows: int) -> AnyArray:
        block = np.empty((n_rows, self.shape[1]), dtype=self.dtype, order=self.order)
        for index, column in enumerate(self.columns):
            # Missing values become NaN, which is refused later with the name of the column.
            block[:, index] = numbers_of(self.library, column, rows)
        return block


def as_rows(data: Any) -> Matrix:
    """Wrap an array, sparse matrix, data frame or Arrow table of features as ``Matrix``."""
    if isinstance(data, Matrix):
        return data
    data = in_memory(data)
    if sparse.issparse(data):
        return SparseRows(canonical_csr(data))
    return FrameRows(data) if is_frame(data) or is_arrow(data) else ArrayRows(np.asarray(data))


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
        data = in_memory(data)
        is_array = not (is_frame(data) or is_arrow(data))
        if sparse.issparse(data) or (is_array and np.asarray(data).dtype.kind in NUMERIC_KINDS):
            return not_finite_error(as_rows(data))
        frame = Frame.of(data)
        columns = [frame.column(k) for k in range(len(frame.labels))]
        types = {k: refused_type(column) for k, column in enumerate(columns)}
        refused = {k: dtype for k, dtype in types.items() if dtype is not None}
        if refused:
            return NotNumericError([frame.labels[k] for k in refused], refused.values())
        return not_finite_error(_AnyRows(columns, frame)) if columns else None
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


class _AnyRows(Matrix):
    """Columns of any table that have no `refused_type`; blocks are copies."""

    def __init__(self, columns: Sequence[Any], frame: Frame) -> None:
        self.columns, self.names = list(map(np.asarray, columns)), frame.labels
        self.shape = (frame.n_rows, len(columns))

    def block(self, start: int, stop: int) -> FloatArray:
        return np.column_stack([as_floats(column[start:stop]) for column in self.columns])
