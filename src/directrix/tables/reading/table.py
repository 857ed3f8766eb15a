"""Table: rows of raw columns (numbers, booleans, texts, dates) as one array with missing values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.exceptions.columns import ColumnKindError, ColumnNotFoundError
from directrix.moments.key_hash import key_hash
from directrix.moments.row_hash import mix_bits
from directrix.moments.rows import is_frame, refuse_lazy
from directrix.tables.reading._columns import read_array, read_arrow, read_pandas, read_polars
from directrix.tables.reading._objects import (
    Reading,
    number_of_boolean,
    number_of_date,
    numbers_of_texts,
    texts_of_numbers,
)

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

#: Kinds that another kind can be read as: a column of 0 and 1 with missing values may be either.
_READ_AS = {"number": {"boolean", "text"}, "boolean": {"number", "text"}}
#: Kinds that texts can be read as: services and CSV files write dates and booleans as text.
_OF_TEXTS = {"boolean": number_of_boolean, "date": number_of_date}
#: Bits of a missing value in hashes.
_MISSING = np.uint64(0xA0761D6478BD642F)
_NOUNS = {"number": "numbers", "boolean": "booleans", "text": "texts", "date": "dates"}


@dataclass(frozen=True)
class Column:
    """Name and kind of a column of a table.

    Parameters
    ----------
    name : str
    kind : {"number", "boolean", "text", "date"}
    levels : tuple of str
        Sorted distinct texts; empty unless the kind is text.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Raw columns of a table as float64 values.

    Numbers are as they are, also infinite ones; a boolean is 0 or 1, a date the number of days
    since 1970-01-01 with its fraction (in UTC if it has a time zone), a duration or time of day a
    number of days, and a text the index of the text among the ``levels`` of its column. NaN is
    missing.

    Parameters
    ----------
    columns : tuple of Column
    values : array of shape (n, d)
        Stored column by column.
    named : bool
        Whether the columns had names; those of arrays are called x0, x1, …

    Examples
    --------
    >>> from directrix.tables import Table
    >>> table = Table.of([[1.5, "no"], [None, "yes"]])
    >>> table.columns
    (Column(name='x0', kind='number', levels=()),
     Column(name='x1', kind='text', levels=('no', 'yes')))
    >>> table.values
    array([[1.5, 0. ],
           [nan, 1. ]])
    """

    columns: tuple[Column, ...]
    values: FloatArray
    named: bool = False

    @classmethod
    def of(cls, X: Any, columns: Sequence[Column] | None = None, *, by_name: bool = True) -> Table:
        """Read a table.

        Parameters
        ----------
        X : data frame, Arrow table or batch, array, sparse matrix, list of rows, or Table
            pandas and polars data frames of any column type; arrays of numbers, texts or objects.
        columns : sequence of Column, optional
            Columns of a table read earlier: the same columns are read, as the same kinds, in the
            same order. Levels may differ. Numbers and booleans can be read as texts and as each
            other, and texts as dates (in ISO 8601) and booleans (True and False).
        by_name : bool
            Whether columns are matched by name if those of ``X`` have names, rather than by
            position.

        Raises
        ------
        ColumnNotFoundError
            If a column is missing.
        ColumnKindError
            If a column cannot be read, or not as the kind it has in ``columns``.
        """
        source = _source(X)
        if columns is None:
            index: Sequence[int] = range(len(source.names))
            kinds: Sequence[str | None] = [None] * len(source.names)
            names: Sequence[str] = source.names
        else:
            names, kinds = [c.name for c in columns], [c.kind for c in columns]
            index = source.index(names, by_name=by_name)
        values = np.empty((source.n_rows, len(names)), order="F")
        found = []
        for k, (position, name, kind) in enumerate(zip(index, names, kinds, strict=True)):
            reading = source.read(position, name, kind)
            if kind is not None:
                reading = _as_kind(reading, name, kind)
            values[:, k] = reading.values
            found.append(Column(name, reading.kind, reading.levels))
        return cls(tuple(found), values, source.named)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def take(self, rows: AnyArray) -> Table:
        """Return some rows, given by index or mask, with the same columns and levels."""
        return Table(self.columns, np.asfortranarray(self.values[rows]), self.named)

    def row_hashes(self) -> AnyArray:
        """Return an unsigned 64-bit hash of each row, which does not depend on the other rows.

        Texts hash by their characters, whatever the levels of the table; a missing value hashes
        like no other value.
        """
        hashes = np.zeros(len(self), dtype=np.uint64)
        for column, values in zip(self.columns, self.values.T, strict=True):
            bits = (values + 0.0).view(np.uint64)  # minus zero plus zero is zero
            if column.kind == "text":
                of_levels = key_hash([np.array(column.levels, dtype=object)])
                codes = np.nan_to_num(values, nan=len(column.levels)).astype(np.intp)
                bits = np.append(of_levels, _MISSING)[codes]
            else:
                bits[np.isnan(values)] = _MISSING
            hashes = mix_bits(hashes + bits)
        return hashes

    def with_levels_of(self, rows: AnyArray) -> Table:
        """Return all rows with the levels of some of them only; other texts become missing.

        The index of a text then does not depend on rows that do not count.
        """
        values, columns = self.values.copy(order="F"), []
        for column, texts in zip(self.columns, values.T, strict=True):
            if column.kind != "text":
                columns.append(column)
                continue
            present = ~np.isnan(texts)
            used = np.unique(texts[rows & present]).astype(np.intp)
            index = np.full(len(column.levels), np.nan)
            index[used] = np.arange(len(used))
            texts[present] = index[texts[present].astype(np.intp)]
            columns.append(replace(column, levels=tuple(column.levels[k] for k in used)))
        return Table(tuple(columns), values, self.named)


@dataclass(frozen=True, eq=False)
class _Source:
    """Columns that are read one by one.

    Parameters
    ----------
    names : tuple of str
    n_rows : int
    named : bool
        Whether the names are those of the source, not numbers.
    read : callable
        Of position, name and expected kind.
    """

    names: tuple[str, ...]
    n_rows: int
    named: bool
    read: Callable[[int, str, str | None], Reading]

    def index(self, names: Sequence[str], *, by_name: bool) -> Sequence[int]:
        """Return the positions of the columns of an earlier table."""
        if self.named and by_name:
            position = {name: k for k, name in enumerate(self.names)}
            missing = [name for name in names if name not in position]
            if missing:
                raise ColumnNotFoundError(missing[0], self.names)
            return [position[name] for name in names]
        if len(self.names) != len(names):
            msg = (
                f"X has {len(self.names)} features, but Table is expecting {len(names)} features "
                "as input"
            )
            raise ValueError(msg)
        return range(len(names))


def has_names(X: Any) -> bool:
    """Return whether the columns of a table have names, by which they can be matched."""
    is_table = isinstance(X, Table) or is_frame(X) or _is_arrow(X)
    return is_table and _source(X).named


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "num_rows") and hasattr(X, "schema")


def _source(X: Any) -> _Source:
    refuse_lazy(X)
    if isinstance(X, Table):
        return _Source(X.names, len(X), X.named, _reader_of_table(X))
    if is_frame(X):
        names, named = _names(list(X.columns))
        if hasattr(X, "iloc"):
            return _Source(
                names, len(X), named, lambda k, name, kind: read_pandas(X.iloc[:, k], name, kind)
            )
        series = X.get_columns()
        return _Source(
            names, len(X), named, lambda k, name, kind: read_polars(series[k], name, kind)
        )
    if _is_arrow(X):
        names, named = _names(X.schema.names)
        return _Source(
            names, X.num_rows, named, lambda k, name, kind: read_arrow(X.column(k), name, kind)
        )
    array = _matrix(X)
    names = tuple(f"x{k}" for k in range(array.shape[1]))
    return _Source(
        names,
        array.shape[0],
        named=False,
        read=lambda k, name, kind: read_array(array[:, k], name, kind),
    )


def _reader_of_table(table: Table) -> Callable[[int, str, str | None], Reading]:
    def read(k: int, name: str, kind: str | None) -> Reading:
        del name, kind
        return Reading(table.columns[k].kind, table.values[:, k], table.columns[k].levels)

    return read


def _names(names: list[Any]) -> tuple[tuple[str, ...], bool]:
    """Return the column names, and whether they are texts; numbers count as no names."""
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        msg = (
            f"some names of columns are texts and some are not: {names}; give every column a text, "
            "for instance by X.columns = X.columns.astype(str)"
        )
        raise TypeError(msg)
    if not any(texts):
        return tuple(f"x{k}" for k in range(len(names))), False
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"column {twice!r} occurs twice; give every column a different name"
        raise ValueError(msg)
    return tuple(map(str, names)), True


def _matrix(X: Any) -> AnyArray:
    """Return anything else as a two-dimensional array; lists keep the type of every value."""
    if sparse.issparse(X):
        dense: AnyArray = sparse.csc_array(X).toarray(order="F")
        return dense
    array = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        array = np.asarray(X, dtype=object)  # NumPy turns numbers into text in mixed lists
    if array.ndim != 2:
        msg = (
            f"a table must have two dimensions, rows and columns, not {array.ndim}. Reshape your "
            "data with X.reshape(-1, 1) if it is a single column, or X.reshape(1, -1) if it is a "
            "single row"
        )
        raise ValueError(msg)
    return array


def _as_kind(reading: Reading, column: str, kind: str) -> Reading:
    """Return a column as another kind, or raise `ColumnKindError`."""
    if reading.kind == kind:
        return reading
    if reading.kind == "text" and kind in _OF_TEXTS:
        try:
            numbers = numbers_of_texts(reading, _OF_TEXTS[kind])
        except ValueError:
            raise ColumnKindError(column, _NOUNS["text"], _NOUNS[kind]) from None
        return Reading(kind, numbers)
    if kind not in _READ_AS.get(reading.kind, set()) and not np.isnan(reading.values).all():
        raise ColumnKindError(column, _NOUNS[reading.kind], _NOUNS[kind])
    if kind == "text" and reading.kind != "date":
        return texts_of_numbers(reading, column)
    return Reading(kind, reading.values)
