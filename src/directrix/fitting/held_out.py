"""HeldOut: the held-out scores of a fitted classifier, from which other thresholds are set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from directrix.moments.score_histogram import BINS, LineHistograms, bin_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.fitting.training_rows import TrainingRows


#: Parts of rows that have no folds; without each of them a threshold is set again.
_PARTS = 10


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out scores in favour of the positive class, counted by part, class and bin.

    Only cells with rows are kept, so that few rows take little memory and many no more than
    their bins.

    ``cell``: cells with rows: ``(part * 2 + is_positive) * BINS + bin``. ``weight``: weight of the
    rows in each. ``totals``, ``squares`` (parts, 2): weight of the rows of each part and class, and
    sum of the squares of their weights. ``rows``: which rows these are. ``center``, ``scale``: a
    score s is ``(s - center) / scale`` in units of the decision function.
    """

    cell: IntArray
    weight: FloatArray
    totals: FloatArray
    squares: FloatArray
    rows: str
    center: float = 0.0
    scale: float = 1.0

    @classmethod
    def of_rows(cls, rows: TrainingRows, scores: FloatArray) -> HeldOut:
        """Count the scores of rows, less the threshold.

        ``rows``: their folds are the parts; without folds, every tenth row of a class is in a part.
        """
        part = rows.fold
        if part is None:
            part = np.empty(len(scores), dtype=np.int64)
            for side in (rows.positive, ~rows.positive):
                part[side] = np.arange(np.count_nonzero(side)) % _PARTS
        side = part * 2 + rows.positive
        n_sides = 2 * (int(part.max()) + 1)
        every = np.bincount(side * BINS + bin_of(scores), rows.weight, n_sides * BINS)
        totals, squares = (
            np.bincount(side, weight, n_sides).reshape(-1, 2).astype(np.float64)
            for weight in (rows.weight, rows.weight**2)
        )
        return cls._of_counts(every.astype(np.float64), totals, squares, rows.name)

    @classmethod
    def of_histograms(
        cls,
        folds: Sequence[LineHistograms],
        index: int,
        factors: tuple[float, float],
        center: float,
    ) -> HeldOut:
        """Keep the histograms of one candidate.

        ``folds``: held-out scores of all candidates, fold by fold. ``index``: which candidate.
        ``factors``: class weights of the negatives and of the positives. ``center``: its threshold.
        """
        by_class = np.array(factors)
        counts = np.stack([fold.counts[index] for fold in folds]) * by_class[:, None]
        totals = np.stack([fold.weight for fold in folds]) * by_class
        squares = np.stack([fold.weight_sq for fold in folds]) * by_class**2
        kept = cls._of_counts(counts.ravel(), totals, squares, "held-out rows")
        return replace(kept, center=center)

    @classmethod
    def _of_counts(
        cls, every: FloatArray, totals: FloatArray, squares: FloatArray, rows: str
    ) -> HeldOut:
        cell = np.flatnonzero(every)
        return cls(cell, every[cell], totals, squares, rows)

    def restated(self, shift: float, factor: float) -> HeldOut:
        """Return the same scores for a decision function of ``(d - shift) / factor``."""
        center, scale = self.center + shift * self.scale, self.scale * factor
        return replace(self, center=center, scale=scale)

    def in_decisions(self, threshold: float) -> float:
        """Return a threshold of the scores in units of the decision function."""
        return (threshold - self.center) / self.scale

    @property
    def folds(self) -> tuple[LineHistograms, ...]:
        """The score histograms of the parts."""
        n_parts = len(self.totals)
        every: AnyArray = np.zeros(n_parts * 2 * BINS)
        every[self.cell] = self.weight
        counts = every.reshape(n_parts, 1, 2, BINS)
        return tuple(map(LineHistograms, counts, self.totals, self.squares))
