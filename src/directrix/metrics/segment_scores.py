"""SegmentScores: scores of several models on labelled rows, counted by segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.metrics.score_histogram import BINS
from directrix.rows.labels import ordered_names, pooled_names

#: Cells of a model and segment: the bins of both classes.
_CELLS = 2 * BINS


class SegmentCounts(NamedTuple):
    """Scores of one model on the rows of one segment.

    ``counts`` and ``squares`` of shape (2, bins) are sums of the weights of the rows, and of the
    squares of the weights, negatives first.
    """

    name: Any
    counts: FloatArray
    squares: FloatArray


@dataclass(frozen=True, eq=False)
class SegmentScores:
    """Scores of several models on rows of two classes, counted by segment; they add up.

    Only filled bins are stored: there may be hundreds of segments, and most have few rows.

    ``names`` are those of the segments, in order. ``cell`` has the numbers of filled cells,
    increasing: ``((model * n_segments + segment) * 2 + is_positive) * BINS + bin``. ``weight`` has
    the weight of the rows in each, and ``square`` the sum of the squares of their weights; None if
    every row counts once.
    """

    names: tuple[Any, ...]
    cell: IntArray
    weight: FloatArray
    square: FloatArray | None = None

    @classmethod
    def of_bins(
        cls,
        bins: IntArray,
        names: tuple[Any, ...],
        number: IntArray,
        weight: FloatArray | None = None,
        first: int = 0,
    ) -> SegmentScores:
        """Count rows by the bins of their scores.

        ``bins`` of shape (k, n) are those of `histogram_of_bins`. ``number`` is the position of
        each row's segment among the names. ``first`` is the number of the first of the k models.
        """
        of_rows = _CELLS * number
        found = []
        for model, of_model in enumerate(bins, start=first):
            cell = of_model + of_rows
            cell += model * len(names) * _CELLS
            found.append(_counted(cell, weight))
        if not found:
            return cls(names, np.empty(0, dtype=np.int64), np.empty(0))
        sums = [np.concatenate(part) for part in zip(*found, strict=True)]
        return cls(names, *sums)

    def __add__(self, other: SegmentScores) -> SegmentScores:
        if self.names != other.names:
            names = ordered_names([*self.names, *other.names])
            return self._renamed(names, names.index) + other._renamed(names, names.index)
        parts = self, other
        cell = np.concatenate([part.cell for part in parts])
        sums = [np.concatenate([part.weight for part in parts])]
        if self.square is not None or other.square is not None:
            squares = [part.weight if part.square is None else part.square for part in parts]
            sums.append(np.concatenate(squares))
        return SegmentScores(self.names, *_summed(cell, *sums))

    def pooled(self, pool: Mapping[Any, Any]) -> SegmentScores:
        """Return the same scores where some segments have got new names, maybe the same one."""
        names, position = pooled_names(self.names, pool)
        return self._renamed(names, lambda name: position[self.names.index(name)])

    def of_model(self, model: int) -> Iterator[SegmentCounts]:
        """Yield the scores of one model in each segment."""
        n_segments = len(self.names)
        starts = (model * n_segments + np.arange(n_segments + 1)) * _CELLS
        ends = np.searchsorted(self.cell, starts)
        squares = self.weight if self.square is None else self.square
        for number, name in enumerate(self.names):
            filled = slice(ends[number], ends[number + 1])
            dense = np.zeros((2, _CELLS))
            dense[:, self.cell[filled] - starts[number]] = self.weight[filled], squares[filled]
            counts, of_squares = dense.reshape(2, 2, BINS)
            yield SegmentCounts(name, counts, of_squares)

    def _renamed(self, names: tuple[Any, ...], position_of: Any) -> SegmentScores:
        """Return the scores with other names of segments, given the new position of each."""
        position = np.array([position_of(name) for name in self.names], dtype=np.int64)
        block, inside = np.divmod(self.cell, _CELLS)
        model, segment = np.divmod(block, max(len(self.names), 1))
        cell = (model * len(names) + position[segment]) * _CELLS + inside
        sums = [self.weight] if self.square is None else [self.weight, self.square]
        return SegmentScores(names, *_summed(cell, *sums))


def _counted(cell: IntArray, weight: FloatArray | None) -> tuple[AnyArray, ...]:
    """Return the cells that rows fill, increasing, and the sums of their weights and squares."""
    if weight is None:
        filled, counts = np.unique(cell, return_counts=True)
        return filled, counts.astype(np.float64)
    return _summed(cell, weight, weight**2)


def _summed(cell: IntArray, *sums: FloatArray) -> tuple[AnyArray, ...]:
    """Return distinct cells, increasing, and the sums of what is in each of them."""
    if not len(cell):
        return (cell, *sums)
    order = np.argsort(cell, kind="stable")  # fast where two sorted lists are joined
    ordered = cell[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return (ordered[starts], *(np.add.reduceat(each[order], starts) for each in sums))
