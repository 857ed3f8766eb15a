"""Parameters of a Binner, and a fitted binner as JSON (``docs/your-table.md``), and back.

Nothing in a text is trusted: `read_state` checks every field before it is used, and raises
`BinnerFileError` for any text that `write_state` could not have written. A checksum tells damage
from another binner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError, LevelNotFoundError, OwnBinsError
from directrix.exceptions.files import BinnerFileError, FileContentError
from directrix.files.layout import (
    ANY,
    Entry,
    Header,
    check_entries,
    is_flag,
    is_list_of,
    is_number,
    is_text,
    parse_json,
    refusing,
    require,
)
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
    """Raise an error for bins of the user's own that columns with these names cannot have."""
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
    entries={
        "named": Entry(is_flag, "it does not say whether the columns have names"),
        "columns": Entry(
            lambda columns: isinstance(columns, list) and columns,
            "its columns are not a list of some",
        ),
        "crosses": ANY,
        "params": ANY,
        "checksum": ANY,
    },
)
_NUMBERS = Entry(
    lambda values: is_list_of(values, is_number), "a list of numbers holds something else"
)
_COLUMN = {"name": ANY, "kind": ANY, "weights": _NUMBERS, "missing_cell": ANY}
_LISTS_OF_NUMBERS = ("cuts", "means", "special_values")
_STATED = Entry(is_flag, "it does not say whether cuts are stated")
_NUMBER_COLUMN = _COLUMN | dict.fromkeys(_LISTS_OF_NUMBERS, _NUMBERS) | {"is_stated": _STATED}
_LEVEL_COLUMN = _COLUMN | {"levels": ANY, "groups": ANY}


def write_state(state: BinnerState) -> str:
    """Return a fitted binner as JSON; dates among the special values are written as days."""
    content = {
        **_HEADER.stamp(),
        "params": _plain_params(state.params),
        "named": state.named,
        "columns": [_plain_bins(bins) for bins in state.bins],
        "crosses": [list(pair) for pair in state.crosses],
    }
    content["checksum"] = _checksum(content)
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"


def read_state(text: str) -> BinnerState:
    """Return the fitted binner of a text, after checking all of it."""
    with refusing(BinnerFileError):
        content = parse_json(text, "it")
        _HEADER.check_header(content)
        given = content.pop("checksum")
        damaged = "its checksum is not that of its content: it is damaged"
        require(given == _checksum(content), damaged)
        bins = tuple(map(_bins, content["columns"]))
        names = [column.name for column in bins]
        require(len(set(names)) == len(names), "two columns have the same name")
        numbered = [f"x{k}" for k in range(len(names))]
        require(content["named"] or names == numbered, "columns without names are not numbered")
        params = _params(content["params"])
        crosses = _crosses(content["crosses"], len(bins))
    return BinnerState(params, bins, crosses, content["named"])


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a checksum of the content, which does not depend on spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()}"


def _plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    check_parameters(params)
    special = params["special_values"]
    if isinstance(special, Mapping):
        special = {
            str(name): list(special_numbers(values, "special_values"))
            for name, values in special.items()
        }
    elif special is not None:
        special = list(special_numbers(special, "special_values"))
    return {
        "max_bins": int(params["max_bins"]),
        "min_rows": _plain_number(params["min_rows"]),
        "min_level_rows": _plain_number(params["min_level_rows"]),
        "special_values": special,
        "encoding": str(params["encoding"]),
        "crosses": [
            [str(name) if isinstance(name, str) else int(name) for name in pair]
            for pair in params["crosses"]
        ],
        "sparse_output": bool(params["sparse_output"]),
        **{name: _plain_own(params[name]) for name in OWN_BINS if params[name] is not None},
    }


def _plain_own(given: Any) -> Any:
    """Return cuts, groups or bins that a user gave as JSON has them; dates as texts."""
    if isinstance(given, Mapping):
        return {str(name): _plain_own(value) for name, value in given.items()}
    if isinstance(given, date | np.datetime64):
        return date_text(days_of(given))
    if isinstance(given, timedelta | time | np.timedelta64):
        return days_of(given)
    if isinstance(given, str | bool):
        return given
    if isinstance(given, Iterable):
        return [_plain_own(value) for value in given]
    return bool(given) if isinstance(given, np.bool_) else _plain_number(given)


def _plain_number(number: Any) -> int | float:
    return int(number) if isinstance(number, int | np.integer) else float(number)


def _are_special(special: Any) -> bool:
    """Return whether values are lists of different numbers: none, of all columns, or by column."""
    by_column = special if isinstance(special, dict) else {} if special is None else {"": special}
    lists = by_column.values()
    return all(is_list_of(each, is_number) and len(set(each)) == len(each) for each in lists)


def _is_name(name: Any) -> bool:
    return type(name) is str or (type(name) is int and name >= 0)


_PARAMS = {
    "crosses": Entry(
        lambda crosses: is_list_of(crosses, lambda pair: is_list_of(pair, _is_name, 2)),
        "crosses are not pairs of columns",
    ),
    "sparse_output": Entry(is_flag, "sparse_output is not a truth value"),
    "special_values": Entry(_are_special, "special_values are not different finite numbers"),
    **dict.fromkeys(("encoding", "max_bins", "min_level_rows", "min_rows"), ANY),
}


