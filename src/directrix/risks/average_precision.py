"""AveragePrecisionRisk: one minus the average precision of normal scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, logit

from directrix._typing import FloatArray
from directrix.moments.projection import Partials, ScoreMoments
from directrix.risks.base import Risk
from directrix.risks.curvature import by_variances, of_quadrature
from directrix.risks.error import CostRisk

_NODES = 128
_REACH = 9.0  # standard deviations: beyond, the tail is below 1e-18
#: Least ratio of the standard deviation of the negatives to that of the positives: narrower
#: classes are this limit to all digits that the integral has.
_NARROW = 1e-8


class _Integrand(NamedTuple):
    """Precision at quantiles of the positives, with quadrature weights.

    Parameters
    ----------
    x : array
        Quantiles: how many standard deviations a threshold is below the mean of the positives.
    z : array
        How many standard deviations of the negatives it is below their mean.
    weight : array
        Share of the positives at each quantile.
    precision : array
    slope : array
        Minus the derivative of the weighted precision by z.
    bend : array
        Minus its second derivative by z.
    """

    x: FloatArray
    z: FloatArray
    weight: FloatArray
    precision: FloatArray
    slope: FloatArray
    bend: FloatArray


@dataclass(frozen=True)
class AveragePrecisionRisk(Risk):
    r"""One minus the mean precision at the thresholds that the scores of positives set.

    .. math:: R = 1 - \int \varphi(x)\, \frac{\pi \Phi(x)}{\pi \Phi(x) + (1 - \pi) \Phi(z)}\, dx,
              \qquad z = \frac{\sqrt{v_+}\, x - (m_+ - m_-)}{\sqrt{v_-}}

    A threshold x standard deviations below the mean of the positives has the recall
    :math:`\Phi(x)` and the false-positive rate :math:`\Phi(z)`. With the precision p, its
    derivative by z is :math:`-p (1 - p)\, h` with :math:`h = \varphi(z) / \Phi(z)`, and the second
    one :math:`p (1 - p)\, h\, (z + 2 (1 - p) h)`. By Gauss-Legendre quadrature.
    """

    shift_invariant = True

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the threshold of least balanced error, which is not part of the metric."""
        return CostRisk(balanced=True).threshold(scores)

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        gap, sd_pos = scores.mean_pos - scores.mean_neg, float(np.sqrt(scores.var_pos))
        sd_neg = float(np.sqrt(scores.var_neg))
        if not sd_pos and not sd_neg:
            return self._without_spread(gap, scores.prior), Partials(0.0, 0.0, 0.0, 0.0)
        narrow = max(sd_neg, _NARROW * sd_pos)
        at = _integrand(gap, sd_pos, narrow, scores.prior)
        value = float(at.weight @ (1.0 - at.precision))
        by_gap = -float(at.slope.sum()) / narrow
        by_sd_pos, by_sd_neg = float(at.slope @ at.x) / narrow, -float(at.slope @ at.z) / narrow
        return value, Partials(
            by_gap,
            by_sd_pos / (2.0 * sd_pos) if sd_pos else 0.0,
            -by_gap,
            by_sd_neg / (2.0 * sd_neg) if sd_neg == narrow else 0.0,
        )

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        gap, sd_pos = scores.mean_pos - scores.mean_neg, float(np.sqrt(scores.var_pos))
        sd_neg = float(np.sqrt(scores.var_neg))
        if not sd_pos and not sd_neg:
            return np.zeros((4, 4))
        narrow = max(sd_neg, _NARROW * sd_pos)
        at = _integrand(gap, sd_pos, narrow, scores.prior)
        by_deviations = of_quadrature(at.slope, at.bend, at.x, at.z, sign=-1.0, sd=narrow)
        return by_variances(by_deviations, (sd_pos, sd_neg if sd_neg == narrow else 0.0))

    def _without_spread(self, gap: float, prior: float) -> float:
        """Return the risk if all scores of a class are equal: the limit of equal small spreads."""
        if gap > 0:
            return 0.0
        at = _integrand(-np.inf if gap < 0 else 0.0, 1.0, 1.0, prior)
        return float(at.weight @ (1.0 - at.precision))


def _integrand(gap: float, sd_pos: float, sd_neg: float, prior: float) -> _Integrand:
    """Return the precision at the nodes of the quadrature.

    The precision falls where z is between -9 and 9. Where the positives are the wider class this
    is a short interval of x, which has nodes of its own.
    """
    edges = np.array([-_REACH, _REACH])
    if sd_neg < sd_pos:
        fall = np.clip((gap + sd_neg * edges) / sd_pos, -_REACH, _REACH)
        edges = np.array([-_REACH, *fall, _REACH])
    node, weight = _legendre()
    half = np.diff(edges)[:, None] / 2.0
    x = (edges[:-1, None] + half * (node + 1.0)).ravel()
    weight = (half * weight).ravel() * np.exp(-0.5 * x * x)
    weight /= weight.sum()
    z = (sd_pos * x - gap) / sd_neg
    log_fpr = log_ndtr(z)
    odds = logit(prior) + log_ndtr(x) - log_fpr
    precision = expit(odds)
    hazard = np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))  # φ(z) / Φ(z), in both tails
    slope = weight * precision * expit(-odds) * hazard
    bounded = np.where(slope > 0.0, z, 0.0)  # z is infinite where the classes are far apart
    bend = -slope * (bounded + 2.0 * expit(-odds) * hazard)
    return _Integrand(x, z, weight, precision, slope, bend)


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    return node, weight
