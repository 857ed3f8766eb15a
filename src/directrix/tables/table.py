"""Table: rows of raw columns (numbers, booleans, texts, dates) as one array with missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import compress, pairwise
from numbers import Complex, Integral, Real
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions.columns import ColumnKindError
from directrix.rows.frames import Frame, arrow_values, feature_names_of, texts_or_none
from directrix.rows.keys import key_hash, mix_bits
from directrix.rows.labels import is_missing

# ── Dates and durations as numbers of days ────────────────────────────────────────────────────────

_EPOCH = date(1970, 1, 1).toordinal()
_MICROSECONDS = 86_400 * 10**6
#: Units of a day in each time unit of NumPy.
_PER_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86_400}
_PER_DAY |= {
    unit: 86_400 * 1000**k for k, unit in enumerate(("ms", "us", "ns", "ps", "fs"), start=1)
}


def days_of_times(times: AnyArray) -> FloatArray:
    """Return dates as days since 1970-01-01, or durations as days; NaT becomes NaN.

    Whole days and the rest are converted separately: the same time in another unit (seconds,
    microseconds, nanoseconds) gives the same number, to the last bit. Dates with a time zone must
    be given in UTC.
    """
    unit, _ = np.datetime_data(times.dtype)
    unit = unit if unit in _PER_DAY else "D"  # years, months and weeks are whole days
    times = times.astype(f"{times.dtype.kind}8[{unit}]")  # not, say, units of 10 ms
    per_day = _PER_DAY[unit]
    whole, rest = np.divmod(times.astype(np.int64), per_day)
    days: FloatArray = whole + rest / per_day
    days[np.isnat(times)] = np.nan
    return days


def days_of(value: Any) -> float:
    """Return one date, time of day or duration as days, in the same way as `days_of_times`."""
    if hasattr(value, "to_datetime64"):  # a pandas Timestamp has nanoseconds
        value = value.to_datetime64()
    elif hasattr(value, "to_timedelta64"):
        value = value.to_timedelta64()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(days_of_times(np.array([value]))[0])
    whole, rest = _EPOCH, timedelta(0)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC)
        whole, value = value.toordinal(), value.time()
    elif isinstance(value, date):
        whole, value = value.toordinal(), time()
    if isinstance(value, time):
        rest = timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
    elif isinstance(value, timedelta):
        whole, rest = _EPOCH + value.days, value - timedelta(days=value.days)
    return whole - _EPOCH + rest / timedelta(days=1)


def date_text(days: float) -> str:
    """Return a number of days since 1970-01-01 as a date, with the time of day if there is one."""
    whole, rest = divmod(days, 1.0)
    microseconds = round(rest * _MICROSECONDS)
    moment = np.datetime64(int(whole), "D") + np.timedelta64(microseconds, "us")
    day, _, clock = str(moment).partition("T")
    clock = clock.rstrip("0").removesuffix(".") if "." in clock else clock
    hours, minutes, seconds = clock.split(":") if clock else ("", "", "")
    clock = clock if "." in seconds else f"{hours}:{minutes}:{seconds:0<2}"
    return day if microseconds == 0 else f"{day} {clock}"


# ── Columns of Python objects: their kind, and their values as numbers or texts ───────────────────

_NARROW = (np.float32, np.float16)


class Reading(NamedTuple):
    """Values of a column as they were read.

    The kind is "number", "boolean", "text" or "date". Values are numbers, 0 and 1, days since
    1970-01-01, or indices into the sorted distinct ``levels`` of texts; NaN is missing.
    """

    kind: str
    values: FloatArray
    levels: tuple[str, ...] = ()


def read_objects(values: Sequence[Any], column: str, expected: str | None) -> Reading:
    """Return Python objects as a column of the kind that all of them have, otherwise as texts.

    None, NaN, NaT and NA are missing. The kind that the column had in an earlier table is
    ``expected``; its name is for errors.
    """
    present = [None if is_missing(value) else value for value in values]
    types = {type(value) for value in present} - {type(None)}
    _refuse_types([member.__name__ for member in types], column)
    if expected != "text":
        for kind, bases, number_of in _KINDS:
            if types and all(issubclass(member, bases) for member in types):
                return Reading(kind, _numbers(present, number_of, column))
    if any(issubclass(member, Complex) and not issubclass(member, Real) for member in types):
        msg = f"Complex data not supported: column {column!r} holds complex numbers"
        raise ValueError(msg)
    if types == {str}:
        return read_factor(present)
    return read_factor([None if value is None else text_of(value, column) for value in present])


def read_factor(texts: Sequence[str | None]) -> Reading:
    """Return texts as a column of indices into the sorted distinct texts; None is missing."""
    index: dict[str | None, int] = {}
    codes = np.fromiter(
        (index.setdefault(text, len(index)) for text in texts), dtype=np.int64, count=len(texts)
    )
    return sorted_levels(codes, list(index))


def sorted_levels(codes: AnyArray, texts: Sequence[str | None]) -> Reading:
    """Return a column of texts given by their codes in any order.

    ``codes`` is the index of the text of each row, −1 where it is missing. A text may occur more
    than once, or in no row; None is missing.
    """
    used = np.zeros(len(texts) + 1, dtype=bool)
    used[codes] = True
    index = [k for k in np.flatnonzero(used[:-1]).tolist() if texts[k] is not None]
    index.sort(key=texts.__getitem__)  # type: ignore[arg-type] # of texts only
    ordered = [texts[k] for k in index]
    is_first = np.array([a != b for a, b in pairwise([None, *ordered])], dtype=bool)
    ranks = np.full(len(texts) + 1, np.nan)
    ranks[index] = np.cumsum(is_first) - 1.0
    return Reading("text", ranks[codes], tuple(compress(ordered, is_first)))  # type: ignore[arg-type]


def text_of(value: Any, column: str) -> str:
    """Return a value as text: equal numbers have the same text, whatever their types.

    A whole number has all its digits and no decimal point. Other numbers have the fewest digits
    that are read as the same number of their type: 0.1 in float32 is 0.1.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ColumnKindError(column, "bytes that are not UTF-8", "text") from None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    return _number_text(value) if isinstance(value, Real | Decimal) else str(value)


