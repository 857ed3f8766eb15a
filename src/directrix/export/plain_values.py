"""Parameters of a classifier as plain JSON, and back: metrics and losses by name and fields.

Nothing is looked up by a name from the file but in two lists that are made of the table of
metrics, so that reading can make nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import inf, isfinite, nan
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from directrix.export.model_file_error import ModelFileError, require
from directrix.losses import Loss
from directrix.metrics import TABLE, FromRates, Metric

METRICS: dict[str, Any] = {
    type(row.example).__name__: type(row.example)
    for row in TABLE
    if not isinstance(row.example, FromRates)
}
LOSSES: dict[str, Any] = {type(loss).__name__: type(loss) for row in TABLE for loss in row.losses}
_SPLITTERS: dict[str, Any] = {"KFold": KFold, "StratifiedKFold": StratifiedKFold}
_SPLITTER_FIELDS = ("n_splits", "shuffle", "random_state")

#: What a field of a metric or a loss may be, by its annotation.
_FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "bool": (bool,),
    "Loss": (Loss,),
}
_ARRAYS = ("bool", "int64", "float64")
_BEYOND = {"inf": inf, "-inf": -inf, "nan": nan}


def to_plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it; raise TypeError for what cannot be kept.

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
    if isinstance(value, Metric | Loss):
        return _named_fields(value)
    for kind, write in _WRITERS.items():
        if type(value) is kind:
            return write(value)
    msg = (
        f"{type(value).__name__} cannot be kept in a model file, which holds no code: use "
        "`set_params` to put numbers, text, lists, or metrics and losses of directrix in its place"
    )
    raise TypeError(msg)


def from_plain(plain: Any) -> Any:
    """Return the parameter that `to_plain` wrote; raise `ModelFileError` for anything else."""
    if plain is None or type(plain) in (bool, int, str):
        return plain
    if type(plain) is float:
        require(isfinite(plain), "a parameter is not a number")
        return plain
    if isinstance(plain, list):
        return [from_plain(each) for each in plain]
    require(isinstance(plain, dict), "a parameter is of an unknown kind")
    for keys, read in _READERS.items():
        if sorted(plain) == sorted(keys):
            return read(plain)
    raise ModelFileError("a parameter is of an unknown kind")  # noqa: EM101, TRY003


def is_encoded(plain: dict[str, Any]) -> bool:
    """Return whether `to_plain` could have written this object; see `from_plain`."""
    return any(sorted(plain) == sorted(keys) for keys in _READERS)


def _named_fields(value: Any) -> dict[str, Any]:
    noun, known = ("metric", METRICS) if isinstance(value, Metric) else ("loss", LOSSES)
    name = type(value).__name__
    if known.get(name) is not type(value):
        msg = (
            f"{value!r} is a {noun} of your own, whose code a model file does not hold: use "
            f"`set_params` to put a {noun} of directrix in its place"
        )
        raise TypeError(msg)
    kept = {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    return {noun: name, "fields": kept}


def _splitter(value: Any) -> dict[str, Any]:
    kept = {name: to_plain(getattr(value, name)) for name in _SPLITTER_FIELDS}
    return {"splitter": type(value).__name__, "fields": kept}


def _array(value: Any) -> dict[str, Any]:
    if value.ndim != 1 or value.dtype.name not in _ARRAYS:
        msg = (
            f"an array of type {value.dtype} and shape {value.shape} cannot be kept in a model "
            "file: use `set_params` to put a list of numbers in its place"
        )
        raise TypeError(msg)
    return {"array": to_plain(value.tolist()), "dtype": value.dtype.name}


_WRITERS: dict[type, Callable[[Any], Any]] = {
    list: lambda value: [to_plain(each) for each in value],
    tuple: lambda value: {"tuple": [to_plain(each) for each in value]},
    dict: lambda value: {"dict": [[to_plain(key), to_plain(own)] for key, own in value.items()]},
    np.ndarray: _array,
    KFold: _splitter,
    StratifiedKFold: _splitter,
}


def _read_beyond(plain: dict[str, Any]) -> Any:
    name = plain["float"]
    require(isinstance(name, str) and name in _BEYOND, "a parameter is not a number")
    return _BEYOND[name]


def _read_tuple(plain: dict[str, Any]) -> Any:
    require(isinstance(plain["tuple"], list), "a parameter is no list of values")
    return tuple(from_plain(each) for each in plain["tuple"])


def _read_dict(plain: dict[str, Any]) -> Any:
    pairs = plain["dict"]
    in_pairs = isinstance(pairs, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and (pair[0] is None or type(pair[0]) in (bool, int, float, str))
        for pair in pairs
    )
    require(in_pairs, "a parameter is no list of pairs")
    return {from_plain(key): from_plain(value) for key, value in pairs}


def _read_array(plain: dict[str, Any]) -> Any:
    values, dtype = plain["array"], plain["dtype"]
    require(isinstance(dtype, str) and dtype in _ARRAYS, "a parameter is an array of no numbers")
    kind = {"bool": bool, "int64": int, "float64": float}[str(dtype)]
    read = from_plain(values)
    numbers = isinstance(read, list) and all(type(each) is kind for each in read)
    require(numbers, "a parameter is an array of something else than its type")
    if kind is int:
        require(all(-(1 << 63) <= each < 1 << 63 for each in read), "a number is beyond 64 bits")
    return np.array(read, dtype=dtype)


def _read_named(noun: str, known: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    def read(plain: dict[str, Any]) -> Any:
        name, given = plain[noun], plain["fields"]
        kind: Any = known.get(name) if isinstance(name, str) else None
        require(kind is not None, f"it names a {noun} that this version does not know: {name!r}")
        types: dict[str, tuple[type, ...]] = (
            {field.name: _FIELD_TYPES[str(field.type)] for field in fields(kind)}
            if noun != "splitter"
            else dict.fromkeys(_SPLITTER_FIELDS, (int, bool, type(None)))
        )
        fits = isinstance(given, dict) and sorted(given) == sorted(types)
        require(fits, f"it does not have the fields of the {noun} {name}")
        values = {own: from_plain(value) for own, value in given.items()}
        for own, value in values.items():
            require(_is_a(value, types[own]), f"{own} of {name} is of the wrong type")
        try:
            return kind(**values)
        except (TypeError, ValueError, OverflowError) as error:
            msg = f"it holds a {noun} {name} that cannot be: {error}"
            raise ModelFileError(msg) from None

    return read


def _is_a(value: Any, kinds: tuple[type, ...]) -> bool:
    # True is an int, but not a number that anyone meant.
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


_READERS: dict[tuple[str, ...], Callable[[dict[str, Any]], Any]] = {
    ("float",): _read_beyond,
    ("tuple",): _read_tuple,
    ("dict",): _read_dict,
    ("array", "dtype"): _read_array,
    ("metric", "fields"): _read_named("metric", METRICS),
    ("loss", "fields"): _read_named("loss", LOSSES),
    ("splitter", "fields"): _read_named("splitter", _SPLITTERS),
}
