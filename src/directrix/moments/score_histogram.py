"""ScoreHistogram: the scores of many candidate lines, class by class: the second pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

BINS = 4096
_REACH = 6.5  # of arcsinh: scores to 330 deviations have bins of their own
_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    r"""Weight of each class in bins of the score, for each of k lines. Histograms add up.

    Bins are of equal width in :math:`\operatorname{arcsinh} s`, so that they are fine where most
    scores are and still tell apart those far out. Scores are meant to have deviation about one.

    Parameters
    ----------
    counts : array of shape (k, 2, BINS)
        Weight by line, class (negatives first) and bin, lowest scores first.
    weight, weight_sq : array of shape (2,)
        Sum of the weights, and of their squares, of each class.
    """

    counts: FloatArray
    weight: FloatArray
    weight_sq: FloatArray

    @classmethod
    def empty(cls, n_lines: int) -> ScoreHistogram:
        """Return the histogram of no rows: the identity of ``+``."""
        return cls(np.zeros((n_lines, 2, BINS)), np.zeros(2), np.zeros(2))

    @classmethod
    def of(
        cls, X: Any, positive: AnyArray, lines: FloatArray, weight: FloatArray | None = None
    ) -> ScoreHistogram:
        """Count rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        positive : array of bool of shape (n,)
        lines : array of shape (k, d + 1)
            The candidates, intercept last.
        weight : array of shape (n,), optional
        """
        each = np.ones(len(positive)) if weight is None else np.asarray(weight, dtype=np.float64)
        counts = np.zeros((len(lines), 2 * BINS))
        for start in range(0, len(positive), _BLOCK):
            rows = slice(start, start + _BLOCK)
            bins = bin_of(X[rows] @ lines[:, :-1].T + lines[:, -1])
            bins += np.where(positive[rows], BINS, 0)[:, None]
            for line, column in enumerate(bins.T):
                counts[line] += np.bincount(column, each[rows], 2 * BINS)
        sides = [each[~positive], each[positive]]
        return cls(
            counts.reshape(-1, 2, BINS),
            np.array([side.sum() for side in sides]),
            np.array([side @ side for side in sides]),
        )

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        return ScoreHistogram(
            self.counts + other.counts, self.weight + other.weight, self.weight_sq + other.weight_sq
        )


def bin_of(scores: FloatArray) -> IntArray:
    """Return the bin of each score."""
    place = (np.arcsinh(scores) + _REACH) * (BINS / (2.0 * _REACH))
    bins: IntArray = np.clip(place, 0, BINS - 1).astype(np.int64)
    return bins


def edges() -> FloatArray:
    """Return the lower edge of every bin, and the upper edge of the last: they are infinite."""
    inner = np.sinh(np.linspace(-_REACH, _REACH, BINS + 1)[1:-1])
    return np.concatenate([[-np.inf], inner, [np.inf]])


def centres() -> FloatArray:
    """Return a score inside each bin."""
    middle: FloatArray = np.sinh((np.arange(BINS) + 0.5) * (2.0 * _REACH / BINS) - _REACH)
    return middle
