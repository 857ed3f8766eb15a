"""Metrics at an operating point: the best of one rate where another rate keeps a limit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from directrix.metrics.base import Choice, Metric, require_share
from directrix.metrics.curve import Curve, CurveStack, precision_of
from directrix.metrics.limit import Limit, percent
from directrix.risks import AlarmAtRecall, ImprecisionAtRecall, MissAtFPR, MissAtPrecision

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.risks.base import Risk

_SLACK = 1e-12  # sums of weights are rounded; a limit is not broken by that


class PointMetric(Metric):
    """Base class: the best value of a rate among the thresholds that keep a limit on another."""

    response = ("decision_function", "predict_proba")
    fixes_threshold = True

    @abstractmethod
    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the metric at every threshold of a curve, and which thresholds keep its limit."""

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric at the best threshold that keeps the limit."""
        return self.best(Curve.of(y, scores, sample_weight)).value

    def best(self, curve: Curve) -> Choice:
        """Return the best threshold that keeps the limit, and the metric there."""
        values, allowed = self.at_thresholds(curve)
        index = int(self._losses(values, allowed).argmin())
        return Choice(curve.threshold(index), float(values[index]), index)

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the best value of the metric on every curve, and the index of its threshold."""
        values, allowed = self.at_thresholds(curves)
        index = self._losses(values, allowed).argmin(axis=-1)
        return np.take_along_axis(values, index[..., None], axis=-1)[..., 0], index

    def best_among(self, curve: Curve, indices: IntArray) -> int:
        """Return the best of some thresholds: as near to the limit as they go."""
        if self.limit.rate == "fpr":
            return int(indices.max())  # the lowest threshold catches the most positives
        if self.limit.rate == "tpr":
            return int(indices.min())  # the highest threshold has the fewest false positives
        return super().best_among(curve, indices)

    def ties_split(self, curve: Curve) -> float:
        r"""Return the best value if tied rows may be split at random, so that the limit is met.

        Of the rows with the score at which the limit would be broken, as large a share is
        predicted positive as keeps it: a point on the straight line between two thresholds of the
        curve. A card of few whole points, on which many rows tie, then compares with any other
        model at exactly the same limit.
        """
        tpr, fpr = curve.tpr, curve.fpr
        slack = self.limit.slack(tpr, fpr, curve.prior)
        before = np.flatnonzero((slack[:-1] >= 0) != (slack[1:] >= 0))
        share = slack[before] / (slack[before] - slack[before + 1])
        at_limit = [rate[before] + share * (rate[before + 1] - rate[before]) for rate in (tpr, fpr)]
        kept = self.at_thresholds(curve)[1]
        points = [
            np.append(rate[kept], some) for rate, some in zip((tpr, fpr), at_limit, strict=True)
        ]
        if not len(points[0]):
            return self.best(curve).value
        values = np.asarray(self.at_rates(points[0], points[1], curve.prior))
        return float(values.max() if self.greater_is_better else values.min())

    @property
    @abstractmethod
    def limit(self) -> Limit:
        """Limit that a threshold must keep."""

    @abstractmethod
    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""

    def _losses(self, values: FloatArray, allowed: AnyArray) -> FloatArray:
        return np.where(allowed, -values if self.greater_is_better else values, np.inf)


@dataclass(frozen=True)
class RecallAtFPR(PointMetric):
    """Highest recall with a false-positive rate of at most ``fpr``.

    Parameters
    ----------
    fpr : float
        Between 0 and 1.
    """

    fpr: float
    rate_label = "recall"

    def __post_init__(self) -> None:
        require_share("fpr", self.fpr)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"recall at FPR {percent(self.fpr)}"

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the recall at every threshold, and which thresholds keep the limit."""
        return curve.tpr, curve.fpr <= self.fpr + _SLACK

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the recall."""
        return tpr

    @property
    def limit(self) -> Limit:
        """At most ``fpr`` of the negatives may be predicted positive."""
        return Limit("fpr", self.fpr, at_most=True)

    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""
        return replace(self, fpr=value)

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric as a function of four numbers."""
        return MissAtFPR(self.fpr)


@dataclass(frozen=True)
class FPRAtRecall(PointMetric):
    """Lowest false-positive rate with a recall of at least ``recall``.

    Parameters
    ----------
    recall : float
        Between 0 and 1.
    """

    recall: float
    greater_is_better = False
    rate_label = "FPR"

    def __post_init__(self) -> None:
        require_share("recall", self.recall)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"FPR at recall {percent(self.recall)}"

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the false-positive rate at every threshold, and which keep the limit."""
        return curve.fpr, curve.tpr >= self.recall - _SLACK

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the false-positive rate."""
        return fpr

    @property
    def limit(self) -> Limit:
        """At least ``recall`` of the positives must be predicted positive."""
        return Limit("tpr", self.recall, at_most=False)

    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""
        return replace(self, recall=value)

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return the metric as a function of four numbers."""
        return AlarmAtRecall(self.recall)


@dataclass(frozen=True)
class PrecisionAtRecall(PointMetric):
    """Highest precision with a recall of at least ``recall``.

    Parameters
    ----------
    recall : float
        Between 0 and 1.
    """

    recall: float
    rate_label = "precision"

    def __post_init__(self) -> None:
        require_share("recall", self.recall)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"precision at recall {percent(self.recall)}"

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the precision at every threshold, and which thresholds keep the limit."""
        return curve.precision, curve.tpr >= self.recall - _SLACK

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the precision."""
        return precision_of(tpr, fpr, prior)

    @property
    def limit(self) -> Limit:
        """At least ``recall`` of the positives must be predicted positive."""
        return Limit("tpr", self.recall, at_most=False)

    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""
        return replace(self, recall=value)

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric as a function of four numbers."""
        return ImprecisionAtRecall(self.recall)


@dataclass(frozen=True)
class RecallAtPrecision(PointMetric):
    """Highest recall with a precision of at least ``precision``; 0 if no threshold reaches it.

    Parameters
    ----------
    precision : float
        Between 0 and 1.
    """

    precision: float
    rate_label = "recall"

    def __post_init__(self) -> None:
        require_share("precision", self.precision)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"recall at precision {percent(self.precision)}"

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the recall at every threshold, and which thresholds keep the limit."""
        return curve.tpr, curve.precision >= self.precision - _SLACK

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the recall."""
        return tpr

    @property
    def limit(self) -> Limit:
        """At least ``precision`` of the rows predicted positive must be positive."""
        return Limit("precision", self.precision, at_most=False)

    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""
        return replace(self, precision=value)

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric as a function of four numbers."""
        return MissAtPrecision(self.precision)
