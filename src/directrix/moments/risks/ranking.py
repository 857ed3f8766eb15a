"""Risks without a threshold: AUC, partial AUC and average precision."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from directrix._normal import cdf, z_value
from directrix._typing import FloatArray
from directrix.moments.projection import Partials, ScoreMoments
from directrix.moments.risks.base import CostRisk, Risk, chained, rate_curvature

# ── Risks of rankings: one minus the AUC, whole and partial ───────────────────────────────────────

_NODES = 64
_REACH = 9.0  # standard deviations: beyond, the tail is below 1e-18


class _RankingRisk(Risk):
    shift_invariant = True

    @abstractmethod
    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the threshold of least balanced error, which is not part of the metric."""
        return CostRisk(balanced=True).threshold(scores)

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers, and their thresholds of least balanced error."""
        lines = zip(gap.tolist(), var_pos.tolist(), var_neg.tolist(), strict=True)
        values = [self.value(ScoreMoments(gap, pos, 0.0, neg, prior)) for gap, pos, neg in lines]
        _, thresholds = CostRisk(balanced=True).profile(gap, var_pos, var_neg, prior)
        return np.array(values), thresholds


@dataclass(frozen=True)
class RankingRisk(_RankingRisk):
    r"""Share of pairs in the wrong order: 1 − AUC.

    .. math:: R = \Phi\left( - \frac{m_+ - m_-}{\sqrt{v_+ + v_-}} \right)

    Ghanbari, Li and Scheinberg 2019 print the AUC as the loss: eq. 3.8 is 1 − R, and eq. 3.10 is
    its gradient, so the gradient of R is minus eq. 3.10. Both variances have the same weight, so
    the best direction is :math:`(\Sigma_+ + \Sigma_-)^{-1} (\mu_+ - \mu_-)` (Su and Liu 1993).
    """

    angle = np.pi / 4

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        return cdf(z_value(scores.mean_neg - scores.mean_pos, scores.var_pos + scores.var_neg))

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        variance = scores.var_pos + scores.var_neg
        z = z_value(scores.mean_neg - scores.mean_pos, variance)
        by_mean, by_variance = chained(1.0, z, variance)
        return cdf(z), Partials(-by_mean, by_variance, by_mean, by_variance)

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        variance = scores.var_pos + scores.var_neg
        z = z_value(scores.mean_neg - scores.mean_pos, variance)
        of_difference = np.array([[-1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
        hessian: FloatArray = of_difference.T @ rate_curvature(z, variance) @ of_difference
        return hessian


@dataclass(frozen=True)
class PartialRankingRisk(_RankingRisk):
    r"""One minus the mean recall over the false-positive rates up to α.

    .. math:: R = 1 - \frac1\alpha \int_0^\alpha \Phi\left( \frac{m_+ - m_- + \sqrt{v_-}\,
              \Phi^{-1}(u)}{\sqrt{v_+}} \right) du

    by Gauss–Legendre quadrature in :math:`\Phi^{-1}(u)`, in which the integrand is smooth where
    the recall rises steeply near u = 0.

    Parameters
    ----------
    max_fpr : float
        α, the largest false-positive rate that counts.
    """

    max_fpr: float

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        gap, sd_pos = scores.mean_pos - scores.mean_neg, np.sqrt(scores.var_pos)
        sd_neg = np.sqrt(scores.var_neg)
        if not sd_pos:  # the negatives above the positives, whose scores are all equal
            return min(cdf(z_value(-gap, scores.var_neg)) / self.max_fpr, 1.0)
        quantile, weight = self._nodes(gap, sd_pos, sd_neg)
        return float(weight @ ndtr(-(gap + sd_neg * quantile) / sd_pos))

    def _nodes(self, gap: float, sd_pos: float, sd_neg: float) -> tuple[FloatArray, FloatArray]:
        """Return normal quantiles and weights that average a function of u over (0, max_fpr].

        With q = Φ⁻¹(u), du = φ(q) dq, and nine deviations below the end nothing is left. The
        recall rises around q = −gap / √v₋ within a few √(v₊ / v₋): that is a separate interval, or
        nodes would step over it when the positives are the narrower class.
        """
        end = min(float(ndtri(self.max_fpr)), _REACH)
        start = min(0.0, end) - _REACH
        edges = [start, end]
        if sd_pos < sd_neg:
            width = _REACH * sd_pos / sd_neg
            rise = -gap / sd_neg
            edges = [start, *np.clip((rise - width, rise + width), start, end), end]
        return _normal_nodes(edges, _NODES)


def _normal_nodes(edges: Sequence[float], count: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes of Gauss-Legendre in each interval, and normal weights that sum to one."""
    ends = np.asarray(edges)
    node, weight = _legendre(count)
    half = np.diff(ends)[:, None] / 2.0
    x = (ends[:-1, None] + half * (node + 1.0)).ravel()
    weight = (half * weight).ravel() * np.exp(-0.5 * x * x)
    return x, weight / weight.sum()


@cache
def _legendre(count: int) -> tuple[FloatArray, FloatArray]:
    node, weight = np.polynomial.legendre.leggauss(count)
    return node, weight


# ── AveragePrecisionRisk: one minus the average precision of normal scores ────────────────────────

_AVERAGE_NODES = 128
#: Least ratio of the standard deviation of the negatives to that of the positives: narrower
#: classes are this limit to all digits that the integral has.
_NARROW = 1e-8


@dataclass(frozen=True)
class AveragePrecisionRisk(_RankingRisk):
    r"""One minus the mean precision at the thresholds that the scores of positives set.

    .. math:: R = 1 - \int \varphi(x)\, \frac{\pi \Phi(x)}{\pi \Phi(x) + (1 - \pi) \Phi(z)}\, dx,
              \qquad z = \frac{\sqrt{v_+}\, x - (m_+ - m_-)}{\sqrt{v_-}}

    A threshold x standard deviations below the mean of the positives has the recall
    :math:`\Phi(x)` and the false-positive rate :math:`\Phi(z)`. By Gauss-Legendre quadrature.
    """

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        gap, sd_pos = scores.mean_pos - scores.mean_neg, float(np.sqrt(scores.var_pos))
        sd_neg = float(np.sqrt(scores.var_neg))
        if not sd_pos and not sd_neg:
            # All scores of a class are equal: the limit of equal small spreads.
            if gap > 0:
                return 0.0
            gap, sd_pos, sd_neg = -np.inf if gap < 0 else 0.0, 1.0, 1.0
        return _mean_imprecision(gap, sd_pos, max(sd_neg, _NARROW * sd_pos), scores.prior)


def _mean_imprecision(gap: float, sd_pos: float, sd_neg: float, prior: float) -> float:
    """Return one minus the mean precision over the quantiles of the positives.

    The precision falls where z is between -9 and 9. Where the positives are the wider class this
    is a short interval of x, which has nodes of its own.
    """
    edges = [-_REACH, _REACH]
    if sd_neg < sd_pos:
        fall = np.clip((gap + sd_neg * np.array(edges)) / sd_pos, -_REACH, _REACH)
        edges = [-_REACH, *fall, _REACH]
    x, weight = _normal_nodes(edges, _AVERAGE_NODES)
    z = (sd_pos * x - gap) / sd_neg
    precision = expit(logit(prior) + log_ndtr(x) - log_ndtr(z))
    return float(weight @ (1.0 - precision))
