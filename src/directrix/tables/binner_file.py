"""A fitted binner as JSON (``docs/tables.md``), and back.

Nothing in a text is trusted: `read_state` checks every field before it is used, and raises
`BinnerFileError` for any text that `write_state` could not have written. A checksum tells damage
from another binner.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from directrix.exceptions.files import BinnerFileError
from directrix.tables.binner_parameters import check_parameters, special_numbers
from directrix.tables.bins import Bins, LevelBins, NumberBins

FORMAT = "directrix.binner"
VERSION = 1

_KEYS = {"checksum", "columns", "crosses", "format", "named", "params", "version", "writer"}
_PARAMS = {
    *("crosses", "encoding", "max_bins", "min_level_rows", "min_rows", "sparse_output"),
    "special_values",
}
_NUMBER_KEYS = {"cuts", "kind", "means", "name", "special_values", "weights"}
_LEVEL_KEYS = {"kind", "levels", "name", "weights"}
_NUMBER_KINDS = {"boolean", "date", "number"}


class BinnerState(NamedTuple):
    """All that makes a fitted binner.

    Parameters
    ----------
    params : mapping
        Parameters of the constructor.
    bins : tuple of NumberBins and LevelBins
    crosses : tuple of pairs of int
        Positions of the columns of each cross.
    named : bool
        Whether the columns had names.
    """

    params: Mapping[str, Any]
    bins: tuple[Bins, ...]
    crosses: tuple[tuple[int, int], ...]
    named: bool


def write_state(state: BinnerState) -> str:
    """Return a fitted binner as JSON; dates among the special values are written as days."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "writer": f"directrix {version('directrix')}",
        "params": _plain_params(state.params),
        "named": state.named,
        "columns": [_plain_bins(bins) for bins in state.bins],
        "crosses": [list(pair) for pair in state.crosses],
    }
    content["checksum"] = _checksum(content)
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"


def read_state(text: str) -> BinnerState:
    """Return the fitted binner of a text, after checking all of it."""
    content = _parsed(text)
    _require(
        isinstance(content, dict) and content.get("format") == FORMAT,
        "it is something else than a binner",
    )
    written = content.get("version")
    _require(type(written) is int, "its version is not a whole number")
    newer = f"its version is {written}, and this program reads {VERSION}: install a newer directrix"
    _require(written == VERSION, newer)
    _require(set(content) == _KEYS, "it lacks an entry or has one too many")
    given = content.pop("checksum")
    _require(given == _checksum(content), "its checksum is not that of its content: it is damaged")
    _require(type(content["writer"]) is str, "its writer is not text")
    _require(type(content["named"]) is bool, "it does not say whether the columns have names")
    columns = content["columns"]
    _require(isinstance(columns, list) and columns, "its columns are not a list of some")
    bins = tuple(map(_bins, columns))
    names = [column.name for column in bins]
    _require(len(set(names)) == len(names), "two columns have the same name")
    numbered = [f"x{k}" for k in range(len(names))]
    _require(content["named"] or names == numbered, "columns without names are not numbered")
    params = _params(content["params"])
    crosses = _crosses(content["crosses"], len(bins))
    return BinnerState(params, bins, crosses, content["named"])


def _parsed(text: str) -> Any:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _require(len(dict(pairs)) == len(pairs), "an entry occurs twice")
        return dict(pairs)

    def refuse(name: str) -> None:
        msg = f"{name} is not JSON"
        raise BinnerFileError(msg)

    try:
        return json.loads(text, object_pairs_hook=distinct, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BinnerFileError):
            raise
        msg = f"it is not JSON ({error})"
        raise BinnerFileError(msg) from None


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a checksum of the content, which does not depend on spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()}"


# ── parameters ────────────────────────────────────────────────────────────────────────────────────


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
        "crosses": [[_plain_name(name) for name in pair] for pair in params["crosses"]],
        "sparse_output": bool(params["sparse_output"]),
    }


def _plain_number(number: Any) -> int | float:
    return int(number) if isinstance(number, int | np.integer) else float(number)


def _plain_name(name: Any) -> str | int:
    return str(name) if isinstance(name, str) else int(name)


def _params(plain: Any) -> dict[str, Any]:
    _require(
        isinstance(plain, dict) and set(plain) == _PARAMS, "its parameters are not those of Binner"
    )
    try:
        check_parameters(plain)
    except ValueError as error:
        raise BinnerFileError(str(error)) from None
    _require(type(plain["sparse_output"]) is bool, "sparse_output is not a truth value")
    special = plain["special_values"]
    by_column = special if isinstance(special, dict) else {} if special is None else {"": special}
    for values in by_column.values():
        _require(_are_distinct(values), "special_values are not different finite numbers")
    crosses = plain["crosses"]
    pairs = isinstance(crosses, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and all(type(name) is str or (type(name) is int and name >= 0) for name in pair)
        for pair in crosses
    )
    _require(pairs, "crosses are not pairs of columns")
    return {**plain, "crosses": [tuple(pair) for pair in crosses]}


