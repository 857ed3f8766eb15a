"""Rows: block-wise access to arrays, sparse matrices and data frames of features.

Rows are read only in blocks, so that no input is ever copied whole. Data frames are recognised by
their methods, so that neither pandas nor polars is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.exceptions.columns import ColumnNotFoundError, LazyTableError, NotNumericError
from directrix.moments._column_values import NUMERIC_KINDS, refused_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from directrix._typing import AnyArray, FloatArray

_VALUES_AT_A_TIME = 1 << 18


class Rows(ABC):
    """Base class for matrices of features that return blocks of rows as arrays.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of columns.
    names : tuple of str or None
        Column names, if there are any.
    """

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


class ArrayRows(Rows):
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


class SparseRows(Rows):
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

    def stored(self) -> Iterator[tuple[AnyArray, AnyArray, FloatArray]]:  # noqa: D102 - inherited
        matrix = self.matrix.tocoo()
        yield matrix.row, matrix.col, matrix.data.astype(np.float64)


class FrameRows(Rows):
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
        frame = self.frame
        rows = frame.iloc[start:stop] if hasattr(frame, "iloc") else frame[start:stop]
        block = np.empty((stop - start, self.shape[1]))
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


def as_rows(data: Any) -> Rows:
    """Wrap an array, sparse matrix or data frame of features as ``Rows``."""
    if isinstance(data, Rows):
        return data
    refuse_lazy(data)
    if sparse.issparse(data):
        return SparseRows(canonical_csr(data))
    if is_frame(data):
        return FrameRows(data)
    return ArrayRows(np.asarray(data))


def is_frame(data: Any) -> bool:
    """Return whether ``data`` is a pandas or polars data frame."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "get_column"))


def refuse_lazy(data: Any) -> None:
    """Raise `LazyTableError` for a lazy frame, whose rows are not in memory."""
    if type(data).__name__ == "LazyFrame":
        library = type(data).__module__.partition(".")[0]
        kind = f"{library} LazyFrame"
        raise LazyTableError(kind)


def feature_names_of(data: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame or Arrow table; None if they have none."""
    if is_frame(data):
        names = list(data.columns)
    elif hasattr(data, "num_rows") and hasattr(data, "schema"):
        names = list(data.schema.names)
    else:
        return None
    return tuple(names) if all(isinstance(name, str) for name in names) else None


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
