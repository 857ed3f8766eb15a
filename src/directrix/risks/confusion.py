"""Risks of the confusion matrix at a threshold: F_β, MCC, G-mean, any function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.risks.base import RatesRisk, share_above

if TYPE_CHECKING:
    from directrix._typing import FloatArray

# ── CostRisk: the error and the cost of a row ─────────────────────────────────────────────────────


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


# ── Risks of the confusion matrix at a threshold: F_β, MCC, G-mean, any function ──────────────────

_STEP = 1e-6  # of the numerical derivative of a user's function
_WIDE_STEP = 3e-5  # of the second one, which divides by its square


@dataclass(frozen=True)
class FBetaRisk(RatesRisk):
    r"""One minus F_β.

    .. math:: R = 1 - \frac{(1 + \beta^2)\, \pi t}{\beta^2 \pi + \pi t + (1 - \pi) f}
    """

    beta: float = 1.0

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the risk at these rates."""
        square = self.beta**2
        return 1.0 - (1.0 + square) * prior * tpr / self._below(tpr, fpr, prior)

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
        """Return the derivatives by ``tpr`` and ``fpr``."""
        factor = (1.0 + self.beta**2) * prior / self._below(tpr, fpr, prior) ** 2
        by_tpr = -factor * (self.beta**2 * prior + (1.0 - prior) * fpr)
        return by_tpr, factor * (1.0 - prior) * tpr

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:
        """Return the second derivatives: twice by ``tpr``, by both rates, twice by ``fpr``."""
        below, caught, rest = self._below(tpr, fpr, prior), prior * tpr, 1.0 - prior
        factor = (1.0 + self.beta**2) * prior / below**3
        return (
            2.0 * factor * prior * (below - caught),
            factor * rest * (below - 2.0 * caught),
            -2.0 * factor * tpr * rest**2,
        )

    def _below(self, tpr: Any, fpr: Any, prior: float) -> Any:
        return self.beta**2 * prior + prior * tpr + (1.0 - prior) * fpr


@dataclass(frozen=True)
class MCCRisk(RatesRisk):
    r"""One minus Matthews' correlation coefficient.

    .. math:: R = 1 - \frac{\sqrt{\pi (1 - \pi)}\, (t - f)}{\sqrt{q (1 - q)}}, \qquad
              q = \pi t + (1 - \pi) f

    A predictor that is constant (q = 0 or 1) has correlation 0.
    """

    @property
    def bounds(self) -> tuple[float, float]:
        """Zero to two, for correlations from 1 to −1."""
        return 0.0, 2.0

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the risk at these rates."""
        share = prior * tpr + (1.0 - prior) * fpr
        spread = np.sqrt(np.maximum(share * (1.0 - share), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(spread > 0, (tpr - fpr) / spread, 0.0)
        return 1.0 - np.sqrt(prior * (1.0 - prior)) * ratio

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
        """Return the derivatives by ``tpr`` and ``fpr``."""
        share = prior * tpr + (1.0 - prior) * fpr
        square = share * (1.0 - share)
        if square <= 0:
            return 0.0, 0.0
        scale = np.sqrt(prior * (1.0 - prior) / square)
        by_share = (tpr - fpr) * (1.0 - 2.0 * share) / (2.0 * square)
        return -scale * (1.0 - by_share * prior), scale * (1.0 + by_share * (1.0 - prior))

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:
        """Return the second derivatives: twice by ``tpr``, by both rates, twice by ``fpr``."""
        share, rest = prior * tpr + (1.0 - prior) * fpr, 1.0 - prior
        square = share * (1.0 - share)
        if square <= 0:
            return 0.0, 0.0, 0.0
        scale = np.sqrt(prior * rest / square)
        # Of one over the root of q (1 − q), in units of its value: once and twice by q.
        once = -(1.0 - 2.0 * share) / (2.0 * square)
        twice = (tpr - fpr) / square * (0.75 * (1.0 - 2.0 * share) ** 2 / square + 1.0)
        return (
            float(-scale * prior * (2.0 * once + prior * twice)),
            float(-scale * ((rest - prior) * once + prior * rest * twice)),
            float(-scale * rest * (-2.0 * once + rest * twice)),
        )


@dataclass(frozen=True)
class GMeanRisk(RatesRisk):
    r"""One minus the geometric mean of the recalls of both classes, :math:`\sqrt{t (1 - f)}`."""

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:  # noqa: ARG002
        """Return the risk at these rates."""
        return 1.0 - np.sqrt(tpr * (1.0 - fpr))

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:  # noqa: ARG002
        """Return the derivatives by ``tpr`` and ``fpr``; 0 where the root is not differentiable."""
        root = np.sqrt(tpr * (1.0 - fpr))
        return (-(1.0 - fpr) / (2.0 * root), tpr / (2.0 * root)) if root > 0 else (0.0, 0.0)

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:  # noqa: ARG002
        """Return the second derivatives: twice by ``tpr``, by both rates, twice by ``fpr``."""
        root = np.sqrt(tpr * (1.0 - fpr))
        if not root:
            return 0.0, 0.0, 0.0
        mixed = 0.25 / root
        return float(mixed * (1.0 - fpr) / tpr), float(mixed), float(mixed * tpr / (1.0 - fpr))


@dataclass(frozen=True)
class FunctionRisk(RatesRisk):
    """Any function of the rates and the prior, to be minimised.

    Its derivatives by the rates are central differences inside the unit square; the rest of the
    chain rule is exact.

    Parameters
    ----------
    function : callable
        Takes ``(tpr, fpr, prior)``.
    sign : float
        −1 to maximise the function.
    """

    function: Callable[[float, float, float], float]
    sign: float = 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Unknown, hence infinite."""
        return -np.inf, np.inf

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the risk at these rates."""
        return self.sign * self.function(tpr, fpr, prior)

    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
        """Return the derivatives by ``tpr`` and ``fpr``."""
        low_t, high_t = max(tpr - _STEP, 0.0), min(tpr + _STEP, 1.0)
        low_f, high_f = max(fpr - _STEP, 0.0), min(fpr + _STEP, 1.0)
        by_tpr = self.of_rates(high_t, fpr, prior) - self.of_rates(low_t, fpr, prior)
        by_fpr = self.of_rates(tpr, high_f, prior) - self.of_rates(tpr, low_f, prior)
        return by_tpr / (high_t - low_t), by_fpr / (high_f - low_f)

    def bends(self, tpr: float, fpr: float, prior: float) -> tuple[float, float, float]:
        """Return the second derivatives, as differences around a point inside the unit square."""
        t = min(max(tpr, _WIDE_STEP), 1.0 - _WIDE_STEP)
        f = min(max(fpr, _WIDE_STEP), 1.0 - _WIDE_STEP)
        near = (-_WIDE_STEP, 0.0, _WIDE_STEP)
        at = [[float(self.of_rates(t + dt, f + df, prior)) for df in near] for dt in near]
        square = _WIDE_STEP**2
        return (
            (at[0][1] - 2.0 * at[1][1] + at[2][1]) / square,
            (at[2][2] - at[2][0] - at[0][2] + at[0][0]) / (4.0 * square),
            (at[1][0] - 2.0 * at[1][1] + at[1][2]) / square,
        )
