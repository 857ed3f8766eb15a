"""A number for each row from some of its columns, the same wherever the row is read."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments.row_hash import mixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray

_STEP = np.uint64(0x9E3779B97F4A7C15)


def key_hash(columns: Sequence[Any], seed: int = 0) -> AnyArray:
    """Return an unsigned 64-bit number for each row of some columns.

    Numbers hash by value, not by type: 3, 3.0 and True differ from nothing that equals them. Text
    hashes by its UTF-8 bytes, dates and times by their microseconds (UTC). A missing value is
    refused: libraries disagree on what it is, and so would the folds.

    Parameters
    ----------
    columns : sequence of arrays
        At least one, in an order that matters.
    seed : int
        Another seed makes another hash.
    """
    total = None
    state = mixed(np.array([seed], dtype=np.int64).view(np.uint64) + _STEP)
    for column in columns:
        state = mixed(state + _STEP)
        part = mixed(_bits(np.asarray(column)) ^ state)
        with np.errstate(over="ignore"):
            total = part if total is None else mixed(total) + part
    if total is None:
        msg = "a key needs one column at least"
        raise ValueError(msg)
    hashes: AnyArray = total
    return hashes


def _bits(values: AnyArray) -> AnyArray:
    """Return 64 bits for each value, equal for equal values."""
    if values.dtype.kind == "O":
        values = _from_objects(values.tolist())
    kind = values.dtype.kind
    if kind in "mM":
        _require_all(not np.isnat(values).any())
        unit = "datetime64[us]" if kind == "M" else "timedelta64[us]"
        return values.astype(unit).view(np.uint64)
    if kind in "bi":
        return values.astype(np.int64).view(np.uint64)
    if kind == "u":
        return values.astype(np.uint64)
    if kind == "f":
        return _float_bits(values.astype(np.float64))
    return _text_bits(values.tolist())


def _from_objects(values: list[Any]) -> AnyArray:
    """Return Python's numbers, dates and times as NumPy's; all else stays as it is."""
    kinds = set(map(type, values))
    # Each library has a type of its own for what is missing.
    absent = any(kind.__name__ in ("NoneType", "NAType", "NaTType") for kind in kinds)
    _require_all(not absent and not any(value != value for value in values))  # noqa: PLR0124 - NaN
    if all(issubclass(kind, bool | int | np.integer | np.bool_) for kind in kinds):
        return np.array(values, dtype=np.int64)
    if all(issubclass(kind, bool | int | float | Decimal | np.number) for kind in kinds):
        return np.array(values, dtype=np.float64)
    if all(issubclass(kind, date) for kind in kinds):
        return np.array([_in_utc(value) for value in values], dtype="datetime64[us]")
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _in_utc(time: Any) -> Any:
    if isinstance(time, datetime) and time.tzinfo is not None:
        return time.astimezone(UTC).replace(tzinfo=None)
    return time


def _float_bits(values: AnyArray) -> AnyArray:
    _require_all(not np.isnan(values).any())
    whole = (values >= -(2.0**63)) & (values < 2.0**64) & (np.floor(values) == values)
    high = values >= 2.0**63
    integers = np.where(whole & ~high, values, 0.0).astype(np.int64).view(np.uint64)
    integers |= np.where(whole & high, values, 0.0).astype(np.uint64)
    fractions = np.ascontiguousarray(np.where(whole, 0.0, values)).view(np.uint64)
    return np.where(whole, integers, fractions ^ _STEP)


def _text_bits(values: list[Any]) -> AnyArray:
    places: dict[Any, int] = {}
    place = [places.setdefault(value, len(places)) for value in values]
    digests = [hashlib.blake2b(_encoded(value), digest_size=8).digest() for value in places]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[place]


def _encoded(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


def _require_all(present: bool) -> None:  # noqa: FBT001 - the one thing it is told
    if not present:
        msg = (
            "the key is missing in some rows, which then have no fold: fill it, or drop those rows"
        )
        raise ValueError(msg)