def _number_text(value: Any) -> str:
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return str(int(value))
    number = float(str(value) if isinstance(value, _NARROW) else value)
    return str(int(number)) if number.is_integer() else repr(number)


def texts_of_array(values: AnyArray, column: str) -> Reading:
    """Return an array of numbers or booleans as texts; NaN is missing."""
    distinct, codes = np.unique(values, return_inverse=True)
    texts = [None if value != value else text_of(value, column) for value in distinct]  # noqa: PLR0124
    return sorted_levels(codes, texts)


def texts_of_numbers(reading: Reading, column: str) -> Reading:
    """Return a column of numbers or booleans as texts."""
    numbers, codes = np.unique(reading.values, return_inverse=True)
    kind = bool if reading.kind == "boolean" else float
    texts = [None if np.isnan(number) else text_of(kind(number), column) for number in numbers]
    return sorted_levels(codes, texts)


def numbers_of_texts(reading: Reading, number_of: Callable[[str], float]) -> FloatArray:
    """Return a column of texts as numbers; ``number_of`` raises ValueError for other texts."""
    numbers = np.array([*map(number_of, reading.levels), np.nan])
    return numbers[np.where(np.isnan(reading.values), -1.0, reading.values).astype(np.intp)]


def number_of_boolean(text: str) -> float:
    """Return 1 for true and 0 for false, in upper or lower case."""
    return float(("false", "true").index(text.lower()))


def number_of_date(text: str) -> float:
    """Return a date or a date and time in ISO 8601 as days since 1970-01-01."""
    return days_of(datetime.fromisoformat(text))


def _numbers(present: list[Any], number_of: Callable[[Any], float], column: str) -> FloatArray:
    missing = float("nan")
    try:
        return np.array([missing if value is None else number_of(value) for value in present])
    except OverflowError:
        raise ColumnKindError(column, "a number too large for a float", "numbers") from None


#: Kinds, the types of their values, and the number of a value, in the order they are tried in:
#: durations before numbers, because those of NumPy are registered as integers.
_KINDS: tuple[tuple[str, tuple[type, ...], Callable[[Any], float]], ...] = (
    ("boolean", (bool, np.bool_), float),
    ("date", (date, np.datetime64), days_of),
    ("number", (timedelta, time, np.timedelta64), days_of),
    ("number", (Real, Decimal, np.bool_), float),
)


# ── Columns of pandas, polars, Arrow and NumPy, read in the same way ──────────────────────────────
# Types are recognised by their names and methods, so that none of these libraries is imported.

