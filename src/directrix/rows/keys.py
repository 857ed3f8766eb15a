"""Row keys, by which folds and samples are drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.rows.labels import MISSING_TYPES, close_integers
from directrix.rows.rows import Matrix, SparseRows

# ── Hash of the key columns of each row, the same on every engine ─────────────────────────────────

_STEP = np.uint64(0x9E3779B97F4A7C15)


def key_hash(columns: Sequence[Any], seed: int = 0) -> AnyArray:
    """Return an unsigned 64-bit hash for each row of some columns.

    Numbers hash by value, not by type: equal values such as 1, 1.0 and True have equal hashes. Text
    hashes by its UTF-8 bytes, dates and times by their microseconds (UTC). Missing values raise
    ValueError, because libraries represent them differently and folds would differ too.

    The order of the columns matters, and another seed gives other hashes.
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
    absent = any(value_type.__name__ in MISSING_TYPES for value_type in types)
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


# ── Hash of the feature values of each row; equal rows have equal hashes ──────────────────────────

_VALUES_AT_A_TIME = 1 << 16  # few enough that a block and its bits stay in the cache
_COLUMN_ROWS = 1 << 13  # fewer, and the calls of NumPy cost as much as their work
_MIXED_AT_A_TIME = 1 << 14

# Steele, Lea and Flood 2014 (SplitMix64): the increment, and the multipliers of the finaliser.
_SHIFT = np.uint64(29)
_SHIFTS, _LAST_SHIFT = (np.uint64(30), np.uint64(27)), np.uint64(31)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_hash(rows: Matrix) -> AnyArray:
    """Return an unsigned 64-bit hash for each row.

    The hash is the sum, modulo 2⁶⁴, of the bits of each value times an odd multiplier of its
    column, with the bits of the sum mixed. It is the same for dense and sparse rows, for float32
    and float64 of equal value, and in any order of the rows. Mixing once per row costs far less
    than mixing once per value.
    """
    n, d = rows.shape
    sums = np.zeros(n, dtype=np.uint64)
    columns = mix_bits(_STEP * np.arange(1, d + 1, dtype=np.uint64)) | np.uint64(1)
    if isinstance(rows, SparseRows):
        for row, column, value in rows.stored():
            buffers = np.empty(len(value)), np.empty(len(value), dtype=np.uint64)
            np.add.at(sums, row, _value_bits(value, *buffers) * columns[column])
    else:
        _sum_dense(rows, columns, sums)
    hashes: AnyArray = mix_bits(sums)
    return hashes


