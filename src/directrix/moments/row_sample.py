"""RowSample: a random sample of the rows of each class, which can be merged over parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.moments.row_hash import mix_bits, row_hash
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

#: Makes the sample independent of the folds, which are drawn by the same keys.
_SALT = np.uint64(0xD1B54A32D192ED03)
#: Largest number of values in a sample, so samples of wide rows have fewer rows.
_MOST_VALUES = 25_000_000
_LARGEST_HASH = np.iinfo(np.uint64).max


@dataclass(frozen=True, eq=False)
class RowSample:
    r"""Rows of each class whose hash is at most a threshold θ, which bounds the sample size.

    .. math:: S_c = \{i : y_i = c,\ h_i \le \theta_c\}, \qquad
              \theta_c(A + B) = \min(\theta_c(A), \theta_c(B))

    A row is in the merged sample if and only if it is in the sample of its part and its hash is at
    most the smaller θ. So all rows are equally likely to be sampled, however the data are split.

    Parameters
    ----------
    X : array of shape (m, d)
        Features.
    y : array of shape (m,)
        Labels.
    weight : array of shape (m,)
        Sample weights.
    fold : array of int of shape (m,)
        Fold of each row.
    hashes : array of uint64 of shape (m,)
        Hash of each row key.
    thresholds : dict
        θ by label, for the labels that have occurred.
    """

    X: FloatArray
    y: AnyArray
    weight: FloatArray
    fold: IntArray
    hashes: AnyArray
    thresholds: dict[object, int]

    @classmethod
    def of(
        cls,
        X: FloatArray,
        y: AnyArray,
        weight: FloatArray,
        fold: IntArray,
        keys: AnyArray,
    ) -> RowSample:
        """Return the sample that holds all of these rows.

        Parameters
        ----------
        X, y, weight, fold : arrays
            As in the constructor.
        keys : array of uint64 of shape (n,)
            Row keys, different for copies of equal rows (`directrix.moments.row_keys`). A sample by
            the values alone would hold all copies of some rows and none of others.
        """
        thresholds = dict.fromkeys(np.unique(y).tolist(), int(_LARGEST_HASH))
        return cls(X, y, weight, fold, mix_bits(keys ^ _SALT), thresholds)

    def sorted(self) -> RowSample:
        """Return the sample in an order of its rows' values, however the data were split."""
        order = np.lexsort((self.weight, self.y, row_hash(as_rows(self.X))))
        return self._kept(order, self.thresholds)

    def without_fold(self, number: int) -> RowSample:
        """Return the sample without the rows of a fold."""
        return self._kept(self.fold != number, self.thresholds)

    def __add__(self, other: RowSample) -> RowSample:
        if not len(other.y):
            return self
        if not len(self.y):
            return other
        labels = {**self.thresholds, **other.thresholds}
        lesser = {
            label: min(
                self.thresholds.get(label, _LARGEST_HASH),
                other.thresholds.get(label, _LARGEST_HASH),
            )
            for label in labels
        }
        merged = RowSample(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.fold, other.fold]),
            np.concatenate([self.hashes, other.hashes]),
            lesser,
        )
        return merged._at_or_below(lesser)

    def at_most(self, n_per_class: int) -> RowSample:
        """Return a sample of at most ``n_per_class`` rows of each class, those of lowest hash.

        Wide rows reduce the number further. Rows of equal hash are kept or dropped together.
        """
        n_per_class = max(1, min(n_per_class, _MOST_VALUES // max(self.X.shape[1], 1)))
        thresholds = dict(self.thresholds)
        for label in thresholds:
            class_hashes = self.hashes[self.y == label]
            if len(class_hashes) > n_per_class:
                # Rows that share a hash by chance are either all sampled or none.
                edge = np.partition(class_hashes, n_per_class)[n_per_class]
                kept = class_hashes[class_hashes < edge]
                thresholds[label] = int(kept.max()) if len(kept) else int(edge)
        return self._at_or_below(thresholds)

    def ordered(self) -> RowSample:
        """Return the sample sorted by hash, an order that does not depend on how it was merged."""
        order = np.lexsort((self.weight, self.hashes))
        return RowSample(
            self.X[order],
            self.y[order],
            self.weight[order],
            self.fold[order],
            self.hashes[order],
            self.thresholds,
        )

    def _at_or_below(self, thresholds: dict[object, int]) -> RowSample:
        keep = np.zeros(len(self.y), dtype=bool)
        for label, threshold in thresholds.items():
            keep |= (self.y == label) & (self.hashes <= np.uint64(threshold))
        return self if keep.all() else self._kept(keep, thresholds)

    def _kept(self, keep: AnyArray, thresholds: dict[object, int]) -> RowSample:
        return RowSample(
            self.X[keep],
            self.y[keep],
            self.weight[keep],
            self.fold[keep],
            self.hashes[keep],
            thresholds,
        )
