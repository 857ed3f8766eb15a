"""Parameters of a Binner: validation, and special values and crosses by column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError
from directrix.rows.labels import require_moderate_weight
from directrix.tables.days import days_of
from directrix.tables.encoding import ENCODINGS

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.tables.table import Column, Table


def check_parameters(params: Mapping[str, Any]) -> None:
    """Raise ValueError for a parameter that no data could make valid."""
    max_bins = params["max_bins"]
    if not _is_number(max_bins, int, np.integer) or max_bins < 2:
        msg = f"max_bins must be a whole number of at least 2, not {max_bins!r}"
        raise ValueError(msg)
    for name in ("min_rows", "min_level_rows"):
        rows = params[name]
        if not (_is_number(rows, int, float, np.integer, np.floating) and 0 <= rows < np.inf):
            msg = f"{name} must be a number of rows, not {rows!r}"
            raise ValueError(msg)
    encoding = params["encoding"]
    if not (isinstance(encoding, str) and encoding in ENCODINGS):
        msg = f"encoding must be one of {', '.join(ENCODINGS)}, not {encoding!r}"
        raise ValueError(msg)


def _is_number(value: Any, *types: type) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def check_size(table: Table) -> None:
    """Raise ValueError for a table without rows or columns, in the words of scikit-learn."""
    for size, noun, least in zip(table.values.shape, ("sample", "feature"), (1, 1), strict=True):
        if size < least:
            msg = (
                f"Found array with {size} {noun}(s) (shape={table.values.shape}) while a minimum "
                f"of {least} is required."
            )
            raise ValueError(msg)


def checked_weight(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return one weight per row, or None if all are one."""
    if sample_weight is None:
        return None
    weight: FloatArray = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        msg = f"sample_weight must be one number for each of {n_rows} rows, not {weight.shape}"
        raise ValueError(msg)
    if not (np.isfinite(weight).all() and weight.min() >= 0):
        msg = "sample_weight must be finite and not negative"
        raise ValueError(msg)
    if not weight.any():
        msg = "sample_weight is zero in every row: at least one weight must be positive"
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        require_moderate_weight(float(weight.sum()), "all rows")
    return weight


def values_by_column(given: Any, columns: Sequence[Column]) -> list[tuple[float, ...]]:
    """Return the special values of each column."""
    if given is None:
        return [()] * len(columns)
    if not isinstance(given, Mapping):
        numbers = special_numbers(given, "special_values")
        return [numbers if column.kind == "number" else () for column in columns]
    known = {column.name: column.kind for column in columns}
    for name in given:
        if name not in known:
            raise ColumnNotFoundError(name, known)
        if known[name] in {"text", "boolean"}:
            msg = f"special_values names {name!r}, whose values ({known[name]}) have bins anyway"
            raise ValueError(msg)
    return [
        special_numbers(given.get(c.name, ()), f"special_values of {c.name!r}") for c in columns
    ]


def special_numbers(given: Any, noun: str) -> tuple[float, ...]:
    """Return special values as numbers, dates in days since 1970-01-01."""
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    try:
        numbers = tuple(
            days_of(value) if isinstance(value, date | np.datetime64) else float(value)
            for value in values
        )
    except (TypeError, ValueError):
        msg = f"{noun} must be numbers, not {given!r}"
        raise ValueError(msg) from None
    if not np.isfinite(numbers).all() or len(set(numbers)) < len(numbers):
        msg = f"{noun} must be different finite numbers, not {given!r}; missing has a bin anyway"
        raise ValueError(msg)
    return tuple(number + 0.0 for number in numbers)


def cross_index(crosses: Any, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return pairs of column names or positions as pairs of positions."""
    index = {name: k for k, name in enumerate(names)}
    found = []
    for pair in crosses:
        if isinstance(pair, str) or len(pair) != 2:
            msg = f"crosses must be pairs of columns, not {pair!r}"
            raise ValueError(msg)
        for name in pair:
            is_position = isinstance(name, int | np.integer) and 0 <= name < len(names)
            if name not in index and not is_position:
                raise ColumnNotFoundError(name, names)
        first, second = (index.get(name, name) for name in pair)
        if first == second:
            msg = f"a column cannot be crossed with itself: {pair!r}"
            raise ValueError(msg)
        found.append((int(first), int(second)))
    if len(set(found)) < len(found):
        msg = f"crosses names a pair twice: {crosses!r}"
        raise ValueError(msg)
    return tuple(found)
