"""Condition: a comparison of a column with one value or several, as ``where=`` takes it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np

#: Comparisons that need an order, and their names in the module ``operator``.
ORDERED = {">": "gt", ">=": "ge", "<": "lt", "<=": "le"}
#: Equality is ``in`` or ``not in`` a tuple of one value.
_EQUALITY = {"=": "in", "==": "in", "!=": "not in", "in": "in", "not in": "not in"}
#: A column that has no value that is not missing; it can be compared with everything.
NOTHING = "nothing"
#: What a column of each kind is compared with. A zoned time is one with a time zone.
_REMEDIES = {
    "boolean": "True or False, by '==', '!=', 'in' or 'not in'",
    "integer": "numbers within 64 bits",
    "float": "numbers",
    "text": "texts",
    "date": "a date, or a datetime without a time zone",
    "time": "a date, or a datetime without a time zone",
    "zoned time": "a datetime with a time zone",
}


@dataclass(frozen=True)
class Condition:
    """A comparison of one column with one value or several.

    Parameters
    ----------
    column : str or int
    comparison : str
        One of ``>``, ``>=``, ``<``, ``<=``, ``in`` and ``not in``.
    values : tuple
        The value, or all values of ``in`` and ``not in``.
    """

    column: Any
    comparison: str
    values: tuple[Any, ...]

    @classmethod
    def of(cls, given: Any) -> Condition:
        """Check a tuple (column, comparison, value) and return its condition."""
        if isinstance(given, Condition):
            return given
        if not isinstance(given, tuple | list) or len(given) != 3:
            msg = f"where= takes conditions (column, comparison, value), not {given!r}"
            raise ValueError(msg)
        column, comparison, value = given
        several = comparison in ("in", "not in")
        if several and (isinstance(value, str | bytes) or not is_collection(value)):
            msg = f"the condition {given!r} of where= needs a list of values"
            raise ValueError(msg)
        values = tuple(plain_value(entry) for entry in (value if several else (value,)))
        if comparison not in (*ORDERED, *_EQUALITY):
            allowed = ", ".join((*_EQUALITY, *ORDERED))
            msg = f"where= has no comparison {comparison!r}: give one of {allowed}"
            raise ValueError(msg)
        if not values or any(is_missing(entry) for entry in values):
            msg = (
                f"the condition {given!r} of where= compares with a missing value or with none: no "
                "row would pass it, because missing values pass no comparison"
            )
            raise ValueError(msg)
        return cls(column, str(_EQUALITY.get(comparison, comparison)), values)

    def onto(self, kind: str | None, stored: str) -> Condition:
        """Return the condition with values of the kind of its column.

        A column of whole numbers compared with 2.5, or of dates compared with a time of day, gets
        an equivalent condition: ``> 2``, or ``<= 2``.

        Parameters
        ----------
        kind : str or None
            "boolean", "integer", "float", "text", "date", "time", "zoned time" or `NOTHING`; None
            for columns that cannot be compared.
        stored : str
            Type of the column, for the error.

        Raises
        ------
        TypeError
            If the column cannot be compared with a value.
        """
        if kind == NOTHING:
            return self
        comparison, values = self.comparison, []
        ordered = comparison in ORDERED
        for value in self.values:
            converted = None if kind is None else _converted(value, kind)
            if converted is None or (kind == "boolean" and ordered):
                msg = f"where= cannot compare column {self.column!r} ({stored}) with {value!r}"
                if kind is not None:
                    msg += f": give {_REMEDIES[kind]}"
                raise TypeError(msg)
            floor, exact = converted
            if exact or ordered:
                values.append(floor)
            if not exact and ordered:
                comparison = ">" if comparison.startswith(">") else "<="
        return replace(self, comparison=comparison, values=tuple(values))

    def compared(self, column: Any, literal: Callable[[Any], Any] = lambda value: value) -> Any:
        """Return ``column > value`` of an object that overloads the comparisons."""
        compare = getattr(operator, ORDERED[self.comparison])
        return compare(column, literal(self.values[0]))


def is_collection(value: Any) -> bool:
    """Return whether a value is a list, set, array or column of values."""
    return isinstance(value, Sequence | set | frozenset | np.ndarray) or hasattr(value, "tolist")


def plain_value(value: Any) -> Any:
    """Return a value as an object of Python: a number, text, date or datetime."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "to_pydatetime") and not is_missing(value):
        value = value.to_pydatetime(warn=False)
    return float(value) if isinstance(value, Decimal) else value


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NA, NaT or NaN."""
    absent = type(value).__name__ in ("NoneType", "NAType", "NaTType")
    return absent or (isinstance(value, float) and math.isnan(value))


def _converted(value: Any, kind: str) -> tuple[Any, bool] | None:
    """Return the greatest value of a kind up to this one, and whether it is equal, or None."""
    if kind in ("date", "time", "zoned time"):
        return _as_moment(value, kind) if isinstance(value, date) else None
    allowed: Any = str if kind == "text" else int | float
    if not isinstance(value, allowed):
        return None
    if kind == "integer":
        fits = -(2**63) <= value < 2**64
        return (math.floor(value), value == math.floor(value)) if fits else None
    if kind == "boolean":
        return (bool(value), True) if value in (0, 1) else None
    return (float(value) if kind == "float" else value), True


def _as_moment(value: date, kind: str) -> tuple[date, bool] | None:
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    if (moment.tzinfo is not None) != (kind == "zoned time"):
        return None
    if kind == "date":
        return moment.date(), moment.time() == time()
    return (moment if moment.tzinfo is None else moment.astimezone(UTC)), True