def _are_own(is_value: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, dict) and all(map(is_value, given.values()))


def _is_level_or_number(value: Any) -> bool:
    return is_text(value) or is_number(value) or is_flag(value)


_OWN_PARAMS = {
    "cuts": Entry(
        _are_own(lambda cuts: is_list_of(cuts, _is_level_or_number)),
        "cuts are not lists of numbers or dates",
    ),
    "groups": Entry(
        _are_own(
            lambda groups: is_list_of(groups, lambda each: is_list_of(each, _is_level_or_number))
        ),
        "groups are not lists of lists of levels",
    ),
    "missing_with": Entry(_are_own(_is_level_or_number), "missing_with does not name bins"),
}


def _params(plain: Any) -> dict[str, Any]:
    theirs = "its parameters are not those of Binner"
    known = isinstance(plain, dict) and set(_PARAMS) <= set(plain) <= {*_PARAMS, *_OWN_PARAMS}
    require(known, theirs)
    try:
        check_parameters(plain)
    except ValueError as error:
        raise FileContentError(str(error)) from None
    check_entries(plain, _PARAMS | _OWN_PARAMS, theirs, may_lack=set(_OWN_PARAMS))
    return {**plain, "crosses": [tuple(pair) for pair in plain["crosses"]]}


def _crosses(plain: Any, n_columns: int) -> tuple[tuple[int, int], ...]:
    def is_column(k: Any) -> bool:
        return type(k) is int and 0 <= k < n_columns

    valid = is_list_of(plain, lambda pair: is_list_of(pair, is_column, 2) and pair[0] != pair[1])
    require(valid, "its crosses are not pairs of its columns")
    pairs = tuple((first, second) for first, second in plain)
    require(len(set(pairs)) == len(pairs), "a cross occurs twice")
    return pairs


def _plain_bins(bins: Bins) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": bins.name, "kind": bins.kind, "weights": list(bins.weights)}
    if bins.missing_cell:
        plain["missing_cell"] = bins.missing_cell
    if isinstance(bins, LevelBins):
        groups = {"groups": list(bins.groups)} if bins.groups else {}
        return {**plain, "levels": list(bins.levels), **groups}
    return {
        **plain,
        "cuts": list(bins.cuts),
        "means": list(bins.means),
        "special_values": list(bins.special_values),
        "is_stated": bins.is_stated,
    }


def _bins(plain: Any) -> Bins:
    require(isinstance(plain, dict), "a column is not an object")
    name, kind = plain.get("name"), plain.get("kind")
    require(type(name) is str, "a column has no name")
    known = type(kind) is str and kind in {"boolean", "date", "number", "text"}
    require(known, f"column {name!r} has no kind")
    entries = _LEVEL_COLUMN if kind == "text" else _NUMBER_COLUMN
    incomplete = f"column {name!r} lacks an entry or has one too many"
    check_entries(plain, entries, incomplete, may_lack={"groups", "missing_cell"})
    bins: Bins
    weights = _floats(plain["weights"])
    if kind == "text":
        levels = plain["levels"]
        ordered = is_list_of(levels, is_text) and _increases(levels)
        require(ordered, f"the levels of {name!r} are not sorted texts")
        groups = _groups(plain.get("groups", []), len(levels), name)
        bins = LevelBins(name, tuple(levels), weights, groups)
    else:
        cuts, means, special = (_floats(plain[each]) for each in _LISTS_OF_NUMBERS)
        bins = NumberBins(name, kind, cuts, means, special, weights, 0, plain["is_stated"])
        _check_numbers(bins)
    valid = len(bins.weights) == bins.n_cells and min(bins.weights) >= 0
    require(valid, f"the weights of {name!r} are not one for each cell")
    cell = plain.get("missing_cell", 0)
    valid = type(cell) is int and 0 <= cell < bins.n_cells and not (cell and bins.weights[0])
    require(valid, f"the cell of the missing values of {name!r} is not one of its cells")
    return replace(bins, missing_cell=cell)


def _groups(plain: Any, n_levels: int, name: str) -> tuple[int, ...]:
    """Return the group of each level; none if each level has a cell of its own."""
    if plain == []:
        return ()
    valid = is_list_of(plain, lambda number: type(number) is int, n_levels)
    valid = valid and n_levels > max(plain) + 1
    # Groups are numbered in the order of their first levels.
    seen = list(dict.fromkeys(plain)) if valid else [-1]
    require(valid and seen == list(range(len(seen))), f"the groups of {name!r} are not valid")
    return tuple(plain)


def _check_numbers(bins: NumberBins) -> None:
    name = bins.name
    require(_increases(bins.cuts), f"the cuts of {name!r} do not increase")
    means = bins.means
    valid = len(means) == bins.n_ordered and all(low <= high for low, high in pairwise(means))
    require(valid, f"the means of {name!r} are not one for each bin, in their order")
    distinct = len(set(bins.special_values)) == len(bins.special_values)
    require(distinct, f"the special values of {name!r} are not different")
    if bins.kind == "boolean":
        valid = not bins.special_values and len(bins.cuts) <= 1
        valid = valid and all(0 <= cut < 1 for cut in bins.cuts)
        require(valid, f"the cut of {name!r} is not between False and True")


def _floats(values: list[Any]) -> tuple[float, ...]:
    return tuple(map(float, values))


def _increases(values: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(values))
