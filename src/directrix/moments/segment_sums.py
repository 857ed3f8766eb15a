"""SegmentSums: sums of features by fold, class and segment, for contrasts of segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.rows.labels import ordered_names, pooled_names

#: What comes before the features: the weight of the rows, and the sum of the squared weights.
_BEFORE = 2


@dataclass(frozen=True, eq=False)
class SegmentSums:
    """Sums over the rows of each fold, class and segment; they add up.

    ``names`` are those of the segments, in order. ``sums`` of shape (folds, 2, segments, 2 + p),
    negatives first, has the weight of the rows, the sum of the squares of their weights, and the
    weighted sums of their features.
    """

    names: tuple[Any, ...]
    sums: FloatArray

    @classmethod
    def of_rows(
        cls,
        X: Any,
        group: tuple[IntArray, AnyArray, IntArray],
        names: tuple[Any, ...],
        weight: FloatArray,
        n_folds: int,
    ) -> SegmentSums:
        """Add up rows.

        ``X`` of shape (n, p) may be sparse. ``group`` has the fold of each row, whether it is
        positive, and the position of its segment among the names.
        """
        fold, positive, number = group
        shape = n_folds, 2, len(names)
        cell = np.ravel_multi_index((fold, positive.astype(np.intp), number), shape)
        size, n = int(np.prod(shape)), len(cell)
        by_cell = sparse.csr_array((weight, (cell, np.arange(n))), shape=(size, n))
        totals = by_cell @ X
        sums = np.empty((size, _BEFORE + X.shape[1]))
        sums[:, 0] = np.bincount(cell, weight, size)
        sums[:, 1] = np.bincount(cell, weight**2, size)
        sums[:, _BEFORE:] = totals.toarray() if sparse.issparse(totals) else totals
        return cls(names, sums.reshape(*shape, -1))

    def __add__(self, other: SegmentSums) -> SegmentSums:
        if self.names == other.names:
            return SegmentSums(self.names, self.sums + other.sums)
        names = ordered_names([*self.names, *other.names])
        return self._among(names) + other._among(names)

    def _among(self, names: tuple[Any, ...]) -> SegmentSums:
        """Return the same sums among more names of segments."""
        return self._renamed(names, np.array([names.index(name) for name in self.names]))

    def pooled(self, pool: Mapping[Any, Any]) -> SegmentSums:
        """Return the same sums where some segments have got new names, maybe the same one."""
        names, position = pooled_names(self.names, pool)
        return self._renamed(names, position)

    def _renamed(self, names: tuple[Any, ...], position: IntArray) -> SegmentSums:
        """Return the sums with other names of segments, given the new position of each."""
        folds, classes, _, width = self.sums.shape
        sums = np.zeros((folds, classes, len(names), width))
        for old, new in enumerate(position.tolist()):
            sums[:, :, new] += self.sums[:, :, old]
        return SegmentSums(names, sums)

    def totals(
        self, factors: tuple[float, float], without: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights, squares of weights, and sums of features, by class and segment.

        They have the shapes (2, s), (2, s) and (2, s, p). ``factors`` are the class weights of the
        negatives and of the positives. ``without`` is a fold that does not count.
        """
        counted = [fold for fold in range(len(self.sums)) if fold != without]
        sums, by_class = self.sums[counted].sum(axis=0), np.array(factors)[:, None]
        features = sums[..., _BEFORE:] * by_class[..., None]
        return sums[..., 0] * by_class, sums[..., 1] * by_class**2, features
