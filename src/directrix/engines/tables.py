"""Column access to tables in memory: arrays, sparse matrices, data frames and Arrow batches.

Types are recognised by their methods, so that none of these libraries is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray
from directrix.exceptions.columns import ColumnNotFoundError, NotNumericError
from directrix.rows.rows import (
    ColumnRows,
    FrameRows,
    Matrix,
    SparseRows,
    as_rows,
    canonical_csr,
    is_frame,
)

# ── Conversion of Arrow columns to NumPy values, and of vector columns to rows ────────────────────

_DENSE = 1  # type code of a dense vector in Spark ML
_UNEQUAL_LENGTHS = "the vectors of features are not all of one length"


_TEXTS = {"string", "large_string", "string_view"}
#: Number and length of texts up to which a column of them, such as labels, is an array of texts.
_FEW_TEXTS, _SHORT_TEXT = 100, 40


def arrow_values(column: Any) -> AnyArray:
    """Return the values of an Arrow array; nulls become NaN, or None in text."""
    if hasattr(column, "chunks"):
        parts = [arrow_values(chunk) for chunk in column.chunks]
        return np.concatenate(parts) if parts else np.empty(0)
    array, type_name = column, str(column.type)
    if type_name in _TEXTS and not column.null_count:
        return _texts(column)
    if type_name == "bool":
        array = array.cast("int8")
    elif type_name.startswith("decimal"):
        array = array.cast("float64")
    values: AnyArray = array.to_numpy(zero_copy_only=False)
    return values.astype(bool) if type_name == "bool" and values.dtype.kind == "i" else values


def _texts(column: Any) -> AnyArray:
    """Return texts as an array of NumPy's, which knows their type, if there are only a few."""
    encoded = column.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    if len(distinct) > _FEW_TEXTS or max(map(len, distinct), default=0) > _SHORT_TEXT:
        objects: AnyArray = column.to_numpy(zero_copy_only=False)
        return objects
    texts: AnyArray = np.array(distinct, dtype=str)[encoded.indices.to_numpy(zero_copy_only=False)]
    return texts


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


# ── Column access to tables in memory: arrays, sparse matrices, data frames and Arrow batches ─────


