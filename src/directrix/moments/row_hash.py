"""Hash of the feature values of each row; equal rows have equal hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.moments.rows import SparseRows

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.moments.rows import Rows

_VALUES_AT_A_TIME = 1 << 16  # few enough that a block and its bits stay in the cache
_FEWEST_ROWS = 256  # to take so many rows out of a table costs as much as to hash them
_MIXED_AT_A_TIME = 1 << 14

# Steele, Lea and Flood 2014 (SplitMix64): the increment, and the multipliers of the finaliser.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_SHIFTS, _LAST_SHIFT = (np.uint64(30), np.uint64(27)), np.uint64(31)
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
        _sum_dense(rows, columns, sums)
    hashes: AnyArray = mix_bits(sums)
    return hashes


def _sum_dense(rows: Rows, columns: AnyArray, sums: AnyArray) -> None:
    """Fill in the sum of the bits of each row times the multipliers of the columns.

    Blocks are read in the order in which their values lie in memory, and all of them use the same
    two buffers: fresh ones cost more than the arithmetic.
    """
    n, d = rows.shape
    size = max(min(max(_VALUES_AT_A_TIME // max(d, 1), _FEWEST_ROWS), n), 1)
    values, shifted = np.empty(size * d), np.empty(size * d, dtype=np.uint64)
    for start in range(0, n, size):
        stop = min(start + size, n)
        block = rows.block(start, stop)
        by_column = block.flags.f_contiguous
        block = block.T if by_column else block
        summed = values[: block.size].reshape(block.shape)
        np.add(block, 0.0, out=summed)  # minus zero plus zero is zero
        bits, high = summed.view(np.uint64), shifted[: block.size].reshape(block.shape)
        np.right_shift(bits, _SHIFT, out=high)
        np.bitwise_xor(bits, high, out=bits)
        sums[start:stop] = columns @ bits if by_column else bits @ columns


def _value_bits(values: Any) -> Any:
    """Return the bits of each value (0 for either zero), with high bits folded into low ones.

    The low bits of small whole numbers are zero, and a product modulo 2⁶⁴ carries only upwards.
    """
    bits = (values + 0.0).view(np.uint64)  # minus zero plus zero is zero
    bits ^= bits >> _SHIFT
    return bits


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
