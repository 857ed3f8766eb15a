"""A number for each row that depends on what is in it alone: how rows are split repeatably."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, IntArray
    from directrix.moments.rows import Rows

# Steele, Lea and Flood 2014 (SplitMix64): the increment, and the multipliers of the finaliser.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_hash(rows: Rows) -> AnyArray:
    """Return an unsigned 64-bit number for each row.

    The sum, modulo 2⁶⁴, over the row's values that are not zero of a mix of the value's bits with
    its column: the same for dense and sparse rows, for float32 and the float64 of equal value,
    in whatever order the rows come.
    """
    sums = np.zeros(rows.shape[0], dtype=np.uint64)
    columns = _mixed(_STEP * np.arange(1, rows.shape[1] + 1, dtype=np.uint64))
    for row, column, value in rows.stored():
        there = value != 0.0
        bits = np.ascontiguousarray(value[there]).view(np.uint64)
        np.add.at(sums, row[there], _mixed(bits ^ columns[column[there]]))
    hashes: AnyArray = _mixed(sums)
    return hashes


def stratified_folds(hashes: AnyArray, codes: AnyArray, n_folds: int) -> IntArray:
    """Return fold numbers that share out each class evenly and keep equal rows together.

    Parameters
    ----------
    hashes : array of uint64
        From `row_hash`.
    codes : array of int
        Class of each row, from zero.
    n_folds : int
    """
    folds = np.empty(len(hashes), dtype=np.int64)
    for code in np.unique(codes):
        own = codes == code
        _, place = np.unique(hashes[own], return_inverse=True)
        folds[own] = place % n_folds
    return folds


def _mixed(bits: Any) -> Any:
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))
