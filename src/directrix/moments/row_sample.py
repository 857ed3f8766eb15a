"""RowSample: some rows of each class, drawn by their keys; samples of parts add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.moments.row_hash import mixed

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

#: So that which rows are sampled has nothing to do with which fold they are in.
_SALT = np.uint64(0xD1B54A32D192ED03)
#: Of all values of a sample: wide rows are fewer.
_MOST_VALUES = 25_000_000
_LAST = np.iinfo(np.uint64).max


@dataclass(frozen=True, eq=False)
class RowSample:
    r"""All rows of a class whose hash is at most θ, with as low a θ as keeps them few.

    .. math:: S_c = \{i : y_i = c,\ h_i \le \theta_c\}, \qquad
              \theta_c(A + B) = \min(\theta_c(A), \theta_c(B))

    A row is in the sample of the whole exactly if it is in that of its part and its hash is at
    most the lesser θ: every row is as likely as every other, whatever the parts are.

    Parameters
    ----------
    X : array of shape (m, d)
    y : array of shape (m,)
        Labels.
    weight : array of shape (m,)
    fold : array of int of shape (m,)
    hashes : array of uint64 of shape (m,)
    thresholds : dict
        θ by label; rows of a label that is not there have not been seen.
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
        """Take all rows.

        Parameters
        ----------
        X, y, weight, fold : arrays
        keys : array of uint64 of shape (n,)
            That tell copies of equal rows apart (`directrix.moments.row_keys`): a sample by what
            is in the rows would hold all copies of some values and none of others.
        """
        thresholds = dict.fromkeys(np.unique(y).tolist(), int(_LAST))
        return cls(X, y, weight, fold, mixed(keys ^ _SALT), thresholds)

    def without_fold(self, number: int) -> RowSample:
        """Return the rows that are not in a fold."""
        return self._kept(self.fold != number, self.thresholds)

    def __add__(self, other: RowSample) -> RowSample:
        if not len(other.y):
            return self
        if not len(self.y):
            return other
        labels = {**self.thresholds, **other.thresholds}
        lesser = {
            label: min(self.thresholds.get(label, _LAST), other.thresholds.get(label, _LAST))
            for label in labels
        }
        both = RowSample(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.fold, other.fold]),
            np.concatenate([self.hashes, other.hashes]),
            lesser,
        )
        return both._below(lesser)

    def at_most(self, most: int) -> RowSample:
        """Return the rows of lowest hash, so many of each class at most; equal hashes together."""
        most = max(1, min(most, _MOST_VALUES // max(self.X.shape[1], 1)))
        thresholds = dict(self.thresholds)
        for label in thresholds:
            own = self.hashes[self.y == label]
            if len(own) > most:
                # Two rows may share a hash by chance: both are in, or neither.
                edge = np.partition(own, most)[most]
                kept = own[own < edge]
                thresholds[label] = int(kept.max()) if len(kept) else int(edge)
        return self._below(thresholds)

    def ordered(self) -> RowSample:
        """Return the rows in the order of their hashes: the same from whatever parts they came."""
        order = np.lexsort((self.weight, self.hashes))
        return RowSample(
            self.X[order],
            self.y[order],
            self.weight[order],
            self.fold[order],
            self.hashes[order],
            self.thresholds,
        )

    def _below(self, thresholds: dict[object, int]) -> RowSample:
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
