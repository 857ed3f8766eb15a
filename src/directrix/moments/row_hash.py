"""Hash of the feature values of each row; equal rows have equal hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments.rows import SparseRows

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.moments.rows import Rows

_VALUES_AT_A_TIME = 1 << 17  # few enough to stay in the cache

# Steele, Lea and Flood 2014 (SplitMix64): the increment, and the multipliers of the finaliser.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_hash(rows: Rows) -> AnyArray:
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
            np.add.at(sums, row, _value_bits(value) * columns[column])
    else:
        size = max(_VALUES_AT_A_TIME // d, 1)
        for start in range(0, n, size):
            stop = min(start + size, n)
            block = np.asarray(rows.block(start, stop), dtype=np.float64)
            sums[start:stop] = _value_bits(block) @ columns
    hashes: AnyArray = mix_bits(sums)
    return hashes


def _value_bits(values: Any) -> Any:
    """Return the bits of each value (0 for either zero), with high bits folded into low ones.

    The low bits of small whole numbers are zero, and a product modulo 2⁶⁴ carries only upwards.
    """
    bits = (values + 0.0).view(np.uint64)  # minus zero plus zero is zero
    bits ^= bits >> _SHIFT
    return bits


def mix_bits(bits: Any) -> Any:
    """Return 64 mixed bits, each of which depends on all bits of the input (SplitMix64)."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))
