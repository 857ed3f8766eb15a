"""Keys that tell rows apart, copies of equal rows included: what folds and samples are drawn by.

A fold that is a function of a row's features puts all copies of a value into one fold, and the
model that scores them has never seen that value. New rows are not like that. Copy t of a row has
the key ``hash(features, label, t)``: it says nothing of where the other copies went, so copies
spread over the folds as independent rows do, whatever order the rows come in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from directrix.moments.key_hash import key_hash
from directrix.moments.row_hash import mixed

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
#: Different rows that a `CopyCounter` remembers: 16 bytes each.
_MOST_REMEMBERED = 1 << 22


def labelled(hashes: AnyArray, y: AnyArray) -> AnyArray:
    """Return hashes of features and label together.

    Without the label, copy t of a value would have the same key in both classes, and the share of
    positives among the copies held out would follow that of the copies trained on.

    Parameters
    ----------
    hashes : array of uint64 of shape (n,)
        Of the features, from `row_hash`.
    y : array of shape (n,)
        Labels.
    """
    both: AnyArray = mixed(hashes ^ key_hash([y]))
    return both


def copy_keys(hashes: AnyArray, number: IntArray, part: int = 0) -> AnyArray:
    """Return the key of each copy of a row.

    Parameters
    ----------
    hashes : array of uint64 of shape (n,)
        Of what is in the row, from `labelled`.
    number : array of int of shape (n,)
        How many copies of the row come before, from `copy_numbers` or a `CopyCounter`.
    part : int
        The partition that the copies were counted in: copy 0 of a value in one partition must not
        go where copy 0 goes in all others.
    """
    with np.errstate(over="ignore"):
        keys: AnyArray = mixed(hashes + _STEP * number.astype(np.uint64))
        if part:
            keys = mixed(keys ^ mixed(_STEP * np.uint64(part)))
    return keys


def copy_numbers(hashes: AnyArray, weight: FloatArray | None = None) -> IntArray:
    """Return how many equal rows come before each row.

    Parameters
    ----------
    hashes : array of uint64 of shape (n,)
    weight : array of shape (n,), optional
        Equal rows are counted in the order of their weights, so that the order in which rows of
        different weight come does not matter.
    """
    order = np.argsort(hashes, kind="stable") if weight is None else np.lexsort((weight, hashes))
    ranked = hashes[order]
    first = np.append(True, ranked[1:] != ranked[:-1])[: len(ranked)]
    starts = np.flatnonzero(first)
    number = np.empty(len(hashes), dtype=np.int64)
    number[order] = np.arange(len(hashes)) - starts[np.cumsum(first) - 1]
    return number


class CopyCounter:
    """Numbers the copies of rows that come block by block.

    It remembers how often each row came, up to four million different ones; then it begins anew,
    as if with another partition.
    """

    def __init__(self, part: int = 0) -> None:
        self._part = part
        self._epoch = 0
        self._hashes: AnyArray = np.empty(0, dtype=np.uint64)
        self._counts: IntArray = np.empty(0, dtype=np.int64)

    def keys(self, hashes: AnyArray) -> AnyArray:
        """Return the key of each row of the next block."""
        if len(self._hashes) > _MOST_REMEMBERED:
            self._epoch += 1
            self._hashes, self._counts = self._hashes[:0], self._counts[:0]
        distinct, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        at = np.searchsorted(self._hashes, distinct)
        known = np.append(self._hashes, np.uint64(0))[at] == distinct
        known &= at < len(self._hashes)
        before = np.where(known, np.append(self._counts, 0)[at], 0)
        self._counts[at[known]] += counts[known]
        self._hashes = np.insert(self._hashes, at[~known], distinct[~known])
        self._counts = np.insert(self._counts, at[~known], counts[~known])
        number = before[inverse] + copy_numbers(hashes)
        # Partitions are fewer than 2³², and so are the times one begins anew.
        return copy_keys(hashes, number, self._part + (self._epoch << 32))


def position_keys(n_rows: int, file: int, first: int) -> AnyArray:
    """Return keys of rows that are known by their position in a file, however it is cut up.

    Parameters
    ----------
    n_rows : int
    file : int
        Number of the file.
    first : int
        Position of the first of the rows in it.
    """
    with np.errstate(over="ignore"):
        offsets = np.arange(first, first + n_rows, dtype=np.uint64) * _STEP
        keys: AnyArray = mixed(offsets ^ mixed(np.uint64(file) + _STEP))
    return keys


def folds_by_key(keys: AnyArray, n_folds: int) -> IntArray:
    """Return a fold for each key, drawn as by chance: folds are equal in expectation only."""
    # The upper half of the key as a share of one, times the folds: a division takes longer.
    folds: IntArray = ((keys >> _HALF) * np.uint64(n_folds) >> _HALF).astype(np.int32)
    return folds


def stratified_folds(keys: AnyArray, strata: AnyArray, n_folds: int) -> IntArray:
    """Return folds that share out each stratum evenly: keys are ranked and dealt out in turn.

    Parameters
    ----------
    keys : array of uint64 of shape (n,)
    strata : array of shape (n,)
        Usually the class of each row.
    n_folds : int
    """
    folds = np.empty(len(keys), dtype=np.int64)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        folds[rows[np.argsort(keys[rows], kind="stable")]] = np.arange(len(rows)) % n_folds
    return folds
