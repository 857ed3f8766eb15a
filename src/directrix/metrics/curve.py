"""Curve: counts above every threshold, from one sort of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from directrix._typing import AnyArray, FloatArray
    from directrix.moments import ScoreHistogram


@dataclass(frozen=True)
class Curve:
    """Weight of the positives and negatives above each threshold, from none of them to all.

    A row is predicted positive where its score is above the threshold. Rows of equal score are
    above it together or not at all.

    Parameters
    ----------
    levels : array
        The distinct scores, in descending order.
    true_positives, false_positives : array
        Weight of the positives and of the negatives above every threshold, of which there is one
        more than there are levels.
    """

    levels: FloatArray
    true_positives: FloatArray
    false_positives: FloatArray

    @classmethod
    def of(cls, y: Any, scores: Any, sample_weight: Any = None) -> Curve:
        """Return the curve of labelled scores."""
        positive, scores, weight = checked(y, scores, sample_weight)
        # Ties are above a threshold together, so any order of them does.
        order = np.argsort(scores)[::-1]
        sorted_weight = None if sample_weight is None else weight[order]
        return cls.of_sorted(positive[order], scores[order], sorted_weight)

    @classmethod
    def of_sorted(
        cls, positive: AnyArray, scores: FloatArray, weight: FloatArray | None = None
    ) -> Curve:
        """Return the curve of scores in descending order, which are not checked.

        Parameters
        ----------
        positive : array of bool of shape (n,)
        scores : array of shape (n,)
        weight : array of shape (n,), optional
        """
        last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
        if weight is None:  # counting whole rows takes half the time
            above = np.cumsum(positive)[last].astype(np.float64)
            below = last + 1.0 - above
        else:
            above = np.cumsum(np.where(positive, weight, 0.0))[last]
            below = np.cumsum(np.where(positive, 0.0, weight))[last]
        return cls(scores[last], np.append(0.0, above), np.append(0.0, below))

    @classmethod
    def of_histogram(cls, histogram: ScoreHistogram) -> Curve:
        """Return the curve of a score histogram; the scores of a bin count as its center.

        The counts are exact: thresholds lie between bins, to a quarter of a bin.
        """
        above = np.cumsum(histogram.counts[:, ::-1], axis=1)
        negative, positive = np.concatenate([np.zeros((2, 1)), above], axis=1)
        return cls(histogram.centers[::-1], positive, negative)

    def scaled(self, positive: float, negative: float) -> Curve:
        """Return the curve with the weights of the two classes multiplied by factors."""
        return Curve(self.levels, positive * self.true_positives, negative * self.false_positives)

    @cached_property
    def thresholds(self) -> FloatArray:
        """From +∞ down to −∞, one between each two neighbouring scores.

        At −∞ every row counts as above, even one whose score is −∞.
        """
        upper, lower = self.levels[:-1], self.levels[1:]
        return np.concatenate([[np.inf], _between(upper, lower), [-np.inf]])

    def threshold(self, index: int) -> float:
        """Return one of the thresholds, without computing the others."""
        if not 0 < index < len(self.levels):
            return float("inf") if index == 0 else float("-inf")
        return float(_between(self.levels[index - 1], self.levels[index]))

    @property
    def positives(self) -> float:
        """Weight of all positives."""
        return float(self.true_positives[-1])

    @property
    def negatives(self) -> float:
        """Weight of all negatives."""
        return float(self.false_positives[-1])

    @property
    def prior(self) -> float:
        """Share of positives."""
        return self.positives / (self.positives + self.negatives)

    @property
    def tpr(self) -> FloatArray:
        """True-positive rate (recall) at each threshold."""
        self.require_both()
        return self.true_positives / self.positives

    @property
    def fpr(self) -> FloatArray:
        """False-positive rate at each threshold."""
        self.require_both()
        return self.false_positives / self.negatives

    @property
    def precision(self) -> FloatArray:
        """Precision at each threshold; 1 where nothing is predicted positive."""
        predicted = self.true_positives + self.false_positives
        return np.divide(
            self.true_positives, predicted, out=np.ones_like(predicted), where=predicted > 0
        )

    def require_both(self) -> None:
        """Raise ValueError for rows of one class, for which rates and rankings are undefined."""
        if not (self.positives and self.negatives):
            msg = "the labels are of one class only (by weight), so this metric is not defined"
            raise ValueError(msg)


class CurveStack(Curve):
    """Curves with the same number of thresholds, stacked, without their scores.

    Parameters
    ----------
    true_positives, false_positives : array of shape (..., m)
    """

    def __init__(self, true_positives: FloatArray, false_positives: FloatArray) -> None:
        super().__init__(np.empty(0), true_positives, false_positives)

    def each(self) -> Iterator[Curve]:
        """Yield the curves one by one, the last axis but one running fastest."""
        m = self.true_positives.shape[-1]
        stacked = self.true_positives.reshape(-1, m), self.false_positives.reshape(-1, m)
        for tp, fp in zip(*stacked, strict=True):
            yield Curve(np.arange(m - 1, 0.0, -1.0), tp, fp)

    @property
    def positives(self) -> Any:
        """Weight of all positives of each curve, of shape (..., 1)."""
        return self.true_positives[..., -1:]

    @property
    def negatives(self) -> Any:
        """Weight of all negatives of each curve, of shape (..., 1)."""
        return self.false_positives[..., -1:]

    def require_both(self) -> None:
        """Raise ValueError for rows of one class, for which rates and rankings are undefined."""
        if not (self.positives.all() and self.negatives.all()):
            msg = "a part of the rows has one class only (by weight), so that rates mean nothing"
            raise ValueError(msg)


def precision_of(tpr: Any, fpr: Any, prior: Any) -> Any:
    """Return the precision at these rates; 1 where nothing is predicted positive."""
    right, wrong = prior * np.asarray(tpr), (1.0 - prior) * np.asarray(fpr)
    both = right + wrong
    precision = np.divide(right, both, out=np.ones_like(both), where=both > 0)
    return precision if precision.ndim else float(precision)


def _between(upper: Any, lower: Any) -> Any:
    """Return the middle of two neighbouring scores, never rounded up to the upper one."""
    with np.errstate(invalid="ignore"):  # there is none between −∞ and +∞
        middle = lower / 2.0 + upper / 2.0
    return np.where(middle < upper, middle, lower)


def checked(y: Any, scores: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Return which rows are positive, their scores and their weights, all validated."""
    scores = np.asarray(scores, dtype=np.float64)
    y = np.asarray(y)
    if scores.ndim != 1 or y.shape != scores.shape or not scores.size:
        msg = (
            f"there must be one score for each label, and one label at least: labels have shape "
            f"{y.shape}, scores {scores.shape}"
        )
        raise ValueError(msg)
    if np.isnan(scores).any():
        msg = "a score is NaN"
        raise ValueError(msg)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weight.shape != scores.shape or not (np.isfinite(weight).all() and weight.min() >= 0):
        msg = "sample_weight must be one finite, non-negative number for each row"
        raise ValueError(msg)
    return _is_positive(y), scores, weight


def _is_positive(y: Any) -> Any:
    """Return which rows have the positive label: True, 1, or the last of two."""
    if y.dtype.kind == "b":
        return y
    labels = np.unique(y)
    if set(labels.tolist()) <= {0, 1} or set(labels.tolist()) <= {-1, 1}:
        return y == 1
    if len(labels) != 2:
        msg = f"this metric is of two classes, and the labels are {labels[:5].tolist()}"
        raise ValueError(msg)
    return y == labels[1]