def _crosses(plain: Any, n_columns: int) -> tuple[tuple[int, int], ...]:
    def is_pair(pair: Any) -> bool:
        return (
            isinstance(pair, list)
            and len(pair) == 2
            and all(type(k) is int and 0 <= k < n_columns for k in pair)
            and pair[0] != pair[1]
        )

    valid = isinstance(plain, list) and all(map(is_pair, plain))
    _require(valid, "its crosses are not pairs of its columns")
    pairs = tuple((first, second) for first, second in plain)
    _require(len(set(pairs)) == len(pairs), "a cross occurs twice")
    return pairs


# ── columns ───────────────────────────────────────────────────────────────────────────────────────


def _plain_bins(bins: Bins) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": bins.name, "kind": bins.kind, "weights": list(bins.weights)}
    if isinstance(bins, LevelBins):
        groups = {"groups": list(bins.groups)} if bins.groups else {}
        return {**plain, "levels": list(bins.levels), **groups}
    return {
        **plain,
        "cuts": list(bins.cuts),
        "means": list(bins.means),
        "special_values": list(bins.special_values),
    }


def _bins(plain: Any) -> Bins:
    _require(isinstance(plain, dict), "a column is not an object")
    name, kind = plain.get("name"), plain.get("kind")
    _require(type(name) is str, "a column has no name")
    bins: Bins
    if kind == "text":
        complete = set(plain) - {"groups"} == _LEVEL_KEYS
        _require(complete, f"column {name!r} lacks an entry or has one too many")
        levels = plain["levels"]
        texts = isinstance(levels, list) and all(type(level) is str for level in levels)
        _require(texts and _increases(levels), f"the levels of {name!r} are not sorted texts")
        groups = _groups(plain.get("groups", []), len(levels), name)
        bins = LevelBins(name, tuple(levels), _numbers(plain["weights"]), groups)
    else:
        _require(type(kind) is str and kind in _NUMBER_KINDS, f"column {name!r} has no kind")
        _require(set(plain) == _NUMBER_KEYS, f"column {name!r} lacks an entry or has one too many")
        bins = NumberBins(
            name,
            kind,
            _numbers(plain["cuts"]),
            _numbers(plain["means"]),
            _numbers(plain["special_values"]),
            _numbers(plain["weights"]),
        )
        _check_numbers(bins)
    valid = len(bins.weights) == bins.n_cells and min(bins.weights) >= 0
    _require(valid, f"the weights of {name!r} are not one for each cell")
    return bins


def _groups(plain: Any, n_levels: int, name: str) -> tuple[int, ...]:
    """Return the group of each level; none if each level has a cell of its own."""
    if plain == []:
        return ()
    valid = isinstance(plain, list) and all(type(number) is int for number in plain)
    valid = valid and len(plain) == n_levels > max(plain) + 1
    # Groups are numbered in the order of their first levels.
    seen = list(dict.fromkeys(plain)) if valid else [-1]
    _require(valid and seen == list(range(len(seen))), f"the groups of {name!r} are not valid")
    return tuple(plain)


def _check_numbers(bins: NumberBins) -> None:
    name = bins.name
    _require(_increases(bins.cuts), f"the cuts of {name!r} do not increase")
    means = bins.means
    valid = len(means) == bins.n_ordered and all(low <= high for low, high in pairwise(means))
    _require(valid, f"the means of {name!r} are not one for each bin, in their order")
    distinct = len(set(bins.special_values)) == len(bins.special_values)
    _require(distinct, f"the special values of {name!r} are not different")
    if bins.kind == "boolean":
        valid = not bins.special_values and len(bins.cuts) <= 1
        valid = valid and all(0 <= cut < 1 for cut in bins.cuts)
        _require(valid, f"the cut of {name!r} is not between False and True")


def _numbers(plain: Any) -> tuple[float, ...]:
    _require(_are_numbers(plain), "a list of numbers holds something else")
    return tuple(map(float, plain))


def _are_numbers(values: Any) -> bool:
    # A number of many digits is no float64, and would be slow to convert.
    return isinstance(values, list) and all(
        (type(value) is float and isfinite(value)) or (type(value) is int and abs(value) < 2**53)
        for value in values
    )


def _are_distinct(values: Any) -> bool:
    return _are_numbers(values) and len(set(values)) == len(values)


def _increases(values: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(values))


def _require(condition: object, otherwise: str) -> None:
    if not condition:
        raise BinnerFileError(otherwise)
