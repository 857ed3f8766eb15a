"""LineHistograms: score histograms by class of many candidates, from a second pass over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.moments.score_bins import BINS, bins_of_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray

#: Scores that are made at a time, few enough to stay in the cache.
_SCORES_AT_A_TIME = 1 << 16
_FEWEST_ROWS = 512


@dataclass(frozen=True, eq=False)
class LineHistograms:
    """Weighted score histograms of both classes for k candidate models; histograms add up.

    Scores should have a standard deviation of about one (`directrix.moments.score_bins`).

    Parameters
    ----------
    counts : array of shape (k, 2, BINS)
        Weight by candidate, class (negatives first) and bin, lowest scores first.
    weight, weight_sq : array of shape (2,)
        Sum of the weights of each class, and sum of their squares.
    """

    counts: FloatArray
    weight: FloatArray
    weight_sq: FloatArray

    @classmethod
    def empty(cls, n_lines: int) -> LineHistograms:
        """Return the histogram of no rows, which is the identity of ``+``."""
        return cls(np.zeros((n_lines, 2, BINS)), np.zeros(2), np.zeros(2))

    @classmethod
    def of(
        cls, X: AnyArray, positive: AnyArray, lines: FloatArray, weight: FloatArray | None = None
    ) -> LineHistograms:
        """Return the histograms of these rows.

        Parameters
        ----------
        X : array of shape (n, d)
            Features; fastest if columns are contiguous.
        positive : array of bool of shape (n,)
            Whether each row is of the positive class.
        lines : array of shape (k, d + 1)
            Coefficients of the candidates, intercept last.
        weight : array of shape (n,), optional
            Sample weights.
        """
        return cls._of_bins(_bins(X, positive, lines), positive, weight)

    @classmethod
    def of_scores(
        cls, scores: AnyArray, positive: AnyArray, weight: FloatArray | None = None
    ) -> LineHistograms:
        """Return the histograms of scores.

        Parameters
        ----------
        scores : array of shape (k, n)
            By each candidate.
        positive, weight : arrays of shape (n,)
        """
        offset = np.where(positive, BINS, 0)
        bins = bins_of_sums(np.asarray(scores, dtype=np.float64) + 0.0, offset)
        return cls._of_bins(bins, positive, weight)

    @classmethod
    def side_by_side(cls, histograms: Sequence[LineHistograms]) -> LineHistograms:
        """Return the histograms of several groups of candidates on the same rows as one."""
        counts = np.concatenate([each.counts for each in histograms])
        return cls(counts, histograms[0].weight, histograms[0].weight_sq)

    @classmethod
    def _of_bins(
        cls, bins: IntArray, positive: AnyArray, weight: FloatArray | None
    ) -> LineHistograms:
        counts = [np.bincount(of_line, weight, 2 * BINS) for of_line in bins]
        if weight is None:
            n_positive = np.count_nonzero(positive)
            sums = squares = np.array([len(positive) - n_positive, n_positive], dtype=np.float64)
        else:
            by_class = [weight[~positive], weight[positive]]
            sums = np.array([part.sum() for part in by_class])
            squares = np.array([part @ part for part in by_class])
        stacked = np.array(counts, dtype=np.float64).reshape(len(bins), 2, BINS)
        return cls(stacked, sums, squares)

    def __add__(self, other: LineHistograms) -> LineHistograms:
        return LineHistograms(
            self.counts + other.counts, self.weight + other.weight, self.weight_sq + other.weight_sq
        )


def _bins(X: AnyArray, positive: AnyArray, lines: FloatArray) -> IntArray:
    """Return the bins of the scores of each line, BINS higher for positives, of shape (k, n)."""
    n = X.shape[0]
    coef, intercept = np.ascontiguousarray(lines[:, :-1]), lines[:, -1:] + 0.0
    bins = np.empty((len(lines), n), dtype=np.int64)
    offset = np.where(positive, BINS, 0)
    size = max(_SCORES_AT_A_TIME // max(len(lines), 1), _FEWEST_ROWS)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        scores = coef @ np.asarray(X[rows].T, dtype=np.float64)
        scores += intercept
        bins[:, rows] = bins_of_sums(scores, offset[rows])
    return bins
