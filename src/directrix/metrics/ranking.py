"""Metrics of the ranking alone: AUC, partial AUC and average precision."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from directrix.metrics.at_threshold import BalancedError
from directrix.metrics.base import BestThreshold, Curve, CurveStack, Metric, require_share
from directrix.metrics.limit import percent

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.metrics.base import Curve, CurveStack

# ── Ranking metrics: the area under the ROC curve, or under its left part ─────────────────────────


class RankingMetric(Metric):
    """Base class of metrics of the order of the scores, which have no threshold."""

    uses_threshold = False
    response = ("decision_function", "predict_proba")
    #: Method of `variance`.
    largest_gap = 1.0
    variance_method: ClassVar[str]

    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the exact metric of these rows."""
        return self.best_value(Curve.of(y, scores, sample_weight))

    @abstractmethod
    def best_value(self, curve: Curve) -> float:
        """Return the metric, which has no threshold."""

    @abstractmethod
    def row_values(self, curve: Curve) -> tuple[FloatArray, FloatArray]:
        """Return what a row contributes to the metric, by its step on a curve.

        Returns
        -------
        tuple of two arrays
            For positives, and for negatives. The variance of the metric is the sum over both
            classes of the variance of these values, divided by the number of rows.
        """

    def best(self, curve: Curve) -> BestThreshold:
        """Return the threshold of least balanced error, and the metric, which ignores it."""
        balanced = BalancedError().best(curve)
        return BestThreshold(balanced.threshold, self.best_value(curve), balanced.index)

    def best_among(self, curve: Curve, indices: IntArray) -> int:
        """Return the threshold of least balanced error among some of a curve."""
        return int(indices[np.argmax(curve.tpr[indices] - curve.fpr[indices])])

    @abstractmethod
    def best_values(self, curves: CurveStack) -> FloatArray:
        """Return the metric of every curve."""

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the metric of every curve, and the index of the least balanced error."""
        return self.best_values(curves), BalancedError().best_of_each(curves)[1]


class RocArea(RankingMetric):
    """Base class: the mean recall over the false-positive rates from 0 to a limit."""

    variance_method = "DeLong"

    def _highest_fpr(self) -> float:
        return 1.0

    def row_values(self, curve: Curve) -> tuple[FloatArray, FloatArray]:
        r"""Return what a row contributes to the area (DeLong, DeLong and Clarke-Pearson 1988).

        V of a positive is the share of the negatives within the limit α that it is above; V of a
        negative within the limit is minus the share of positives between it and the limit, divided
        by α, and 0 beyond (for α < 1, Dodd and Pepe 2003).
        """
        limit = self._highest_fpr()
        tpr, fpr = ((rows[:-1] + rows[1:]) / 2.0 for rows in (curve.tpr, curve.fpr))
        at_limit = float(np.interp(limit, curve.fpr, curve.tpr))
        within = np.where(fpr < limit, (tpr - at_limit) / limit, 0.0)
        return np.clip(1.0 - fpr / limit, 0.0, 1.0), within

    def best_value(self, curve: Curve) -> float:
        """Return the area under the ROC curve up to the limit, divided by the limit."""
        tpr, fpr, limit = curve.tpr, curve.fpr, self._highest_fpr()
        inside = int(np.searchsorted(fpr, limit, side="right"))
        fpr_in = np.append(fpr[:inside], limit)
        tpr_in = np.append(tpr[:inside], np.interp(limit, fpr[inside - 1 :], tpr[inside - 1 :]))
        return float(np.trapezoid(tpr_in, fpr_in) / limit)

    def best_values(self, curves: CurveStack) -> FloatArray:
        """Return the area of every curve."""
        limit, tpr, fpr = self._highest_fpr(), curves.tpr, curves.fpr
        run, half_rise = np.diff(fpr), np.diff(tpr) / 2.0
        steps = run
        if limit < 1.0:  # steps of a curve count as far as they are within the limit
            steps = np.diff(np.minimum(fpr, limit))
            half_rise *= np.divide(steps, run, out=np.zeros_like(run), where=run > 0)
        area: FloatArray = (steps * (tpr[..., :-1] + half_rise)).sum(axis=-1) / limit
        return area


@dataclass(frozen=True)
class AUC(RocArea):
    """Share of pairs of a positive and a negative in the right order, ties counted half.

    scikit-learn's ``roc_auc_score``.
    """

    label = "AUC"
    averages_pairs = True


@dataclass(frozen=True)
class PartialAUC(RocArea):
    """Mean recall over the false-positive rates up to ``max_fpr``.

    scikit-learn's ``roc_auc_score(..., max_fpr=a)`` is an affine map of it:
    ``(1 + (p − a/2) / (1 − a/2)) / 2`` for our p.

    Parameters
    ----------
    max_fpr : float
        a, above 0 and at most 1.
    """

    max_fpr: float

    def __post_init__(self) -> None:
        require_share("max_fpr", self.max_fpr, closed=True)

    @property
    def label(self) -> str:
        """The metric in words."""
        return f"AUC up to FPR {percent(self.max_fpr)}"

    def _highest_fpr(self) -> float:
        return self.max_fpr


# ── AveragePrecision: the area under the precision-recall curve, in steps ─────────────────────────


@dataclass(frozen=True)
class AveragePrecision(RankingMetric):
    r"""Mean precision at the thresholds that the scores of positives set.

    .. math:: \sum_k (r_k - r_{k-1})\, p_k

    over the thresholds from the highest score down, with recall r and precision p. scikit-learn's
    ``average_precision_score``. It depends on the share of positives, which a ranking at random
    has as its average precision.
    """

    label = "average precision"
    variance_method = "delta method"

    def best_value(self, curve: Curve) -> float:
        """Return the average precision."""
        return float(np.diff(curve.tpr) @ curve.precision[1:])

    def row_values(self, curve: Curve) -> tuple[FloatArray, FloatArray]:
        r"""Return what a row contributes: the influence function of the average precision.

        .. math:: V_+(s) = p(s) + \int_{t \le s} \frac{p (1 - p)}{S_+}\, dF_+(t), \qquad
                  V_-(s) = -\int_{t \le s} \frac{p (1 - p)}{S_-}\, dF_+(t)

        with the shares S of both classes above t. A row also counts at every lower threshold.
        """
        precision, steps = curve.precision[1:], np.diff(curve.tpr)
        slope = steps * precision * (1.0 - precision)
        shares = curve.tpr[1:], curve.fpr[1:]
        below = [
            np.cumsum(np.divide(slope, share, out=np.zeros_like(slope), where=share > 0)[::-1])
            for share in shares
        ]
        return precision + below[0][::-1], -below[1][::-1]

    def best_values(self, curves: CurveStack) -> FloatArray:
        """Return the average precision of every curve."""
        areas: FloatArray = (np.diff(curves.tpr) * curves.precision[..., 1:]).sum(axis=-1)
        return areas
