"""Conditions on columns that are NumPy arrays."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.engines.filters.condition import (
    NOTHING,
    ORDERED,
    Condition,
    is_missing,
    plain_value,
)


def numpy_mask(condition: Condition, values: AnyArray) -> AnyArray:
    """Return which of the values of a NumPy array meet a condition."""
    kind, present, plain = _numpy_values(np.asarray(values))
    passes: AnyArray = present.copy()
    if kind != NOTHING:
        onto = condition.onto(kind, "mixed values" if kind is None else kind)
        if onto.comparison in ORDERED:
            passes[present] = onto.compared(plain, _numpy_literal)
        else:
            within = _is_in(plain, onto.values)
            passes[present] = within if onto.comparison == "in" else ~within
    return passes


def _numpy_values(values: AnyArray) -> tuple[str | None, AnyArray, AnyArray]:
    """Return the kind of a column, which values are present, and those in one representation."""
    numpy_kind = values.dtype.kind
    if numpy_kind in "biu":
        kind = "boolean" if numpy_kind == "b" else "integer"
        return kind, np.ones(len(values), dtype=bool), values
    if numpy_kind in "fM":
        present = ~(np.isnan(values) if numpy_kind == "f" else np.isnat(values))
        if numpy_kind == "f":  # in float32 the value of a condition would be rounded
            return "float", present, values[present].astype(np.float64)
        return "time", present, values[present]
    objects = values.astype(object)
    present = np.fromiter((not is_missing(value) for value in objects), bool, len(objects))
    return _object_values(present, [plain_value(value) for value in objects[present]])


def _object_values(present: AnyArray, plain: list[Any]) -> tuple[str | None, AnyArray, AnyArray]:
    """Return the result of `_numpy_values` for objects of Python."""
    kinds = {_object_kind(value) for value in plain} or {NOTHING}
    kind = kinds.pop() if len(kinds) == 1 else "float" if kinds == {"integer", "float"} else None
    dtypes = {"boolean": "bool", "float": "float64", "date": "M8[D]", "time": "M8[us]"}
    if kind in dtypes:
        return "time" if kind == "date" else kind, present, np.array(plain, dtype=dtypes[kind])
    in_objects = np.empty(len(plain), dtype=object)
    in_objects[:] = plain
    return kind, present, in_objects


def _object_kind(value: Any) -> str | None:
    if isinstance(value, datetime):
        return "time" if value.tzinfo is None else "zoned time"
    for kinds, kind in ((bool, "boolean"), (int, "integer"), (float, "float"), (str, "text")):
        if isinstance(value, kinds):
            return kind
    return "date" if isinstance(value, date) else None


def _numpy_literal(value: Any) -> Any:
    naive = isinstance(value, datetime) and value.tzinfo is None
    return np.datetime64(value, "us") if naive else value


def _is_in(plain: AnyArray, values: tuple[Any, ...]) -> AnyArray:
    if plain.dtype.kind == "O":
        chosen = set(values)
        return np.fromiter((value in chosen for value in plain), bool, len(plain))
    if plain.dtype.kind in "iu":  # others would be compared as rounded floats
        limits = np.iinfo(plain.dtype)
        values = tuple(value for value in values if limits.min <= value <= limits.max)
        return np.isin(plain, np.array(values, dtype=plain.dtype))
    return np.isin(plain, [_numpy_literal(value) for value in values])
