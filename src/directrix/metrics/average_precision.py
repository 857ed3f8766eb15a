"""AveragePrecision: the area under the precision-recall curve, in steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.metrics.at_threshold import BalancedError
from directrix.metrics.ranking import RankingMetric
from directrix.risks import AveragePrecisionRisk

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.metrics.curve import Curve, CurveStack
    from directrix.risks.base import Risk


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

    def _area(self, curve: Curve) -> float:
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

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the metric of every curve, and the index of the least balanced error."""
        areas = (np.diff(curves.tpr) * curves.precision[..., 1:]).sum(axis=-1)
        return areas, BalancedError().best_of_each(curves)[1]

    def risk(self, n_rows: float | None = None) -> Risk:  # noqa: ARG002
        """Return one minus the metric as a function of four numbers."""
        return AveragePrecisionRisk()