_READABLE = "numbers, booleans, texts or dates"
#: Texts that are faster to read one by one than to factorize in pandas.
_FEW_ROWS = 100
_TEXTS = ("string", "large_string", "string_view")
#: Types of pandas that each other library would read as something else, and values of many parts.
_REFUSED = {"Period": "periods of pandas", "Interval": "intervals of pandas", "dict": "dicts"}
_REFUSED |= {name: f"{name}s" for name in ("list", "tuple", "set", "frozenset", "bytearray")}
_REFUSED["ndarray"] = "arrays"
_NESTED = ("list", "large_list", "fixed_size_list", "struct", "map", "union", "dense_union")


def read_array(values: AnyArray, column: str, expected: str | None = None) -> Reading:
    """Return a one-dimensional NumPy array as a column.

    The kind that the column had in an earlier table is ``expected``; its name is for errors.
    """
    kind = values.dtype.kind
    if kind in "biuf" and expected == "text":
        return texts_of_array(values, column)  # as float64, large integers would lose digits
    if kind in "biuf":
        return Reading("boolean" if kind == "b" else "number", values.astype(np.float64))
    if kind in "mM":
        return Reading("date" if kind == "M" else "number", days_of_times(values))
    if kind == "c":
        msg = f"Complex data not supported: column {column!r} holds complex numbers"
        raise ValueError(msg)
    if kind == "U":
        return read_factor(values.tolist())
    if kind in "OST":
        return read_objects(values.tolist(), column, expected)
    raise ColumnKindError(column, str(values.dtype), _READABLE)


