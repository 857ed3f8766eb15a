"""Risks of the confusion matrix at a threshold: costs, and any metric of the rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from directrix.risks.base import RatesRisk, share_above

if TYPE_CHECKING:
    from directrix._typing import FloatArray


@dataclass(frozen=True)
class CostRisk(RatesRisk):
    r"""Expected cost of a row.

    .. math:: R = c_{fn}\, \pi\, \Phi(-z_+) + c_{fp}\, (1 - \pi)\, \Phi(z_-)

    Costs of one give the error (Ghanbari, Li and Scheinberg 2019, eq. 3.3).

    Parameters
    ----------
    fp, fn : float
        Cost of a false positive and of a false negative.
    balanced : bool
        Give both classes the same weight, whatever the prior.
    """

    fp: float = 1.0
    fn: float = 1.0
    balanced: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """Zero to the greater cost."""
        return 0.0, max(self.fp, self.fn)

    def _costs(self, prior: float) -> tuple[float, float]:
        prior = 0.5 if self.balanced else prior
        return self.fn * prior, self.fp * (1.0 - prior)

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the expected cost at these rates."""
        miss, alarm = self._costs(prior)
        return miss * (1.0 - tpr) + alarm * fpr

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:  # noqa: ARG002
        """Return the derivatives by ``tpr`` and ``fpr``: constants."""
        miss, alarm = self._costs(prior)
        return -miss, alarm

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:  # noqa: ARG002
        """Return the second derivatives: none."""
        return 0.0, 0.0, 0.0

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        r"""Return the risks of many classifiers at their best thresholds, and the thresholds.

        The best threshold is where the two weighted densities are equal,

        .. math:: c_{fn} \pi\, \varphi\big(\tfrac{\tau - m_+}{\sqrt{v_+}}\big) / \sqrt{v_+}
                  = c_{fp} (1 - \pi)\, \varphi\big(\tfrac{\tau - m_-}{\sqrt{v_-}}\big) / \sqrt{v_-},

        a quadratic in τ. Its roots are compared with the two constant predictors, whose threshold
        is infinite.
        """
        never = np.full(len(gap), np.inf)
        candidates = np.stack([*self._equal_densities(gap, var_pos, var_neg, prior), never, -never])
        tpr = share_above(candidates, gap, var_pos)
        fpr = share_above(candidates, np.zeros_like(gap), var_neg)
        losses = self.of_rates(tpr, fpr, prior)
        best = losses.argmin(axis=0)
        every = np.arange(len(gap))
        return losses[best, every], candidates[best, every]

    def sketch(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> FloatArray:
        """Return the risks of many classifiers exactly: the quadratic is faster than a grid."""
        return self.profile(gap, var_pos, var_neg, prior)[0]

    def _equal_densities(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> list[FloatArray]:
        """Return the roots of the quadratic, and the edges of classes without spread."""
        miss, alarm = self._costs(prior)
        # In deviations of the negatives, with k² = v₊ / v₋ and g = gap / √v₋:
        # (k² − 1) x² + 2 g x + 2 k² l − g² = 0. The root that does not cancel comes first, and
        # the other from the product of both.
        deviation = np.sqrt(var_neg)
        with np.errstate(divide="ignore", invalid="ignore"):
            k, g = np.sqrt(var_pos / var_neg), gap / deviation
            log_odds = np.log(miss) - np.log(alarm) - np.log(k)
            a = (k - 1.0) * (k + 1.0)
            q = -(g + np.copysign(k * np.sqrt(g * g - 2.0 * a * log_odds), g))
            roots = [deviation * x for x in (q / a, (2.0 * k * k * log_odds - g * g) / q)]
        roots = [np.where(np.isfinite(root), root, np.inf) for root in roots]
        edges = [np.nextafter(gap, -np.inf), np.nextafter(gap, np.inf)]
        zero = np.zeros_like(gap)
        edges += [np.nextafter(zero, -np.inf), np.nextafter(zero, np.inf)]
        return [*roots, *edges] if (var_pos <= 0).any() or (var_neg <= 0).any() else roots


class RateMetric(Protocol):
    """What `MetricRisk` asks of a metric: its value and slopes at rates, and its least loss."""

    def at_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the metric at these rates: numbers, or arrays of them."""

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
        """Return the derivatives of the metric by ``tpr`` and ``fpr``."""

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:
        """Return the second derivatives: twice by ``tpr``, by both rates, twice by ``fpr``."""


@dataclass(frozen=True)
class MetricRisk(RatesRisk):
    r"""Risk of a metric that is a function M of the rates: :math:`R = s M(t, f, \pi) + c`.

    Parameters
    ----------
    metric : RateMetric
        The metric, with its slopes and second derivatives by the rates.
    sign, best : float
        s, which is −1 where more is better, and c, so that no classifier is below zero.
    worst : float
        Greatest risk.
    """

    metric: RateMetric
    sign: float = -1.0
    best: float = 1.0
    worst: float = 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Zero to the worst risk; all numbers where that is not known."""
        return (0.0 if np.isfinite(self.worst) else -np.inf), self.worst

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the risk at these rates."""
        return self.best + self.sign * self.metric.at_rates(tpr, fpr, prior)

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
        """Return the derivatives by ``tpr`` and ``fpr``."""
        by_tpr, by_fpr = self.metric.slopes(tpr, fpr, prior)
        return self.sign * by_tpr, self.sign * by_fpr

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:
        """Return the second derivatives: twice by ``tpr``, by both rates, twice by ``fpr``."""
        twice_tpr, mixed, twice_fpr = self.metric.bends(tpr, fpr, prior)
        return self.sign * twice_tpr, self.sign * mixed, self.sign * twice_fpr
