"""Columns of Python objects: their kind, and their values as numbers or texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import compress, pairwise
from numbers import Complex, Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.exceptions.columns import ColumnKindError
from directrix.tables.reading._days import days_of

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

#: Types of a missing value, by name, because pandas is not imported.
_ABSENT = {"NoneType", "NAType", "NaTType"}
_NARROW = (np.float32, np.float16)


class Reading(NamedTuple):
    """Values of a column as they were read.

    Parameters
    ----------
    kind : {"number", "boolean", "text", "date"}
    values : array of shape (n,)
        Numbers, 0 and 1, days since 1970-01-01, or indices into ``levels``; NaN is missing.
    levels : tuple of str
        Sorted distinct texts; empty unless the kind is text.
    """

    kind: str
    values: FloatArray
    levels: tuple[str, ...] = ()


def read_objects(values: Sequence[Any], column: str, expected: str | None) -> Reading:
    """Return Python objects as a column of the kind that all of them have, otherwise as texts.

    Parameters
    ----------
    values : sequence
        None, NaN, NaT and NA are missing.
    column : str
        Name of the column, for errors.
    expected : str or None
        The kind that the column has in a table read earlier.
    """
    present = [value if _is_present(value) else None for value in values]
    types = {type(value) for value in present} - {type(None)}
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

    Parameters
    ----------
    codes : integer array of shape (n,)
        Index of the text of each row, −1 where it is missing.
    texts : sequence of str or None
        A text may occur more than once, or in no row; None is missing.
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


def _is_present(value: Any) -> bool:
    if type(value) is str:
        return True
    if type(value).__name__ in _ABSENT:
        return False
    if isinstance(value, Decimal):
        return not value.is_nan()  # a signalling NaN cannot be compared
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value == value)  # noqa: PLR0124 - NaN and NaT
    return True


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
