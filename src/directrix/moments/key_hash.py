"""Hash of the key columns of each row, the same on every engine."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments.row_hash import mix_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray

_STEP = np.uint64(0x9E3779B97F4A7C15)


def key_hash(columns: Sequence[Any], seed: int = 0) -> AnyArray:
    """Return an unsigned 64-bit hash for each row of some columns.

    Numbers hash by value, not by type: equal values such as 1, 1.0 and True have equal hashes. Text
    hashes by its UTF-8 bytes, dates and times by their microseconds (UTC). Missing values raise
    ValueError, because libraries represent them differently and folds would differ too.

    Parameters
    ----------
    columns : sequence of arrays
        At least one column; their order matters.
    seed : int
        A different seed gives different hashes.
    """
    total = None
    state = mix_bits(np.array([seed], dtype=np.int64).view(np.uint64) + _STEP)
    for column in columns:
        state = mix_bits(state + _STEP)
        part = mix_bits(_bits(np.asarray(column)) ^ state)
        with np.errstate(over="ignore"):
            total = part if total is None else mix_bits(total) + part
    if total is None:
        msg = "a key needs at least one column"
        raise ValueError(msg)
    hashes: AnyArray = total
    return hashes


def _bits(values: AnyArray) -> AnyArray:
    """Return 64 bits for each value, equal for equal values."""
    if values.dtype.kind == "O":
        values = _from_objects(values.tolist())
    dtype_kind = values.dtype.kind
    if dtype_kind in "mM":
        _require_present(not np.isnat(values).any())
        unit = "datetime64[us]" if dtype_kind == "M" else "timedelta64[us]"
        return values.astype(unit).view(np.uint64)
    if dtype_kind in "bi":
        return values.astype(np.int64).view(np.uint64)
    if dtype_kind == "u":
        return values.astype(np.uint64)
    if dtype_kind == "f":
        return _float_bits(values.astype(np.float64))
    return _text_bits(values.tolist())


def _from_objects(values: list[Any]) -> AnyArray:
    """Convert Python numbers, dates and times to NumPy arrays; leave other values unchanged."""
    types = set(map(type, values))
    # Every library has its own type for missing values.
    absent = any(value_type.__name__ in ("NoneType", "NAType", "NaTType") for value_type in types)
    _require_present(not absent and not any(value != value for value in values))  # noqa: PLR0124 - NaN
    if all(issubclass(value_type, bool | int | np.integer | np.bool_) for value_type in types):
        return np.array(values, dtype=np.int64)
    if all(
        issubclass(value_type, bool | int | float | Decimal | np.number) for value_type in types
    ):
        return np.array(values, dtype=np.float64)
    if all(issubclass(value_type, date) for value_type in types):
        return np.array([_in_utc(value) for value in values], dtype="datetime64[us]")
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _in_utc(time: Any) -> Any:
    if isinstance(time, datetime) and time.tzinfo is not None:
        return time.astimezone(UTC).replace(tzinfo=None)
    return time


def _float_bits(values: AnyArray) -> AnyArray:
    _require_present(not np.isnan(values).any())
    whole = (values >= -(2.0**63)) & (values < 2.0**64) & (np.floor(values) == values)
    high = values >= 2.0**63
    integers = np.where(whole & ~high, values, 0.0).astype(np.int64).view(np.uint64)
    integers |= np.where(whole & high, values, 0.0).astype(np.uint64)
    fractions = np.ascontiguousarray(np.where(whole, 0.0, values)).view(np.uint64)
    return np.where(whole, integers, fractions ^ _STEP)


def _text_bits(values: list[Any]) -> AnyArray:
    index_of: dict[Any, int] = {}
    index = [index_of.setdefault(value, len(index_of)) for value in values]
    digests = [hashlib.blake2b(_encoded(value), digest_size=8).digest() for value in index_of]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[index]


def _encoded(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


def _require_present(all_present: bool) -> None:  # noqa: FBT001 - its only argument
    if not all_present:
        msg = (
            "the key is missing in some rows, which then have no fold: fill it, or drop those rows"
        )
        raise ValueError(msg)
