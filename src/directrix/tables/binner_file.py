"""Parameters of a Binner, and a fitted binner as JSON (``docs/your-table.md``), and back.

A checksum tells damage: `read_state` raises `BinnerFileError` for any text that `write_state` has
not written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date, time, timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError, LevelNotFoundError, OwnBinsError
from directrix.exceptions.files import BinnerFileError
from directrix.files.layout import Header, parse_json, refusing, require
from directrix.tables.bins import Bins, LevelBins, NumberBins, number_of
from directrix.tables.table import Column, date_text, days_of, text_of

ENCODINGS = ("thermometer", "onehot", "ordinal")
#: Parameters by which users give bins of their own; files have them only if they were given.
OWN_BINS = ("cuts", "groups", "missing_with")

# ── Parameters: validation, and special values and crosses by column ──────────────────────────────


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
    for name in OWN_BINS:
        if not isinstance(params.get(name) or {}, Mapping):
            msg = f"{name} must be a dict with column names as keys, not {params[name]!r}"
            raise ValueError(msg)  # noqa: TRY004 - a wrong value of a parameter


def _is_number(value: Any, *types: type) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


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


def check_own_bins(params: Mapping[str, Any], columns: Sequence[Column]) -> None:
    """Check given cuts and groups; raise an error if a column is missing or has another kind."""
    kinds = {column.name: column.kind for column in columns}
    for parameter in OWN_BINS:
        for name, given in (params[parameter] or {}).items():
            if name not in kinds:
                raise ColumnNotFoundError(name, kinds)
            if parameter == "groups" and kinds[name] != "text":
                problem = f"the column holds no texts ({kinds[name]}s): give cuts"
                raise OwnBinsError(name, parameter, given, problem)
            if parameter == "cuts" and name in (params["groups"] or {}):
                problem = "the column has groups too: give one of them"
                raise OwnBinsError(name, parameter, given, problem)


def own_cuts(cuts: Any, column: Column) -> tuple[float, ...] | None:
    """Return the cuts that a user gave for a column as numbers, None if there are none."""
    if cuts is None or column.name not in cuts:
        return None
    given = cuts[column.name]
    if column.kind in {"text", "boolean"}:
        remedy = "give groups of its levels" if column.kind == "text" else "it has two bins anyway"
        problem = f"the column holds {column.kind}s, which have no cuts: {remedy}"
        raise OwnBinsError(column.name, "cuts", given, problem)
    dates = column.kind == "date"
    expected = "dates, or texts such as '2024-01-31'" if dates else "numbers"
    try:
        numbers = tuple(number_of(value, column.kind) for value in _own_list(given))
    except (TypeError, ValueError, OverflowError):
        raise OwnBinsError(column.name, "cuts", given, f"cuts must be {expected}") from None
    if not np.isfinite(numbers).all():
        problem = "cuts must be finite; missing and infinite values have bins anyway"
        raise OwnBinsError(column.name, "cuts", given, problem)
    if not _increases(numbers):
        problem = "cuts must be in increasing order, without repetition"
        raise OwnBinsError(column.name, "cuts", given, problem)
    return numbers


def own_groups(groups: Any, column: Column, *, complete: bool) -> list[list[str]]:
    """Return the groups of levels that a user gave for a column; by default none.

    ``complete`` says whether all rows are known: if not, a level may be one that no row has.
    """
    given = (groups or {}).get(column.name, ())
    try:
        made = [
            [text_of(level, column.name) for level in _own_list(group)]
            for group in _own_list(given)
        ]
    except TypeError:
        problem = "groups must be a list of lists of levels"
        raise OwnBinsError(column.name, "groups", given, problem) from None
    unknown = [level for group in made for level in group if level not in column.levels]
    if unknown and complete:
        raise LevelNotFoundError(column.name, unknown[0], column.levels)
    return made


def _own_list(given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError
    return list(given)


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


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────


class BinnerState(NamedTuple):
    """All that makes a fitted binner: parameters, bins, and the columns of each cross."""

    params: Mapping[str, Any]
    bins: tuple[Bins, ...]
    crosses: tuple[tuple[int, int], ...]
    named: bool  # whether the columns had names


_HEADER = Header(
    format="directrix.binner",
    noun="binner",
    entries=("named", "columns", "crosses", "params", "checksum"),
)


def write_state(state: BinnerState) -> str:
    """Return a fitted binner as JSON; dates among the special values are written as days."""
    content = {
        **_HEADER.stamp(),
        "params": _plain_params(state.params),
        "named": state.named,
        "columns": [{"kind": bins.kind, **asdict(bins)} for bins in state.bins],
        "crosses": state.crosses,
    }
    content["checksum"] = _checksum(content)
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False, default=_plain) + "\n"


def read_state(text: str) -> BinnerState:
    """Return the fitted binner of a text; raise `BinnerFileError` if it is damaged."""
    with refusing(BinnerFileError):
        content = parse_json(text, "it")
        _HEADER.check_header(content)
        given = content.pop("checksum")
        damaged = "its checksum is not that of its content: it is damaged"
        require(given == _checksum(content), damaged)
    bins = tuple(map(_bins, content["columns"]))
    crosses = tuple((first, second) for first, second in content["crosses"])
    params = content["params"]
    params["crosses"] = [tuple(pair) for pair in params["crosses"]]
    return BinnerState(params, bins, crosses, content["named"])


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a checksum of the content, which does not depend on spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=_plain)
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()}"


def _plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    check_parameters(params)
    special = params["special_values"]
    if isinstance(special, Mapping):
        special = {
            name: special_numbers(values, "special_values") for name, values in special.items()
        }
    elif special is not None:
        special = special_numbers(special, "special_values")
    given = {name: params[name] for name in OWN_BINS if params[name] is not None}
    others = {name: value for name, value in params.items() if name not in OWN_BINS}
    return {**others, **given, "special_values": special}


def _plain(value: Any) -> Any:
    """Return a value that JSON does not know: dates as texts, durations as days."""
    if isinstance(value, date | np.datetime64):
        return date_text(days_of(value))
    if isinstance(value, timedelta | time | np.timedelta64):
        return days_of(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterable) else float(value)


def _bins(plain: dict[str, Any]) -> Bins:
    fields: dict[str, Any] = {
        name: tuple(each) if isinstance(each, list) else each for name, each in plain.items()
    }
    if fields["kind"] != "text":
        return NumberBins(**fields)
    del fields["kind"]  # which is that of all levels
    return LevelBins(**fields)


def _increases(values: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(values))
