"""A number for each row that depends on what is in it alone; equal rows have equal numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments.rows import SparseRows

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.moments.rows import Rows

_VALUES = 1 << 17  # hashed at a time, so that they stay in the cache

# Steele, Lea and Flood 2014 (SplitMix64): the increment, and the multipliers of the finaliser.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_hash(rows: Rows) -> AnyArray:
    """Return an unsigned 64-bit number for each row.

    The sum, modulo 2⁶⁴, over the row's values of the value's bits times an odd number of its
    column, mixed: the same for dense and sparse rows, for float32 and the float64 of equal value,
    in whatever order the rows come. One mix a row costs far less than one a value.
    """
    n, d = rows.shape
    sums = np.zeros(n, dtype=np.uint64)
    columns = mixed(_STEP * np.arange(1, d + 1, dtype=np.uint64)) | np.uint64(1)
    if isinstance(rows, SparseRows):
        for row, column, value in rows.stored():
            np.add.at(sums, row, _value_bits(value) * columns[column])
    else:
        size = max(_VALUES // d, 1)
        for start in range(0, n, size):
            stop = min(start + size, n)
            block = np.asarray(rows.block(start, stop), dtype=np.float64)
            sums[start:stop] = _value_bits(block) @ columns
    hashes: AnyArray = mixed(sums)
    return hashes


def _value_bits(values: Any) -> Any:
    """Return the bits of each value, 0 for either zero, its high bits in the low ones too.

    Whole numbers have no low bits of their own, and a product modulo 2⁶⁴ carries upwards only.
    """
    bits = (values + 0.0).view(np.uint64)  # minus zero plus zero is zero
    bits ^= bits >> _FOLD
    return bits


def mixed(bits: Any) -> Any:
    """Return 64 bits in which each depends on all that were given."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))
