"""Curve, the counts above every threshold; Metric, the base class of every metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics import make_scorer

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.metrics.limit import Limit
from directrix.metrics.score_histogram import ScoreHistogram

# ── Curve: counts above every threshold, from one sort of the scores ──────────────────────────────


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
        factors = (1.0, 1.0) if weight is None else _weights_of_classes(positive, weight)
        if factors is not None:  # counting whole rows takes half the time
            count = np.cumsum(positive)[last].astype(np.float64)
            above, below = factors[0] * count, factors[1] * (last + 1.0 - count)
        elif weight is not None:
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

    @cached_property
    def tpr(self) -> FloatArray:
        """True-positive rate (recall) at each threshold."""
        return super().tpr

    @cached_property
    def fpr(self) -> FloatArray:
        """False-positive rate at each threshold."""
        return super().fpr

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


def _weights_of_classes(positive: AnyArray, weight: FloatArray) -> tuple[float, float] | None:
    factors = float(weight[positive.argmax()]), float(weight[positive.argmin()])
    return factors if np.array_equal(weight, np.where(positive, *factors)) else None


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


# ── Metric: the base class of every metric, an exact score of rows ────────────────────────────────

#: Shares of rows predicted positive, of which the best is the value of chance.
_SHARES = 1000


class BestThreshold(NamedTuple):
    """The best threshold on some rows.

    Parameters
    ----------
    threshold : float
    value : float
        The metric at the threshold.
    index : int
        Position of the threshold on the curve of these rows.
    """

    threshold: float
    value: float
    index: int  # type: ignore[assignment]  # a field, not the method of tuples


class Metric(ABC):
    """Base class of metrics: frozen dataclasses, hashable and compared by value.

    A subclass defines ``score`` (the exact metric of rows) and ``best`` (the best threshold on a
    curve). `directrix.moments.risks.risk_of` returns the same metric as a function of the class
    means and variances of normal scores. The laws that it keeps are in ``tests/contracts``.
    """

    greater_is_better: ClassVar[bool] = True
    #: Largest difference of two values of the metric.
    largest_gap: ClassVar[float] = np.inf
    #: Whether the metric depends on a threshold; a ranking metric does not.
    uses_threshold: ClassVar[bool] = True
    #: Whether the metric sets the threshold itself: at a limit, or at a number of rows.
    fixes_threshold: ClassVar[bool] = False
    #: Whether it is a mean over all pairs of a positive and a negative row, as AUC is.
    averages_pairs: ClassVar[bool] = False
    #: Methods of a scikit-learn classifier that return the scores, in order of preference.
    response: ClassVar[tuple[str, ...]] = ("decision_function",)

    @property
    def label(self) -> str:
        """The metric in words, on one line, as an axis or a report shows it."""
        return str(self)

    @property
    def rate_label(self) -> str:
        """Name of the values of `at_thresholds`; the label of the metric by default."""
        return self.label

    @abstractmethod
    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the exact metric of these rows.

        Parameters
        ----------
        y : array of shape (n,)
            Labels of two classes; the positive one is True, 1, or the last of the two.
        scores : array of shape (n,)
            Higher scores mean that the positive class is more likely. Metrics that do not fix the
            threshold themselves predict positive where the score is above zero.
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        """

    @abstractmethod
    def best(self, curve: Curve) -> BestThreshold:
        """Return the threshold with the best metric on these rows."""

    def best_value(self, curve: Curve) -> float:
        """Return the metric at the best threshold."""
        return self.best(curve).value

    def ties_split(self, curve: Curve) -> float:
        """Return the best value if tied rows may be split at random to meet a limit exactly.

        Without a limit that is the best value.
        """
        return self.best_value(curve)

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the best value of the metric on every curve, and the index of its threshold."""
        choices = [self.best(curve) for curve in curves.each()]
        shape = curves.true_positives.shape[:-1]
        values = np.array([choice.value for choice in choices]).reshape(shape)
        indices = np.array([choice.index for choice in choices], dtype=np.int64).reshape(shape)
        return values, indices

    def best_values(self, curves: CurveStack) -> FloatArray:
        """Return the best value of the metric on every curve."""
        return self.best_of_each(curves)[0]

    def best_among(self, curve: Curve, indices: IntArray) -> int:
        """Return the best of some thresholds of a curve.

        Parameters
        ----------
        curve : Curve
        indices : array of int
            Thresholds to choose from, as positions on the curve.
        """
        values = self.at_rates(curve.tpr[indices], curve.fpr[indices], curve.prior)
        best = np.argmax(values) if self.greater_is_better else np.argmin(values)
        return int(indices[best])

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the metric of a threshold with these rates: numbers, or arrays of them.

        Raises TypeError for a ranking metric, which is not a function of the rates.
        """
        msg = f"{self} has no threshold, so it is not a function of the rates at one"
        raise TypeError(msg)

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the metric at every threshold of a curve, and which thresholds keep its limit.

        Raises TypeError for a ranking metric, which no threshold changes.
        """
        values = np.asarray(self.at_rates(curve.tpr, curve.fpr, curve.prior), dtype=np.float64)
        everywhere = np.ones(len(curve.true_positives), dtype=bool)
        return np.broadcast_to(values, everywhere.shape).copy(), everywhere

    def value_at(self, curve: Curve, index: int) -> float:  # noqa: ARG002
        """Return the metric at a threshold; a metric that fixes its threshold ignores the index."""
        return self.best_value(curve)

    @property
    def limit(self) -> Limit | None:
        """Limit that a threshold must keep; None for most metrics."""
        return None

    def quota(self, prior: float, n_rows: float | None = None) -> float | None:  # noqa: ARG002
        """Return the share of rows that the metric flags; None where it does not set one.

        Parameters
        ----------
        prior : float
            Share of positives.
        n_rows : float, optional
            Weight of all rows, which a metric of a number of rows needs.
        """
        return None

    @property
    def unit(self) -> float:
        """Size of the worst value, by which differences of the metric are scaled."""
        return 1.0

    @property
    def cost_ratio(self) -> float | None:
        """Cost of a miss divided by that of a false positive, where the metric states both."""
        return None

    def chance(self, prior: float, n_rows: float | None = None) -> float:
        r"""Return what scores that know nothing of the label reach at their best threshold.

        At every threshold of such scores both rates are equal, and each share of the rows can be
        predicted positive: all of them and none of them, the constant predictions, among others.

        .. math:: \max_{q \in [0, 1]} M(q, q, \pi)

        within the limit of the metric, if it has one; the least for a metric of which less is
        better. An AUC of 0.5, a recall of α at a false-positive rate of α, a precision of π.

        Parameters
        ----------
        prior : float
            π, the share of positives.
        n_rows : float, optional
            Weight of all rows, which a metric of a number of rows needs.
        """
        grid = np.linspace(0.0, 1.0, _SHARES + 1)
        share = grid if self.limit is None else np.union1d(grid, [self.limit.value])
        total = 1.0 if n_rows is None else n_rows
        levels = np.arange(len(share) - 1, 0.0, -1.0)
        curve = Curve(levels, total * prior * share, total * (1.0 - prior) * share)
        return float(self.best_value(curve))

    def is_better(self, interval: tuple[float, float], than: float) -> bool:
        """Return whether a whole interval of values of the metric is better than a value.

        Parameters
        ----------
        interval : tuple of float
        than : float
        """
        low, high = interval
        return low > than if self.greater_is_better else high < than

    def break_even(self, prior: float) -> float | None:  # noqa: ARG002
        """Return the probability above which to predict positive, where the metric implies one."""
        return None

    def of_loss(self, loss: Any) -> Any:
        """Return the value of the metric for a value of its risk."""
        return 1.0 - loss if self.greater_is_better else loss

    def as_score(self, value: float) -> float:
        """Return a value of the metric with the sign of a score: more is better."""
        return value if self.greater_is_better else -value

    def scorer(self, positive: Any = None) -> Any:
        """Return a scikit-learn scorer, for ``scoring=``; more is better.

        Parameters
        ----------
        positive : label, optional
            The positive label; by default the last of the two.
        """
        return make_scorer(
            _as_score, response_method=self.response, metric=self, pos_label=positive
        )


def _as_score(
    y: Any, scores: Any, sample_weight: Any = None, *, metric: Metric, pos_label: Any = None
) -> float:
    """Return a metric as a score; at module level, so that scorers can be pickled.

    `TunedThresholdClassifierCV` gives predicted labels instead of scores; texts are understood.
    """
    positive = y if pos_label is None else np.asarray(y) == pos_label
    given = np.asarray(scores)
    if given.dtype.kind in "OUT":
        label = np.unique(y)[-1] if pos_label is None else pos_label
        given = np.where(given == label, 1.0, -1.0)
    return metric.as_score(metric.score(positive, given, sample_weight))


def require_share(name: str, value: float, *, closed: bool = False) -> None:
    """Raise ValueError unless a parameter is a share between 0 and 1."""
    if not (0 < value < 1 or (closed and value == 1)):
        msg = f"{name} must be a share between 0 and 1, not {value!r}"
        raise ValueError(msg)
