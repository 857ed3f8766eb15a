"""Parameters of a classifier as plain JSON, and back: metrics by name and fields.

A name from a file is looked up only among the metrics of the table, two scales of
points, two splitters and budgets, so that reading a file cannot create anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import date
from functools import partial
from math import inf, isfinite, nan
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from directrix.estimators import IntegerPoints, PointsToDoubleOdds
from directrix.exceptions.files import FileContentError
from directrix.files.layout import require
from directrix.metrics import Budget, FromRates, InEverySegment
from directrix.metrics.base import Metric
from directrix.metrics.table import TABLE

METRICS: dict[str, Any] = {
    type(row.example).__name__: type(row.example)
    for row in TABLE
    if not isinstance(row.example, FromRates)
}
_SPLITTER_FIELDS = ("n_splits", "shuffle", "random_state")
#: Classes that a file may name, by what they are.
_NAMED: dict[str, dict[str, Any]] = {
    "metric": METRICS,
    "scale": {"PointsToDoubleOdds": PointsToDoubleOdds, "IntegerPoints": IntegerPoints},
    "splitter": {"KFold": KFold, "StratifiedKFold": StratifiedKFold},
    "budget": {"Budget": Budget, "InEverySegment": InEverySegment},
}

#: Types of the fields of metrics, by their annotation.
_FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "float | str": (int, float, str),
    "int | Mapping[Any, int]": (int, dict),
    "Mapping[str, float]": (dict,),
    "Mapping[Any, Any]": (dict,),
    "str": (str,),
    "str | None": (str, type(None)),
    "int": (int,),
    "bool": (bool,),
}
_ARRAY_TYPES: dict[str, type] = {"bool": bool, "int64": int, "float64": float}
_NOT_FINITE = {"inf": inf, "-inf": -inf, "nan": nan}


def to_plain(value: Any) -> Any:
    """Return a parameter as plain JSON; raise TypeError for one that a file cannot hold.

    Examples
    --------
    >>> from directrix.metrics import RecallAtFPR
    >>> to_plain(RecallAtFPR(0.01))
    {'metric': 'RecallAtFPR', 'fields': {'fpr': 0.01}}
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, date):  # a label to catch, which may be given as text
        return value.isoformat()
    if type(value) in _WRITERS:
        return _WRITERS[type(value)](value)
    name = type(value).__name__
    noun = next((n for n, known in _NAMED.items() if known.get(name) is type(value)), None)
    if noun is None:
        raise TypeError(_refusal(value))
    unsaid = _unsaid(type(value))
    values = {
        field: to_plain(getattr(value, field))
        for field in _field_types(noun, type(value))
        if field not in unsaid or getattr(value, field) != unsaid[field]
    }
    return {noun: name, "fields": values}


def _refusal(value: Any) -> str:
    if isinstance(value, Metric):
        return (
            f"{value!r} is a metric of your own, whose code a model file does not hold: use "
            "`set_params` to replace it by a metric of directrix"
        )
    return (
        f"{type(value).__name__} cannot be kept in a model file, which holds no code: use "
        "`set_params` to replace it by numbers, text, lists, or metrics of directrix"
    )


def _field_types(noun: str, named_class: Any) -> dict[str, tuple[type, ...]]:
    """Return the fields of a class that a file may name, with their types."""
    if noun == "splitter":
        return dict.fromkeys(_SPLITTER_FIELDS, (int, bool, type(None)))
    return {field.name: _FIELD_TYPES[str(field.type)] for field in fields(named_class)}


def _unsaid(named_class: Any) -> dict[str, Any]:
    """Return the fields that a file need not have, with their values: those that do not print."""
    known = getattr(named_class, "__dataclass_fields__", {})
    return {name: field.default for name, field in known.items() if not field.repr}


def from_plain(plain: Any) -> Any:
    """Return the parameter that `to_plain` wrote; raise `FileContentError` for anything else."""
    if plain is None or type(plain) in (bool, int, str):
        return plain
    if type(plain) is float:
        require(isfinite(plain), "a parameter is not a number")
        return plain
    if isinstance(plain, list):
        return [from_plain(item) for item in plain]
    read = _READERS.get(tuple(sorted(plain))) if isinstance(plain, dict) else None
    if read is None:
        msg = "a parameter is of an unknown type"
        raise FileContentError(msg)
    return read(plain)