def _sum_dense(rows: Matrix, columns: AnyArray, sums: AnyArray) -> None:
    """Fill in the sum of the bits of each row times the multipliers of the columns.

    Blocks are read in the order in which their values lie in memory, and all of them use the same
    two buffers: fresh ones cost more than the arithmetic. Of blocks by column only a column at a
    time has to stay in the cache.
    """
    n, d = rows.shape
    size = max(min(max(_VALUES_AT_A_TIME // max(d, 1), _COLUMN_ROWS), n), 1)
    buffers = np.empty(size * d), np.empty(size * d, dtype=np.uint64)
    for start in range(0, n, size):
        part = sums[start : start + size]
        block = rows.block(start, start + len(part))
        if block.flags.f_contiguous:
            for column, multiplier in zip(block.T, columns, strict=True):
                bits = _value_bits(column, *buffers)
                np.add(part, np.multiply(bits, multiplier, out=bits), out=part)
        else:
            np.matmul(_value_bits(block, *buffers), columns, out=part)


def _value_bits(values: Any, floats: FloatArray, shifted: AnyArray) -> Any:
    """Return the bits of each value (0 for either zero), with high bits folded into low ones.

    The low bits of small whole numbers are zero, and a product modulo 2⁶⁴ carries only upwards. The
    buffers are overwritten, and one of them is returned.
    """
    floats, shifted = (each[: values.size].reshape(values.shape) for each in (floats, shifted))
    np.add(values, 0.0, out=floats)  # minus zero plus zero is zero
    bits = floats.view(np.uint64)
    np.right_shift(bits, _SHIFT, out=shifted)
    return np.bitwise_xor(bits, shifted, out=bits)


def mix_bits(bits: Any) -> Any:
    """Return 64 mixed bits, each of which depends on all bits of the input (SplitMix64)."""
    mixed = np.array(bits, dtype=np.uint64, order="C")  # else it is copied when it is flattened
    flat = mixed.reshape(-1)
    shifted = np.empty(min(flat.size, _MIXED_AT_A_TIME), dtype=np.uint64)
    for start in range(0, flat.size, _MIXED_AT_A_TIME):
        part = flat[start : start + _MIXED_AT_A_TIME]
        high = shifted[: part.size]
        for shift, factor in zip(_SHIFTS, _MIX, strict=True):
            np.right_shift(part, shift, out=high)
            np.bitwise_xor(part, high, out=part)
            np.multiply(part, factor, out=part)
        np.right_shift(part, _LAST_SHIFT, out=high)
        np.bitwise_xor(part, high, out=part)
    return mixed[()]


# ── Row keys, by which folds and samples are drawn; copies of equal rows have different keys ──────

_HALF = np.uint64(32)
#: Number of rows that a `CopyCounter` remembers, at 8 bytes each.
_MOST_REMEMBERED = 1 << 22


def hash_with_label(hashes: AnyArray, y: AnyArray) -> AnyArray:
    """Combine hashes of the features with the label.

    Without the label, copy t of a row would have the same key in both classes, and the share of
    positives among held-out copies would depend on that among the training copies.

    ``hashes`` are those of the features, from `row_hash`.
    """
    hashes_with_label: AnyArray = mix_bits(hashes ^ _label_hash(y))
    return hashes_with_label


def content_identity(
    hashes: AnyArray, weight: FloatArray | None, segment: AnyArray | None = None
) -> AnyArray:
    """Combine hashes of rows with their labels, from `hash_with_label`, with what they count for.

    Without weights, rows have a weight of one.
    """
    weight = np.ones(1) if weight is None else np.asarray(weight)
    beside = key_hash([weight] if segment is None else [weight, segment])
    identity: AnyArray = mix_bits(hashes ^ beside)
    return identity


def _label_hash(y: AnyArray) -> AnyArray:
    """Return the `key_hash` of each label; every distinct one is hashed once."""
    small = close_integers(y)
    if small is None:
        distinct, index = np.unique(y, return_inverse=True)
        return key_hash([distinct])[index]
    offsets, lowest = small
    table = key_hash([np.arange(lowest, lowest + int(offsets.max()) + 1)])
    return table[offsets]


def copy_keys(hashes: AnyArray, number: IntArray, part: int = 0) -> AnyArray:
    """Return the key of each copy of a row.

    ``hashes`` are from `hash_with_label`, ``number`` counts the equal rows before each row
    (`copy_numbers` or a `CopyCounter`) in the partition ``part``, by which the keys of copy 0 of a
    row differ between partitions.
    """
    with np.errstate(over="ignore"):
        keys: AnyArray = mix_bits(hashes + _STEP * number.astype(np.uint64))
        if part:
            keys = mix_bits(keys ^ mix_bits(_STEP * np.uint64(part)))
    return keys


def first_copies(identity: AnyArray) -> AnyArray:
    """Return the key of the first copy of each row."""
    return copy_keys(identity, np.zeros(len(identity), dtype=np.int64))


def copy_numbers(hashes: AnyArray, weight: FloatArray | None = None) -> IntArray:
    """Return the number of equal rows that come before each row.

    Equal rows are counted in the order of their weights, so that the order in which rows of
    different weight arrive does not matter.
    """
    order = np.argsort(hashes, kind="stable") if weight is None else np.lexsort((weight, hashes))
    ranked = hashes[order]
    first = np.append(True, ranked[1:] != ranked[:-1])[: len(ranked)]
    starts = np.flatnonzero(first)
    number = np.empty(len(hashes), dtype=np.int64)
    number[order] = np.arange(len(hashes)) - starts[np.cumsum(first) - 1]
    return number


class CopyCounter:
    """Keys for the copies of rows that arrive block by block.

    The counter remembers the hashes of some four million rows. Then it starts again from zero, as
    if with another partition.
    """

    def __init__(self, part: int = 0) -> None:
        self._part = part
        self._epoch = 0
        self._seen: AnyArray = np.empty(0, dtype=np.uint64)

    def keys(self, hashes: AnyArray, number: IntArray | None = None) -> AnyArray:
        """Return the key of each row of the next block, whose `numbers` may have been asked."""
        number = self.numbers(hashes) if number is None else number
        # There are fewer than 2³² partitions, and fewer than 2³² epochs.
        return copy_keys(hashes, number, self._part + (self._epoch << 32))

    def numbers(self, hashes: AnyArray) -> IntArray:
        """Return the number of equal rows before each row of the next block."""
        if len(self._seen) > _MOST_REMEMBERED:
            self._epoch += 1
            self._seen = self._seen[:0]
        before, number = self._seen, np.zeros(len(hashes), dtype=np.int64)
        # Of two sorted runs a stable sort is a merge.
        self._seen = np.sort(np.concatenate([before, np.sort(hashes)]), kind="stable")
        copied = np.unique(self._seen[1:][self._seen[1:] == self._seen[:-1]])
        if len(copied):  # most rows have no copies, and need not be looked up
            index = np.searchsorted(copied, hashes).clip(max=len(copied) - 1)
            rows = np.flatnonzero(copied[index] == hashes)
            earlier = np.searchsorted(before, copied, "right") - np.searchsorted(before, copied)
            number[rows] = earlier[index[rows]] + copy_numbers(hashes[rows])
        return number


def position_keys(n_rows: int, file: int, first: int) -> AnyArray:
    """Return keys for rows identified by their position in a file, in whatever blocks it is read.

    ``file`` is the number of the file, and ``first`` the position in it of the first of these rows.
    """
    with np.errstate(over="ignore"):
        offsets = np.arange(first, first + n_rows, dtype=np.uint64) * _STEP
        keys: AnyArray = mix_bits(offsets ^ mix_bits(np.uint64(file) + _STEP))
    return keys


def folds_by_key(keys: AnyArray, n_folds: int) -> IntArray:
    """Return a pseudorandom fold for each key; folds have equal size only in expectation."""
    # The upper half of the key as a fraction of 2³², times n_folds: faster than a division.
    return ((keys >> _HALF) * np.uint64(n_folds) >> _HALF).astype(np.int32)


def stratified_folds(keys: AnyArray, strata: AnyArray, n_folds: int) -> IntArray:
    """Return folds balanced within each stratum: rows in turn, in the order of their keys."""
    folds = np.empty(len(keys), dtype=np.int64)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        folds[rows[np.argsort(keys[rows], kind="stable")]] = np.arange(len(rows)) % n_folds
    return folds
