"""RowSample: a random sample of the rows of each class, which can be merged over parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.rows.keys import mix_bits, row_hash
from directrix.rows.rows import as_rows

Thresholds: TypeAlias = dict[Any, int]

#: Makes the sample independent of the folds, which are drawn by the same keys.
_SALT = np.uint64(0xD1B54A32D192ED03)
#: Largest number of values of a class in a sample, so samples of wide rows have fewer rows.
_MOST_VALUES = 25_000_000
LARGEST_HASH = int(np.iinfo(np.uint64).max)


@dataclass(frozen=True, eq=False)
class RowSample:
    r"""Rows of each class whose hash is at most a threshold θ, which bounds the sample size.

    .. math:: S_c = \{i : y_i = c,\ h_i \le \theta_c\}, \qquad
              \theta_c(A + B) \le \min(\theta_c(A), \theta_c(B))

    A row is in the merged sample if and only if it is in the sample of its part and its hash is at
    most θ of the sum, which is lowered until the sum too has at most ``most`` rows of the class. So
    all rows are equally likely to be sampled, however the data are split, and a sum is never larger
    than a sample.

    ``X`` (features, or a raw table that can be indexed and joined and knows the hashes of its
    rows), ``y``, ``weight`` and ``fold`` are the rows, ``hashes`` the hash of each row key,
    ``thresholds`` θ by label, for the labels that have occurred, and ``most`` the largest number of
    rows of each class in a sum with another sample.
    """

    X: Any
    y: AnyArray
    weight: FloatArray
    fold: IntArray
    hashes: AnyArray
    thresholds: Thresholds
    most: int

    @classmethod
    def of(
        cls,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        fold: IntArray,
        keys: AnyArray,
        most: int,
    ) -> RowSample:
        """Return the sample that holds all of these rows; only sums with others are cut.

        Row keys must be different for copies of equal rows (`directrix.rows.keys`): a sample by the
        values alone would hold all copies of some rows and none of others. Wide rows reduce
        ``most`` further.
        """
        thresholds = dict.fromkeys(np.unique(y).tolist(), LARGEST_HASH)
        most = max(1, min(most, _MOST_VALUES // max(X.shape[1], 1)))
        return cls(X, y, weight, fold, mix_bits(keys ^ _SALT), thresholds, most)

    def may_hold(self, y: AnyArray, keys: AnyArray) -> AnyArray:
        """Return which of other rows are at or below the thresholds, and so must be added."""
        hashes = mix_bits(keys ^ _SALT)
        may: AnyArray = np.ones(len(y), dtype=bool)
        for label, threshold in self.thresholds.items():
            may &= (y != label) | (hashes <= np.uint64(threshold))
        return may

    def sorted(self) -> RowSample:
        """Return the sample in an order of its rows' values, however the data were split."""
        of_table = getattr(self.X, "row_hashes", None)
        hashes = row_hash(as_rows(self.X)) if of_table is None else of_table()
        return self._kept(np.lexsort((self.weight, self.y, hashes)))

    def ordered(self) -> RowSample:
        """Return the sample sorted by hash, an order that does not depend on how it was merged."""
        return self._kept(np.lexsort((self.weight, self.hashes)))

    def take(self, rows: AnyArray) -> RowSample:
        """Return some of the rows, given by index or mask."""
        return self._kept(rows)

    def without_fold(self, number: int) -> RowSample:
        """Return the sample without the rows of a fold."""
        return self._kept(self.fold != number)

    def at_most(self, n_per_class: int) -> RowSample:
        """Return a sample of at most ``n_per_class`` rows of each class, those of lowest hash.

        Nor are there more than ``most``. Rows of equal hash are kept or dropped together.
        """
        fewest = min(n_per_class, self.most)
        return self.below(_lowered(self.thresholds, self.y, self.hashes, fewest))

    def below(self, thresholds: Thresholds) -> RowSample:
        """Return the rows whose hash is at most a threshold, given by label."""
        keep = _at_or_below(thresholds, self.y, self.hashes)
        return self._kept(slice(None) if keep.all() else keep, thresholds)

    def is_too_small(self, counts: Mapping[Any, int]) -> bool:
        """Return whether it lacks rows of a class.

        A class that fits into a sample must be there as a whole, of others half of the rows.

        ``counts`` are the numbers of all rows by class.
        """
        needed = {label: n if n <= self.most else self.most // 2 for label, n in counts.items()}
        return any(self.count(label) < n for label, n in needed.items())

    def count(self, label: object) -> int:
        """Return the number of rows of a class."""
        return int(np.count_nonzero(self.y == label))

    def __len__(self) -> int:
        return len(self.y)

    def __add__(self, other: RowSample) -> RowSample:
        lesser = {
            label: min(
                self.thresholds.get(label, LARGEST_HASH), other.thresholds.get(label, LARGEST_HASH)
            )
            for label in {**self.thresholds, **other.thresholds}
        }
        most = min(self.most, other.most)
        y, hashes = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("y", "hashes")
        )
        thresholds = _lowered(lesser, y, hashes, most)
        # Rows that are dropped are not copied: they may be most of the values.
        keep = _at_or_below(thresholds, y, hashes)
        kept, other_kept = np.split(keep, [len(self.y)])
        weight, fold = (
            np.concatenate([getattr(self, name)[kept], getattr(other, name)[other_kept]])
            for name in ("weight", "fold")
        )
        parts = self.X[kept], other.X[other_kept]
        X = parts[0].joined(parts[1]) if hasattr(parts[0], "joined") else np.concatenate(parts)
        return RowSample(X, y[keep], weight, fold, hashes[keep], thresholds, most)

    def _kept(self, rows: AnyArray | slice, thresholds: Thresholds | None = None) -> RowSample:
        """Return the sample with a selection of its rows, or with its rows in another order."""
        names = ("X", "y", "weight", "fold", "hashes")
        kept: dict[str, Any] = {name: getattr(self, name)[rows] for name in names}
        kept |= {} if thresholds is None else {"thresholds": thresholds}
        return replace(self, **kept)


def _lowered(thresholds: Thresholds, y: AnyArray, hashes: AnyArray, most: int) -> Thresholds:
    """Return thresholds that leave at most ``most`` rows of each class."""
    lowered = dict(thresholds)
    for label, threshold in thresholds.items():
        class_hashes = hashes[(y == label) & (hashes <= np.uint64(threshold))]
        if len(class_hashes) > most:
            # Rows that share a hash by chance are either all sampled or none.
            edge = np.partition(class_hashes, most)[most]
            kept = class_hashes[class_hashes < edge]
            lowered[label] = int(kept.max()) if len(kept) else int(edge)
    return lowered


def _at_or_below(thresholds: Thresholds, y: AnyArray, hashes: AnyArray) -> AnyArray:
    """Return which rows have a hash of at most the threshold of their class."""
    keep = np.zeros(len(y), dtype=bool)
    for label, threshold in thresholds.items():
        keep |= (y == label) & (hashes <= np.uint64(threshold))
    return keep