def read_pandas(series: Any, column: str, expected: str | None = None) -> Reading:
    """Return a pandas series as a column, as `read_array` does."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return read_arrow(series.array.__arrow_array__(), column, expected)
    kind = getattr(dtype, "kind", "O")
    categories = getattr(dtype, "categories", series)
    _refuse_types([type(categories.dtype).__name__.removesuffix("Dtype")], column)
    if kind in "biuf" and expected == "text":
        masked = hasattr(series.array, "isna") and hasattr(dtype, "na_value") and series.hasnans
        return read_array(series.to_numpy(dtype=object if masked else None), column, expected)
    if kind in "biuf":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Reading("boolean" if kind == "b" else "number", values)
    if kind == "M" and hasattr(dtype, "tz"):
        return read_array(series.to_numpy(dtype=f"datetime64[{dtype.unit}]"), column, expected)
    if kind in "mMc":
        return read_array(series.to_numpy(), column, expected)
    texts = _pandas_texts(series, column)
    # Other objects one by one: pandas takes True and 1 for one value.
    return texts or read_array(series.to_numpy(dtype=object), column, expected)


def _refuse_types(names: Iterable[str], column: str) -> None:
    for name in names:
        if name in _REFUSED:
            raise ColumnKindError(column, _REFUSED[name], _READABLE)


def _pandas_texts(series: Any, column: str) -> Reading | None:
    """Return a categorical series or a long series of texts, None for anything else."""
    if hasattr(series.dtype, "categories"):
        texts = _category_texts(series.dtype.categories, column)
        return sorted_levels(series.cat.codes.to_numpy(), texts)
    if len(series) < _FEW_ROWS:
        return None
    try:
        codes, distinct = series.factorize()
    except TypeError:  # a value is not hashable
        return None
    texts = distinct.tolist()
    return sorted_levels(codes, texts) if set(map(type, texts)) <= {str} else None


def _category_texts(categories: Any, column: str) -> list[str]:
    is_array = getattr(categories.dtype, "kind", "O") in "iuf" and hasattr(categories, "to_numpy")
    # A list would hold float32 as float64, with digits that the numbers do not have.
    values = categories.to_numpy() if is_array else categories.tolist()
    return [text_of(value, column) for value in values]


def read_polars(series: Any, column: str, expected: str | None = None) -> Reading:
    """Return a polars series as a column, as `read_array` does."""
    name = str(series.dtype).partition("(")[0]
    if name in {"String", "Categorical", "Enum"}:
        texts = series.cast(str)
        levels = tuple(texts.drop_nulls().unique().sort().to_list())
        return Reading("text", texts.rank("dense").cast(float).to_numpy() - 1.0, levels)
    if expected == "text" and series.dtype.is_numeric():
        in_full = name.startswith("Float") or not series.null_count()
        values = series.to_numpy() if in_full else np.array(series.to_list(), dtype=object)
        return read_array(values, column, expected)
    if name == "Boolean" or (name != "Decimal" and series.dtype.is_numeric()):
        values = series.cast(float).to_numpy().astype(np.float64)
        return Reading("boolean" if name == "Boolean" else "number", values)
    if name in {"Date", "Datetime", "Duration"}:
        return read_array(series.to_numpy(), column, expected)
    if series.dtype.is_nested():
        raise ColumnKindError(column, str(series.dtype), _READABLE)
    return read_objects(series.to_list(), column, expected)


def read_arrow(values: Any, column: str, expected: str | None = None) -> Reading:
    """Return an Arrow array or chunked array as a column, as `read_array` does."""
    name = str(values.type)
    if name == "bool":
        return Reading("boolean", arrow_values(values).astype(np.float64))
    if name in {"double", "float", "halffloat"} or name.startswith(("int", "uint")):
        if expected == "text":
            return _arrow_numbers_as_texts(values, column)
        return Reading("number", arrow_values(values).astype(np.float64))
    if name in _TEXTS or name.startswith("dictionary"):
        return _arrow_texts(values, column)
    if name.startswith(("date", "timestamp", "duration")):
        return read_array(arrow_values(values), column, expected)
    if name.startswith((*_NESTED, "extension<pandas")):
        raise ColumnKindError(column, name, _READABLE)
    return read_objects(values.to_pylist(), column, expected)


def _arrow_numbers_as_texts(values: Any, column: str) -> Reading:
    if values.null_count and "int" in str(values.type):  # NumPy would have them as floats
        return read_objects(values.to_pylist(), column, "text")
    return texts_of_array(arrow_values(values), column)


def _arrow_texts(values: Any, column: str) -> Reading:
    """Return texts or a dictionary; every chunk has a dictionary of its own."""
    codes: list[AnyArray] = [np.empty(0, dtype=np.int64)]
    texts: list[str | None] = []
    for chunk in values.chunks if hasattr(values, "chunks") else [values]:
        encoded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        indices = encoded.indices.cast("int64")  # narrow ones do not hold the sum of all chunks
        index = arrow_values(indices.fill_null(-1) if encoded.null_count else indices)
        codes.append(np.where(index < 0, -1, index + len(texts)) if texts else index)
        distinct = encoded.dictionary.to_pylist()
        if str(encoded.dictionary.type) == "float":  # a list would hold them as float64
            distinct = list(arrow_values(encoded.dictionary))
        texts += [None if value is None else text_of(value, column) for value in distinct]
    return sorted_levels(np.concatenate(codes), texts)


# ── Table: rows of raw columns as one array with missing values ───────────────────────────────────

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
        frame = _columns_of(X) if isinstance(X, Table) else Frame.of(X)
        names, named = _names(frame)
        kinds: list[str | None] = [None] * len(names)
        index: Sequence[int] = range(len(names))
        if columns is not None:
            names, kinds = tuple(c.name for c in columns), [c.kind for c in columns]
            is_named = named and by_name
            index = frame.positions(names) if is_named else _by_position(frame, len(names))
        values = np.empty((frame.n_rows, len(names)), order="F")
        found = []
        for k, (position, name, kind) in enumerate(zip(index, names, kinds, strict=True)):
            reading = _READERS[frame.library](frame.column(position), name, kind)
            if kind is not None:
                reading = _as_kind(reading, name, kind)
            values[:, k] = reading.values
            found.append(Column(name, reading.kind, reading.levels))
        return cls(tuple(found), values, named)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def take(self, rows: AnyArray) -> Table:
        """Return some rows, given by index or mask, with the same columns and levels."""
        return Table(self.columns, np.asfortranarray(self.values[rows]), self.named)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and of columns."""
        return self.values.shape

    def __getitem__(self, rows: AnyArray) -> Table:
        """Return some rows, given by index or mask, with their levels only."""
        taken = self.take(rows)
        return taken.with_levels_of(np.ones(len(taken), dtype=bool))

    def __add__(self, other: Table) -> Table:
        """Return the rows of both tables, with the kinds and levels that both can be read as."""
        if not len(self) or not len(other):
            return self if len(self) else other
        columns = list((ColumnKinds.of(self) + ColumnKinds.of(other)).columns)
        tables = [Table.of(each, columns) for each in (self, other)]
        values = np.asfortranarray(np.concatenate([each.values for each in tables]))
        for k, column in enumerate(columns):
            if column.kind != "text":
                continue
            of_parts = [each.columns[k].levels for each in tables]
            levels = sorted({*of_parts[0], *of_parts[1]})
            index = {level: float(number) for number, level in enumerate(levels)}
            codes = [np.array([*(index[level] for level in each), np.nan]) for each in of_parts]
            texts = [np.nan_to_num(each.values[:, k], nan=-1.0).astype(np.intp) for each in tables]
            values[:, k] = np.concatenate([codes[0][texts[0]], codes[1][texts[1]]])
            columns[k] = replace(column, levels=tuple(levels))
        return Table(tuple(columns), values, self.named)

    joined = __add__

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


