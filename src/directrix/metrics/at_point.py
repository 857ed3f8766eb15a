"""Metrics at an operating point: a false-positive rate, a recall or a precision that is given."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.metrics.base import Choice, Metric, require_share
from directrix.metrics.curve import Curve
from directrix.risks import AlarmAtRecall, ImprecisionAtRecall, MissAtFPR, MissAtPrecision

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.risks import Risk

_SLACK = 1e-12  # sums of weights are rounded; a limit is not broken by that


class PointMetric(Metric):
    """The best value of one rate among the thresholds that keep a limit on another."""

    response = ("decision_function", "predict_proba")

    @abstractmethod
    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        """Return which thresholds keep the limit, and the metric at each."""

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric at the best threshold that keeps the limit."""
        return self.best(Curve.of(y, scores, sample_weight)).value

    def best(self, curve: Curve) -> Choice:
        """Return the best threshold that keeps the limit, and the metric there."""
        allowed, value = self._allowed_and_value(curve)
        sign = 1.0 if self.greater_is_better else -1.0
        place = int(np.argmax(np.where(allowed, sign * value, -np.inf)))
        return Choice(curve.threshold(place), float(value[place]), place)


@dataclass(frozen=True)
class RecallAtFPR(PointMetric):
    """Most positives caught with a false-positive rate of at most ``fpr``."""

    fpr: float

    def __post_init__(self) -> None:
        require_share("fpr", self.fpr)

    def _allowed_and_value(self, curve: Curve) -> tuple[AnyArray, FloatArray]:
        return curve.fpr <= self.fpr + _SLACK, curve.tpr

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

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric, of four numbers."""
        return MissAtPrecision(self.precision)