def is_encoded(plain: dict[str, Any]) -> bool:
    """Return whether `to_plain` could have written this object; see `from_plain`."""
    return tuple(sorted(plain)) in _READERS


def _array(value: Any) -> dict[str, Any]:
    if value.ndim != 1 or value.dtype.name not in _ARRAY_TYPES:
        msg = (
            f"an array of type {value.dtype} and shape {value.shape} cannot be kept in a model "
            "file: use `set_params` to replace it by a list of numbers"
        )
        raise TypeError(msg)
    return {"array": to_plain(value.tolist()), "dtype": value.dtype.name}


_WRITERS: dict[type, Callable[[Any], Any]] = {
    list: lambda value: [to_plain(item) for item in value],
    tuple: lambda value: {"tuple": [to_plain(item) for item in value]},
    dict: lambda value: {"dict": [[to_plain(key), to_plain(item)] for key, item in value.items()]},
    np.ndarray: _array,
}


def _read_not_finite(plain: dict[str, Any]) -> Any:
    name = plain["float"]
    require(isinstance(name, str) and name in _NOT_FINITE, "a parameter is not a number")
    return _NOT_FINITE[name]


def _read_tuple(plain: dict[str, Any]) -> Any:
    require(isinstance(plain["tuple"], list), "a parameter is not a list of values")
    return tuple(from_plain(item) for item in plain["tuple"])


def _read_dict(plain: dict[str, Any]) -> Any:
    pairs = plain["dict"]
    in_pairs = isinstance(pairs, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and (pair[0] is None or type(pair[0]) in (bool, int, float, str))
        for pair in pairs
    )
    require(in_pairs, "a parameter is not a list of pairs")
    return {from_plain(key): from_plain(value) for key, value in pairs}


def _read_array(plain: dict[str, Any]) -> Any:
    values, dtype = plain["array"], plain["dtype"]
    known = isinstance(dtype, str) and dtype in _ARRAY_TYPES
    require(known, "a parameter is an array of an unknown type")
    number_type = _ARRAY_TYPES[dtype]
    numbers = from_plain(values)
    fits = isinstance(numbers, list) and all(type(number) is number_type for number in numbers)
    require(fits, "a parameter is an array of something else than its type")
    if number_type is int:
        in_range = all(-(1 << 63) <= number < 1 << 63 for number in numbers)
        require(in_range, "a number is beyond 64 bits")
    return np.array(numbers, dtype=dtype)


def _read_named(noun: str, plain: dict[str, Any]) -> Any:
    name, given = plain[noun], plain["fields"]
    named_class = _NAMED[noun].get(name) if isinstance(name, str) else None
    known = named_class is not None
    require(known, f"it names a {noun} that this version does not know: {name!r}")
    types = _field_types(noun, named_class)
    unsaid = _unsaid(named_class)
    fits = isinstance(given, dict) and sorted({*given, *unsaid}) == sorted(types)
    require(fits, f"it does not have the fields of the {noun} {name}")
    values = {field: from_plain(value) for field, value in given.items()}
    for field, value in values.items():
        # In Python True is an int, but a number is not meant to be a bool.
        allowed = types[field]
        fits = isinstance(value, allowed) and (bool in allowed or not isinstance(value, bool))
        require(fits, f"{field} of {name} is of the wrong type")
    try:
        return named_class(**values)  # type: ignore[misc]
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"it holds a {noun} {name} with invalid fields: {error}"
        raise FileContentError(msg) from None


#: By the sorted keys of the object.
_READERS: dict[tuple[str, ...], Callable[[dict[str, Any]], Any]] = {
    ("float",): _read_not_finite,
    ("tuple",): _read_tuple,
    ("dict",): _read_dict,
    ("array", "dtype"): _read_array,
    **{tuple(sorted(("fields", noun))): partial(_read_named, noun) for noun in _NAMED},
}
