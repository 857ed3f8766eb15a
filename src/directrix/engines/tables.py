"""Tables as engines read them: columns by name, features as a matrix, columns of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray
from directrix.rows.frames import Frame, column_values, is_table
from directrix.rows.rows import ColumnRows, FrameRows, Matrix, SparseRows, as_rows, canonical_csr

# ── Columns of vectors: lists of numbers, and those of Spark ML ───────────────────────────────────

_DENSE = 1  # type code of a dense vector in Spark ML
_UNEQUAL_LENGTHS = "the vectors of features are not all of one length"


def vector_rows(column: Any) -> Matrix | None:
    """Return the rows of a column of vectors, or None if it holds plain values.

    Vectors are lists of numbers, or the vector type of Spark ML: a structure of type, size, indices
    and values.
    """
    array = _combine_chunks(column)
    type_name = str(array.type)
    is_list = type_name.startswith(("list", "large_list", "fixed_size_list"))
    is_ml = type_name.startswith("struct") and "indices" in type_name and "values" in type_name
    if not (is_list or is_ml):
        return None
    if array.null_count:
        msg = f"{array.null_count} rows have no vector of features; fill or drop them first"
        raise ValueError(msg)
    if is_list:
        return as_rows(_matrix(array))
    vector_types = array.field("type").to_numpy(zero_copy_only=False)
    values = array.field("values")
    if (vector_types == _DENSE).all():
        return as_rows(_matrix(values))
    return _mixed_vectors(array, vector_types == _DENSE)


def vector_length(column: Any) -> int:
    """Return the number of values in the first row of a non-empty column."""
    type_name = str(column.type)
    if type_name.startswith("struct"):
        names = [field.name for field in column.type]
        return vector_length(column.field("values")) if "values" in names else 1
    if not type_name.startswith(("list", "large_list", "fixed_size_list")):
        return 1
    return int(_lengths(column.slice(0, 1))[0])


def _combine_chunks(column: Any) -> Any:
    if not hasattr(column, "chunks"):
        return column
    combined = column.combine_chunks()
    # Some releases of pyarrow return a chunked array with one chunk.
    return combined.chunk(0) if hasattr(combined, "chunks") else combined


def _matrix(lists: Any) -> AnyArray:
    lengths = _lengths(lists)
    if (lengths != lengths[:1]).any():
        raise ValueError(_UNEQUAL_LENGTHS)
    values: AnyArray = lists.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(len(lists), -1) if len(lists) else np.empty((0, 0))


def _mixed_vectors(array: Any, dense: AnyArray) -> Matrix:
    """Return Spark ML vectors, dense and sparse, as rows of a CSR matrix."""
    values = array.field("values")
    lengths = _lengths(values)
    starts = np.append(0, np.cumsum(lengths))
    data = values.flatten().to_numpy(zero_copy_only=False)
    sizes = np.nan_to_num(array.field("size").to_numpy(zero_copy_only=False))
    widths = np.where(dense, lengths, sizes).astype(np.int64)
    if widths.min() != widths.max():
        raise ValueError(_UNEQUAL_LENGTHS)
    width = int(widths[0])
    column = np.arange(len(data)) - np.repeat(starts[:-1], lengths)
    column[np.repeat(~dense, lengths)] = (
        array.field("indices").flatten().to_numpy(zero_copy_only=False)
    )
    matrix = sparse.csr_array((data, column, starts), shape=(len(dense), width))
    return SparseRows(canonical_csr(matrix))


def _lengths(lists: Any) -> AnyArray:
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    whole: AnyArray = np.nan_to_num(lengths).astype(np.int64)
    return whole


# ── Tables in memory: columns by name, and features ───────────────────────────────────────────────


class SourceTable:
    """A table in memory: columns by name (in arrays by number), and features as a matrix.

    ``beside`` holds extra columns by name, such as labels; they are not among ``columns``.
    """

    def __init__(self, data: Any, beside: Mapping[Any, Any] | None = None) -> None:
        self.frame = Frame.of(data)
        self.data = self.frame.native
        self.columns = list(self.frame.labels)
        self.beside = dict(beside or {})

    def canonical(self, name: Any) -> Any:
        """Return the canonical name of a column (a negative index has a positive one)."""
        if self.frame.library == "numpy" and isinstance(name, int | np.integer):
            n_columns = len(self.columns)
            return int(name) + n_columns if -n_columns <= name < 0 else name
        return name

    def values(self, name: Any) -> Any:
        """Return a column as NumPy values."""
        if self.frame.library == "numpy" and isinstance(name, str):
            msg = f"{name!r} names a column, but arrays have none: give its index, or the values"
            raise TypeError(msg)
        if name in self.beside:
            return self.beside[name]
        (position,) = self.frame.positions([self.canonical(name)])
        return column_values(self.frame.column(position))

    def features(self, names: Sequence[Any]) -> Matrix:
        """Return some columns as ``Matrix``, without a copy of the whole table."""
        if self.frame.library != "numpy":
            if self.frame.library == "arrow" and len(names) == 1:
                (position,) = self.frame.positions(names)
                rows = vector_rows(self.frame.column(position))
                if rows is not None:
                    return rows
            return FrameRows(self.frame, names)
        columns = np.arange(len(self.columns))[list(names)]
        if len(columns) == len(self.columns) and (np.diff(columns) == 1).all():
            return as_rows(self.data)
        if sparse.issparse(self.data):
            return as_rows(sparse.csr_array(self.data)[:, columns])
        if self.data.dtype == object:  # the other columns may hold text
            return as_rows(self.data[:, columns])
        return ColumnRows(self.data, columns)

    def raw(self, names: Sequence[Any]) -> Any:
        """Return some columns as they are, in the library of the table."""
        return self.frame.select(names)


def as_table(data: Any, beside: Mapping[Any, Any] | None = None) -> SourceTable:
    """Wrap rows in memory as a `SourceTable`."""
    if isinstance(data, SourceTable):
        return data
    if not is_table(data):
        msg = (
            f"cannot read rows from {type(data).__name__}: a chunk is an array, a sparse matrix, "
            "a data frame, an Arrow batch, or a tuple of arrays (X, y)"
        )
        raise TypeError(msg)
    return SourceTable(data, beside)
