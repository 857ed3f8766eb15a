"""Metrics of the ranking: the area under the ROC curve, or under its left part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.metrics.at_threshold import BalancedError
from directrix.metrics.base import Choice, Metric, require_share
from directrix.metrics.curve import Curve, CurveStack
from directrix.risks import PartialRankingRisk, RankingRisk

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.risks import Risk


class RankingMetric(Metric):
    """The mean recall over the false-positive rates from 0 to a limit."""

    cuts = False
    response = ("decision_function", "predict_proba")

    def _limit(self) -> float:
        return 1.0

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the area under the ROC curve up to the limit, divided by the limit."""
        return self._area(Curve.of(y, scores, sample_weight))

    def _area(self, curve: Curve) -> float:
        tpr, fpr, limit = curve.tpr, curve.fpr, self._limit()
        inside = int(np.searchsorted(fpr, limit, side="right"))
        fpr_in = np.append(fpr[:inside], limit)
        tpr_in = np.append(tpr[:inside], np.interp(limit, fpr[inside - 1 :], tpr[inside - 1 :]))
        return float(np.trapezoid(tpr_in, fpr_in) / limit)

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the metric of each of many curves, and the thresholds of least balanced error."""
        limit, tpr, fpr = self._limit(), curves.tpr, curves.fpr
        # Each step of a curve, as far as it is within the limit.
        inside = np.minimum(fpr, limit)
        steps, rise, run = np.diff(inside), np.diff(tpr), np.diff(fpr)
        part = np.divide(steps, run, out=np.zeros_like(run), where=run > 0)
        area = (steps * (tpr[..., :-1] + part * rise / 2.0)).sum(axis=-1)
        return area / limit, BalancedError().best_of_each(curves)[1]

    def best(self, curve: Curve) -> Choice:
        """Return the threshold of least balanced error, and the metric, which has none."""
        balanced = BalancedError().best(curve)
        return Choice(balanced.threshold, self._area(curve), balanced.place)

    def best_value(self, curve: Curve) -> float:
        """Return the metric, which has no threshold."""
        return self._area(curve)


@dataclass(frozen=True)
class AUC(RankingMetric):
    """Share of pairs of a positive and a negative ranked the right way round, ties half.

    scikit-learn's ``roc_auc_score``.
    """

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric, of four numbers."""
        return RankingRisk()


@dataclass(frozen=True)
class PartialAUC(RankingMetric):
    """Mean recall over the false-positive rates up to ``max_fpr``.

    scikit-learn's ``roc_auc_score(..., max_fpr=a)`` is an affine map of it:
    ``(1 + (p − a/2) / (1 − a/2)) / 2`` for our p.
    """

    max_fpr: float

    def __post_init__(self) -> None:
        require_share("max_fpr", self.max_fpr, closed=True)

    def _limit(self) -> float:
        return self.max_fpr

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric, of four numbers."""
        return PartialRankingRisk(self.max_fpr)