_READERS: dict[str, Callable[[Any, str, str | None], Reading]] = {
    "pandas": read_pandas,
    "polars": read_polars,
    "arrow": read_arrow,
    "numpy": read_array,
    "table": lambda reading, _name, _kind: reading,
}


def _columns_of(table: Table) -> Frame:
    """Return the columns of a table as they were read."""

    def reading(k: int) -> Reading:
        return Reading(table.columns[k].kind, table.values[:, k], table.columns[k].levels)

    return Frame("table", table, table.names, len(table), reading)


def has_names(X: Any) -> bool:
    """Return whether the columns of a table have names, by which they can be matched."""
    return X.named if isinstance(X, Table) else bool(feature_names_of(X))


def _names(frame: Frame) -> tuple[tuple[str, ...], bool]:
    """Return the column names, and whether they are those of the table, not numbers."""
    if frame.library == "table":
        return frame.labels, frame.native.named
    labels = list(frame.labels)
    if not labels or frame.library == "numpy" or texts_or_none(labels) is None:
        return tuple(f"x{k}" for k in range(len(labels))), False
    if len(set(labels)) < len(labels):
        twice = next(name for name in labels if labels.count(name) > 1)
        msg = f"column {twice!r} occurs twice; give every column a different name"
        raise ValueError(msg)
    return tuple(map(str, labels)), True


def _by_position(frame: Frame, n_columns: int) -> range:
    if len(frame.labels) != n_columns:
        msg = (
            f"X has {len(frame.labels)} features, but Table is expecting {n_columns} features "
            "as input"
        )
        raise ValueError(msg)
    return range(n_columns)


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


# ── Kinds of the columns in the parts of a table ──────────────────────────────────────────────────


@dataclass(frozen=True)
class ColumnKinds:
    """Kinds of the columns in the parts of a table; kinds of parts add up.

    A file or data frame may have numbers where another has texts. A column that is missing in all
    rows of a part has no kind there that matters.

    ``read`` maps names to the kinds that columns were read as; empty before the first part.
    ``present`` is the same without parts in which all values are missing.
    """

    read: dict[str, frozenset[str]]
    present: dict[str, frozenset[str]]

    @classmethod
    def of(cls, table: Table) -> ColumnKinds:
        """Return the kinds of a table."""
        read = {column.name: frozenset([column.kind]) for column in table.columns}
        present = {
            column.name: frozenset([column.kind] if _has_values(column, values) else [])
            for column, values in zip(table.columns, table.values.T, strict=True)
        }
        return cls(read, present)

    def __add__(self, other: ColumnKinds) -> ColumnKinds:
        if not self.read or not other.read:
            return self if self.read else other
        if list(self.read) != list(other.read):
            msg = (
                f"some parts of the table have the columns {list(self.read)} and others "
                f"{list(other.read)}: name those of the card in features="
            )
            raise ValueError(msg)
        return ColumnKinds(
            {name: kinds | other.read[name] for name, kinds in self.read.items()},
            {name: kinds | other.present[name] for name, kinds in self.present.items()},
        )

    @property
    def is_mixed(self) -> bool:
        """Whether a column has values of several kinds."""
        return any(len(kinds) > 1 for kinds in self.present.values())

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, each of a kind that the values of all parts can be read as."""
        return tuple(
            Column(name, _common(name, kinds or self.read[name]))
            for name, kinds in self.present.items()
        )


def _has_values(column: Column, values: AnyArray) -> bool:
    """Return whether a value is not missing; the first one mostly is not."""
    if column.kind == "text":
        return bool(column.levels)
    return bool(len(values)) and not (np.isnan(values[0]) and np.isnan(values).all())


def _common(name: str, kinds: frozenset[str]) -> str:
    """Return the kind that values of some kinds can be read as, or raise `ColumnKindError`."""
    if "date" in kinds and not kinds <= {"date", "text"}:
        raise ColumnKindError(name, "dates and numbers", "values of one kind")
    return next(kind for kind in ("date", "text", "number", "boolean") if kind in kinds)
