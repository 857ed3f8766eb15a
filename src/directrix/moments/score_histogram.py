"""ScoreHistogram: score histograms by class of many candidates, from a second pass over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

BINS = 4096
_HALF_RANGE = 6.5  # of arcsinh: covers scores up to 330 standard deviations
_BLOCK_ROWS = 1 << 15


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    r"""Weighted score histograms of both classes for k candidate models; histograms add up.

    Bins have equal width in :math:`\operatorname{arcsinh} s`, so they are fine where most scores
    are and still resolve the tails. Scores should have a standard deviation of about one.

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
    def empty(cls, n_lines: int) -> ScoreHistogram:
        """Return the histogram of no rows, which is the identity of ``+``."""
        return cls(np.zeros((n_lines, 2, BINS)), np.zeros(2), np.zeros(2))

    @classmethod
    def of(
        cls, X: Any, positive: AnyArray, lines: FloatArray, weight: FloatArray | None = None
    ) -> ScoreHistogram:
        """Return the histograms of these rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features.
        positive : array of bool of shape (n,)
            Whether each row is of the positive class.
        lines : array of shape (k, d + 1)
            Coefficients of the candidates, intercept last.
        weight : array of shape (n,), optional
            Sample weights.
        """
        row_weight = (
            np.ones(len(positive)) if weight is None else np.asarray(weight, dtype=np.float64)
        )
        counts = np.zeros((len(lines), 2 * BINS))
        for start in range(0, len(positive), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            bins = bin_of(X[rows] @ lines[:, :-1].T + lines[:, -1])
            bins += np.where(positive[rows], BINS, 0)[:, None]
            for line, column in enumerate(bins.T):
                counts[line] += np.bincount(column, row_weight[rows], 2 * BINS)
        class_weights = [row_weight[~positive], row_weight[positive]]
        return cls(
            counts.reshape(-1, 2, BINS),
            np.array([class_weight.sum() for class_weight in class_weights]),
            np.array([class_weight @ class_weight for class_weight in class_weights]),
        )

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        return ScoreHistogram(
            self.counts + other.counts, self.weight + other.weight, self.weight_sq + other.weight_sq
        )


def bin_of(scores: FloatArray) -> IntArray:
    """Return the bin index of each score."""
    position = (np.arcsinh(scores) + _HALF_RANGE) * (BINS / (2.0 * _HALF_RANGE))
    bins: IntArray = np.clip(position, 0, BINS - 1).astype(np.int64)
    return bins


def edges() -> FloatArray:
    """Return the BINS + 1 edges of the bins; the first and last are infinite."""
    inner = np.sinh(np.linspace(-_HALF_RANGE, _HALF_RANGE, BINS + 1)[1:-1])
    return np.concatenate([[-np.inf], inner, [np.inf]])


def centres() -> FloatArray:
    """Return the central score of each bin."""
    middle: FloatArray = np.sinh((np.arange(BINS) + 0.5) * (2.0 * _HALF_RANGE / BINS) - _HALF_RANGE)
    return middle
