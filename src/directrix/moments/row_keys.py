"""Row keys, by which folds and samples are drawn; copies of equal rows have different keys.

A fold that depends only on the features puts all copies of a row into one fold, and the model that
scores them has never seen that row. New data are not like that. Copy t of a row has the key
``hash(features, label, t)``, so copies are spread over the folds as independent rows are, in
whatever order the rows arrive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from directrix.moments.key_hash import key_hash
from directrix.moments.labels import close_integers
from directrix.moments.row_hash import mix_bits

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
#: Number of distinct rows that a `CopyCounter` remembers, at 16 bytes each.
_MOST_REMEMBERED = 1 << 22


def hash_with_label(hashes: AnyArray, y: AnyArray) -> AnyArray:
    """Combine hashes of the features with the label.

    Without the label, copy t of a row would have the same key in both classes, and the share of
    positives among held-out copies would depend on that among the training copies.

    Parameters
    ----------
    hashes : array of uint64 of shape (n,)
        Hashes of the features, from `row_hash`.
    y : array of shape (n,)
        Labels.
    """
    hashes_with_label: AnyArray = mix_bits(hashes ^ _label_hash(y))
    return hashes_with_label


def _label_hash(y: AnyArray) -> AnyArray:
    """Return the `key_hash` of each label; every distinct one is hashed once."""
    small = close_integers(y)
    if small is None:
        distinct, index = np.unique(y, return_inverse=True)
        of_label: AnyArray = key_hash([distinct])[index]
        return of_label
    offsets, lowest = small
    table = key_hash([np.arange(lowest, lowest + int(offsets.max()) + 1)])
    label_hashes: AnyArray = table[offsets]
    return label_hashes


def copy_keys(hashes: AnyArray, number: IntArray, part: int = 0) -> AnyArray:
    """Return the key of each copy of a row.

    Parameters
    ----------
    hashes : array of uint64 of shape (n,)
        Hashes of features and label, from `hash_with_label`.
    number : array of int of shape (n,)
        Number of equal rows before each row, from `copy_numbers` or a `CopyCounter`.
    part : int
        Number of the partition in which the copies were counted. It makes the keys of copy 0 of a
        row differ between partitions.
    """
    with np.errstate(over="ignore"):
        keys: AnyArray = mix_bits(hashes + _STEP * number.astype(np.uint64))
        if part:
            keys = mix_bits(keys ^ mix_bits(_STEP * np.uint64(part)))
    return keys


def copy_numbers(hashes: AnyArray, weight: FloatArray | None = None) -> IntArray:
    """Return the number of equal rows that come before each row.

    Parameters
    ----------
    hashes : array of uint64 of shape (n,)
        Hashes of the rows.
    weight : array of shape (n,), optional
        Sample weights. Equal rows are counted in the order of their weights, so that the order in
        which rows of different weight arrive does not matter.
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

    The counter remembers how often each row occurred, for up to four million distinct rows. Then it
    starts again from zero, as if with another partition.

    Parameters
    ----------
    part : int
        Number of the partition.
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
        position = np.searchsorted(self._hashes, distinct)
        known = np.append(self._hashes, np.uint64(0))[position] == distinct
        known &= position < len(self._hashes)
        before = np.where(known, np.append(self._counts, 0)[position], 0)
        self._counts[position[known]] += counts[known]
        self._hashes = np.insert(self._hashes, position[~known], distinct[~known])
        self._counts = np.insert(self._counts, position[~known], counts[~known])
        number = before[inverse] + copy_numbers(hashes)
        # There are fewer than 2³² partitions, and fewer than 2³² epochs.
        return copy_keys(hashes, number, self._part + (self._epoch << 32))


def position_keys(n_rows: int, file: int, first: int) -> AnyArray:
    """Return keys for rows identified by their position in a file, in whatever blocks it is read.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    file : int
        Number of the file.
    first : int
        Position in the file of the first of these rows.
    """
    with np.errstate(over="ignore"):
        offsets = np.arange(first, first + n_rows, dtype=np.uint64) * _STEP
        keys: AnyArray = mix_bits(offsets ^ mix_bits(np.uint64(file) + _STEP))
    return keys


def folds_by_key(keys: AnyArray, n_folds: int) -> IntArray:
    """Return a pseudorandom fold for each key; folds have equal size only in expectation."""
    # The upper half of the key as a fraction of 2³², times n_folds: faster than a division.
    folds: IntArray = ((keys >> _HALF) * np.uint64(n_folds) >> _HALF).astype(np.int32)
    return folds


def stratified_folds(keys: AnyArray, strata: AnyArray, n_folds: int) -> IntArray:
    """Return folds balanced within each stratum: rows are assigned in turn, in the order of keys.

    Parameters
    ----------
    keys : array of uint64 of shape (n,)
        Row keys.
    strata : array of shape (n,)
        Stratum of each row, usually its class.
    n_folds : int
        Number of folds.
    """
    folds = np.empty(len(keys), dtype=np.int64)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        folds[rows[np.argsort(keys[rows], kind="stable")]] = np.arange(len(rows)) % n_folds
    return folds
