"""Metrics at an operating point: the best of one rate where another rate keeps a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.metrics.base import (
    BestThreshold,
    Curve,
    CurveStack,
    Metric,
    precision_of,
    require_share,
)
from directrix.metrics.limit import Limit, percent

_SLACK = 1e-12  # sums of weights are rounded; a limit is not broken by that


#: Rates of a curve: their names in words, and the parameter that limits them.
_WORDS = {"tpr": "recall", "fpr": "FPR", "precision": "precision"}
_PARAMETERS = {"tpr": "recall", "fpr": "fpr", "precision": "precision"}


class PointMetric(Metric):
    """Base class: the best value of a rate among the thresholds that keep a limit on another.

    A subclass is a dataclass with the limit as its only field, and says which rate it reports
    and which rate is limited.
    """

    response = ("decision_function", "predict_proba")
    fixes_threshold = True
    #: The rate that is reported and the rate that is limited: "tpr", "fpr" or "precision".
    largest_gap = 1.0
    rate: ClassVar[str]
    limited: ClassVar[str]

    def __post_init__(self) -> None:
        require_share(_PARAMETERS[self.limited], self.limit.value)

    @property
    def rate_label(self) -> str:
        """The rate that is reported, in words."""
        return _WORDS[self.rate]

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"{self.rate_label} at {_WORDS[self.limited]} {percent(self.limit.value)}"

    @property
    def limit(self) -> Limit:
        """Limit on the other rate: at most for a false-positive rate, at least for any other."""
        value = getattr(self, _PARAMETERS[self.limited])
        return Limit(self.limited, value, at_most=self.limited == "fpr")

    def with_limit(self, value: float) -> Self:
        """Return the metric with another limit."""
        return replace(self, **{_PARAMETERS[self.limited]: value})  # type: ignore[type-var]

    def at_thresholds(self, curve: Curve) -> tuple[FloatArray, AnyArray]:
        """Return the metric at every threshold of a curve, and which thresholds keep its limit."""
        limit, rate = self.limit, getattr(curve, self.limited)
        kept = rate <= limit.value + _SLACK if limit.at_most else rate >= limit.value - _SLACK
        return getattr(curve, self.rate), kept

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:
        """Return the rate that is reported."""
        if self.rate == "precision":
            return precision_of(tpr, fpr, prior)
        return tpr if self.rate == "tpr" else fpr

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric at the best threshold that keeps the limit."""
        return self.best(Curve.of(y, scores, sample_weight)).value

    def best(self, curve: Curve) -> BestThreshold:
        """Return the best threshold that keeps the limit, and the metric there."""
        values, allowed = self.at_thresholds(curve)
        index = int(self._losses(values, allowed).argmin())
        return BestThreshold(curve.threshold(index), float(values[index]), index)

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
    rate, limited = "tpr", "fpr"


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
    rate, limited = "fpr", "tpr"


@dataclass(frozen=True)
class PrecisionAtRecall(PointMetric):
    """Highest precision with a recall of at least ``recall``.

    Parameters
    ----------
    recall : float
        Between 0 and 1.
    """

    recall: float
    rate, limited = "precision", "tpr"


@dataclass(frozen=True)
class RecallAtPrecision(PointMetric):
    """Highest recall with a precision of at least ``precision``; 0 if no threshold reaches it.

    Parameters
    ----------
    precision : float
        Between 0 and 1.
    """

    precision: float
    rate, limited = "tpr", "precision"
