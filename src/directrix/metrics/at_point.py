"""Metrics at an operating point: a false-positive rate, a recall or a precision that is given."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from directrix.metrics.base import Choice, Limit, Metric, require_share
from directrix.metrics.curve import Curve, CurveStack, precision_of
from directrix.risks import AlarmAtRecall, ImprecisionAtRecall, MissAtFPR, MissAtPrecision

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.risks import Risk

_SLACK = 1e-12  # sums of weights are rounded; a limit is not broken by that


class PointMetric(Metric):
    """The best value of one rate among the thresholds that keep a limit on another."""

    response = ("decision_function", "predict_proba")
    fixes_threshold = True

    @abstractmethod
    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        """Return which thresholds keep the limit, and the metric at each."""

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric at the best threshold that keeps the limit."""
        return self.best(Curve.of(y, scores, sample_weight)).value

    def best(self, curve: Curve) -> Choice:
        """Return the best threshold that keeps the limit, and the metric there."""
        allowed, value = self._allowed_and_value(curve)
        place = int(self._losses(allowed, value).argmin())
        return Choice(curve.threshold(place), float(value[place]), place)

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the metric at the best threshold of each of many curves, and these thresholds."""
        allowed, value = self._allowed_and_value(curves)
        place = self._losses(allowed, value).argmin(axis=-1)
        return np.take_along_axis(value, place[..., None], axis=-1)[..., 0], place

    @property
    @abstractmethod
    def limit(self) -> Limit:
        """What a threshold must keep."""

    @abstractmethod
    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""

    def _losses(self, allowed: AnyArray, value: FloatArray) -> FloatArray:
        return np.where(allowed, -value if self.greater_is_better else value, np.inf)


@dataclass(frozen=True)
class RecallAtFPR(PointMetric):
    """Most positives caught with a false-positive rate of at most ``fpr``."""

    fpr: float

    def __post_init__(self) -> None:
        require_share("fpr", self.fpr)

    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        return curve.fpr <= self.fpr + _SLACK, curve.tpr

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
        """Return one minus the metric, of four numbers."""
        return MissAtFPR(self.fpr)


@dataclass(frozen=True)
class FPRAtRecall(PointMetric):
    """Least false-positive rate with a recall of at least ``recall``."""

    recall: float
    greater_is_better = False

    def __post_init__(self) -> None:
        require_share("recall", self.recall)

    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        return curve.tpr >= self.recall - _SLACK, curve.fpr

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
        """Return the metric, of four numbers."""
        return AlarmAtRecall(self.recall)


@dataclass(frozen=True)
class PrecisionAtRecall(PointMetric):
    """Greatest precision with a recall of at least ``recall``."""

    recall: float

    def __post_init__(self) -> None:
        require_share("recall", self.recall)

    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        return curve.tpr >= self.recall - _SLACK, curve.precision

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
        """Return one minus the metric, of four numbers."""
        return ImprecisionAtRecall(self.recall)


@dataclass(frozen=True)
class RecallAtPrecision(PointMetric):
    """Most positives caught with a precision of at least ``precision``; 0 where none can be."""

    precision: float

    def __post_init__(self) -> None:
        require_share("precision", self.precision)

    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        return curve.precision >= self.precision - _SLACK, curve.tpr

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the recall."""
        return tpr

    @property
    def limit(self) -> Limit:
        """At least ``precision`` of the rows predicted positive must be."""
        return Limit("precision", self.precision, at_most=False)

    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""
        return replace(self, precision=value)

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric, of four numbers."""
        return MissAtPrecision(self.precision)