class SourceTable(ABC):
    """Base class for tables with named columns.

    ``beside`` holds extra columns by name, such as labels; they are not among ``columns``.
    """

    def __init__(self, data: Any, beside: Mapping[Any, Any] | None = None) -> None:
        self.data = data
        self.beside = dict(beside or {})

    @property
    @abstractmethod
    def columns(self) -> list[Any]:
        """Names of the columns; their indices in an array."""

    @abstractmethod
    def _values(self, name: Any) -> AnyArray: ...

    @abstractmethod
    def features(self, names: Sequence[Any]) -> Matrix:
        """Return some columns as ``Matrix``, without a copy of the whole table."""

    def require(self, names: Sequence[Any]) -> None:
        """Raise ColumnNotFoundError if a column is missing."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise ColumnNotFoundError(missing[0], self.columns)

    @abstractmethod
    def raw(self, names: Sequence[Any]) -> Any:
        """Return some columns as they are, in the library of the table."""

    def canonical(self, name: Any) -> Any:
        """Return the canonical name of a column (a negative index has a positive one)."""
        return name

    def values(self, name: Any) -> Any:
        """Return a column as NumPy values."""
        if name in self.beside:
            return self.beside[name]
        self.require([name])
        return self._values(name)


class FrameTable(SourceTable):
    """Table of a pandas or polars data frame."""

    @property
    def columns(self) -> list[Any]:  # noqa: D102 - inherited
        return list(self.data.columns)

    def _values(self, name: Any) -> AnyArray:
        values: AnyArray = self.data[name].to_numpy()
        return values

    def features(self, names: Sequence[Any]) -> Matrix:  # noqa: D102 - inherited
        return FrameRows(self.data, names)

    def raw(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        self.require(names)
        return self.data[list(names)]


class ArrowTable(SourceTable):
    """Table of an Arrow table or record batch."""

    @property
    def columns(self) -> list[Any]:  # noqa: D102 - inherited
        return list(self.data.schema.names)

    def _values(self, name: Any) -> AnyArray:
        return arrow_values(self.data.column(name))

    def features(self, names: Sequence[Any]) -> Matrix:  # noqa: D102 - inherited
        self.require(names)
        if len(names) == 1:
            rows = vector_rows(self.data.column(names[0]))
            if rows is not None:
                return rows
        return ArrowRows(self.data, names)

    def raw(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        self.require(names)
        return self.data.select(list(names))


class ArrayTable(SourceTable):
    """Table of a NumPy array or sparse matrix, whose columns are numbered."""

    @property
    def columns(self) -> list[Any]:  # noqa: D102 - inherited
        return list(range(self.data.shape[1]))

    def values(self, name: Any) -> Any:  # noqa: D102 - inherited
        if isinstance(name, str):
            msg = f"{name!r} names a column, but arrays have none: give its index, or the values"
            raise TypeError(msg)
        return super().values(self.canonical(name))

    def canonical(self, name: Any) -> Any:  # noqa: D102 - inherited
        if isinstance(name, int | np.integer) and -self.data.shape[1] <= name < 0:
            return int(name) + self.data.shape[1]
        return name

    def _values(self, name: Any) -> AnyArray:
        values: AnyArray
        if sparse.issparse(self.data):
            values = sparse.csr_array(self.data)[:, [name]].toarray()[:, 0]
        else:
            values = self.data[:, name]
        return values

    def features(self, names: Sequence[Any]) -> Matrix:  # noqa: D102 - inherited
        columns = np.arange(self.data.shape[1])[list(names)]
        if len(columns) == self.data.shape[1] and (np.diff(columns) == 1).all():
            return as_rows(self.data)
        if sparse.issparse(self.data):
            return as_rows(sparse.csr_array(self.data)[:, columns])
        if self.data.dtype == object:  # the other columns may hold text
            return as_rows(self.data[:, columns])
        return ColumnRows(self.data, columns)

    def raw(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        return self.data[:, list(names)]


class ArrowRows(Matrix):
    """Columns of an Arrow table or batch; blocks are copies, and chunks are not concatenated."""

    def __init__(self, table: Any, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.shape = (table.num_rows, len(self.names))
        chosen = table.select(list(names))
        batches = chosen.to_batches() if hasattr(chosen, "to_batches") else [chosen]
        self.chunks = [[arrow_values(column) for column in batch.columns] for batch in batches]
        self.starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
        dtypes, refused = set(), {}
        for columns in self.chunks:
            for name, values in zip(names, columns, strict=True):
                if values.dtype.kind not in "biuf":
                    refused[name] = str(table.schema.field(name).type)
                dtypes.add(values.dtype)
        if refused:
            raise NotNumericError(refused, refused.values())
        self.dtype = np.float32 if dtypes == {np.dtype(np.float32)} else np.float64

    def block(self, start: int, stop: int) -> AnyArray:  # noqa: D102 - inherited
        # Column-major, as Arrow stores them: transposing would cost more than most of the work.
        block = np.empty((stop - start, self.shape[1]), dtype=self.dtype, order="F")
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, stop, side="left"))
        for chunk in range(first, last):
            offset = int(self.starts[chunk])
            low, high = max(start, offset), min(stop, int(self.starts[chunk + 1]))
            for index, values in enumerate(self.chunks[chunk]):
                block[low - start : high - start, index] = values[low - offset : high - offset]
        return block

    def take(self, index: AnyArray) -> AnyArray:  # noqa: D102 - inherited
        rows = np.empty((len(index), self.shape[1]), dtype=self.dtype, order="F")
        limits = np.searchsorted(index, self.starts)
        for chunk, (low, high) in enumerate(pairwise(limits.tolist())):
            if low < high:
                within = index[low:high] - self.starts[chunk]
                for column, values in enumerate(self.chunks[chunk]):
                    rows[low:high, column] = values[within]
        return rows


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


def as_table(data: Any, beside: Mapping[Any, Any] | None = None) -> SourceTable:
    """Wrap rows in memory as a `Table`."""
    if isinstance(data, SourceTable):
        return data
    if is_arrow(data):
        return ArrowTable(data, beside)
    if is_frame(data):
        return FrameTable(data, beside)
    if not is_table(data):
        msg = (
            f"cannot read rows from {type(data).__name__}: a chunk is an array, a sparse matrix, "
            "a data frame, an Arrow batch, or a tuple of arrays (X, y)"
        )
        raise TypeError(msg)
    if len(data.shape) != 2:
        msg = f"a table must have two dimensions, rows and columns, not {len(data.shape)}"
        raise ValueError(msg)
    return ArrayTable(data, beside)
