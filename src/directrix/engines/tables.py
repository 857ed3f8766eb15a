"""Column access to tables in memory: arrays, sparse matrices, data frames and Arrow batches.

Types are recognised by their methods, so that none of these libraries is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.engines.filters.row_filter import RowFilter
from directrix.engines.vectors import arrow_values, vector_rows
from directrix.exceptions.columns import ColumnNotFoundError, NotNumericError
from directrix.rows.rows import ColumnRows, FrameRows, Rows, as_rows, is_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from directrix._typing import AnyArray


class Table(ABC):
    """Base class for tables with named columns.

    Parameters
    ----------
    data : array, sparse matrix, data frame or Arrow batch
        The rows.
    beside : mapping, optional
        Extra columns by name, such as labels; they are not among ``columns``.
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
    def features(self, names: Sequence[Any]) -> Rows:
        """Return some columns as ``Rows``, without a copy of the whole table."""

    @abstractmethod
    def in_pandas(self, names: Sequence[Any]) -> Any:
        """Return some columns as input of a transformer: a pandas data frame, or an array."""

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
        if name not in self.columns:
            raise ColumnNotFoundError(name, self.columns)
        return self._values(name)

    def where(self, row_filter: RowFilter) -> Table | None:
        """Return a table of the rows that pass a filter; None if no row does."""
        passes = self._mask(row_filter)
        if passes.all() or not passes.any():
            return self if passes.any() else None
        beside = {name: _passing(name, values, passes) for name, values in self.beside.items()}
        return type(self)(self._passing(passes), beside)

    def _mask(self, row_filter: RowFilter) -> AnyArray:
        return row_filter.mask(self.values)

    def _passing(self, passes: AnyArray) -> Any:
        return self.data[passes]


class FrameTable(Table):
    """Table of a pandas or polars data frame."""

    @property
    def columns(self) -> list[Any]:  # noqa: D102 - inherited
        return list(self.data.columns)

    def _values(self, name: Any) -> AnyArray:
        values: AnyArray = self.data[name].to_numpy()
        return values

    def features(self, names: Sequence[Any]) -> Rows:  # noqa: D102 - inherited
        return FrameRows(self.data, names)

    def raw(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        self.require(names)
        return self.data[list(names)]

    def in_pandas(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        chosen = self.raw(names)
        return chosen.to_pandas() if hasattr(chosen, "to_pandas") else chosen

    def _mask(self, row_filter: RowFilter) -> AnyArray:
        self.require(row_filter.columns)
        if not hasattr(self.data, "get_column"):
            return row_filter.mask(self._exact)
        # NumPy has no missing whole numbers, so polars compares its columns itself.
        passes: AnyArray = self.data.select(row_filter.polars(self.data.schema)).to_numpy()[:, 0]
        return passes

    def _exact(self, name: Any) -> AnyArray:
        """Return a column; whole numbers with missing values become objects, not floats."""
        column = self.data[name]
        kinds = {} if isinstance(column.dtype, np.dtype) else {"dtype": object}
        values: AnyArray = column.to_numpy(**kinds)
        return values

    def _passing(self, passes: AnyArray) -> Any:
        return self.data.filter(passes) if hasattr(self.data, "get_column") else self.data[passes]


class ArrowTable(Table):
    """Table of an Arrow table or record batch."""

    @property
    def columns(self) -> list[Any]:  # noqa: D102 - inherited
        return list(self.data.schema.names)

    def _values(self, name: Any) -> AnyArray:
        return arrow_values(self.data.column(name))

    def features(self, names: Sequence[Any]) -> Rows:  # noqa: D102 - inherited
        self.require(names)
        if len(names) == 1:
            rows = vector_rows(self.data.column(names[0]))
            if rows is not None:
                return rows
        return ArrowRows(self.data, names)

    def raw(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        self.require(names)
        return self.data.select(list(names))

    def in_pandas(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        return self.raw(names).to_pandas()

    def _mask(self, row_filter: RowFilter) -> AnyArray:
        self.require(row_filter.columns)
        passes = row_filter.arrow(self.data.schema, self.data.column).fill_null(False)  # noqa: FBT003
        return np.asarray(passes, dtype=bool)

    def _passing(self, passes: AnyArray) -> Any:
        import pyarrow as pa

        return self.data.filter(pa.array(passes))


class ArrayTable(Table):
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

    def features(self, names: Sequence[Any]) -> Rows:  # noqa: D102 - inherited
        columns = (
            np.arange(self.data.shape[1])[np.asarray(names)]
            if names
            else np.empty(0, dtype=np.intp)
        )
        if len(columns) == self.data.shape[1] and (np.diff(columns) == 1).all():
            return as_rows(self.data)
        if sparse.issparse(self.data):
            return as_rows(sparse.csr_array(self.data)[:, columns])
        if self.data.dtype == object:  # the other columns may hold text
            return as_rows(self.data[:, columns])
        return ColumnRows(self.data, columns)

    def raw(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        return self.data[:, list(names)]

    def in_pandas(self, names: Sequence[Any]) -> Any:  # noqa: D102 - inherited
        return self.raw(names)


class ArrowRows(Rows):
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


def _passing(name: Any, values: Any, passes: AnyArray) -> Any:
    """Return the values of an extra column in the rows that pass."""
    if values is None:
        return None
    if len(values) != len(passes):
        msg = f"{name[0]}= has {len(values):,} values, but there are {len(passes):,} rows"
        raise ValueError(msg)
    return np.asarray(values)[passes]


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


def as_table(data: Any, beside: Mapping[Any, Any] | None = None) -> Table:
    """Wrap rows in memory as a `Table`."""
    if isinstance(data, Table):
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
