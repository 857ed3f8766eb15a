"""Risk: the base class of metrics as functions of four numbers; risks of the confusion matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from directrix._normal import cdf, density, z_value
from directrix._typing import FloatArray, IntArray
from directrix.metrics.base import Metric
from directrix.moments.projection import Partials, ScoreMoments

# ── Risk: the base class of metrics as functions of four numbers ──────────────────────────────────

_REACH = 8.0  # standard deviations: beyond, the tail of a class is below 1e-15
_STEPS = 65
_ROUNDS = 2
_FINER = np.linspace(0.0, 1.0, 33)
_FLAT = 1e-12  # a smaller decrease is rounding, not a slope towards a minimum


class Risk(ABC):
    """Base class: a function of the mean and variance of the scores of each class.

    Lower is better. Subclasses are frozen dataclasses.
    """

    #: Whether adding a constant to all scores changes nothing.
    shift_invariant: ClassVar[bool]
    #: Angle of the optimum on the frontier of moments, if it is known beforehand.
    angle: ClassVar[float | None] = None

    @abstractmethod
    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers at their best thresholds, and the thresholds.

        Parameters
        ----------
        gap : array
            Mean score of the positives; that of the negatives is zero.
        var_pos, var_neg : array
            Variances of the scores of the positives and of the negatives.
        prior : float
            Share of positives.
        """

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        return self._profile_of(scores)[0]

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the score above which to predict positive: the best, or that the metric fixes."""
        return scores.mean_neg + self._profile_of(scores)[1]

    def _profile_of(self, scores: ScoreMoments) -> tuple[float, float]:
        gap = np.array([scores.mean_pos - scores.mean_neg])
        spreads = np.array([scores.var_pos]), np.array([scores.var_neg])
        value, threshold = self.profile(gap, *spreads, scores.prior)
        return float(value[0]), float(threshold[0])

    def sketch(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> FloatArray:
        """Return approximate risks of many classifiers, to see where they are low."""
        return self.profile(gap, var_pos, var_neg, prior)[0]


class RatesRisk(Risk):
    r"""Base class: a function of the true- and false-positive rate at threshold zero.

    .. math:: R = M(t, f, \pi), \quad t = \Phi(z_+), \quad f = \Phi(z_-), \quad
              z_c = m_c / \sqrt{v_c}
    """

    shift_invariant = False

    @abstractmethod
    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the risk at these rates: numbers, or arrays of them."""

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        tpr = cdf(z_value(scores.mean_pos, scores.var_pos))
        fpr = cdf(z_value(scores.mean_neg, scores.var_neg))
        return float(self.of_rates(tpr, fpr, scores.prior))

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the best threshold; infinite if always predicting one class is as good."""
        mean_pos, var_pos, mean_neg, var_neg, _ = scores
        gap, shift = mean_pos - mean_neg, self._profile_of(scores)[1]
        threshold = mean_neg + shift
        # A threshold next to a class without spread must stay on its side of it.
        for mean, variance, centre in ((mean_pos, var_pos, gap), (mean_neg, var_neg, 0.0)):
            if variance <= 0 and threshold == mean and shift != centre:
                threshold = float(np.nextafter(mean, np.copysign(np.inf, shift - centre)))
        return threshold

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers at their best thresholds, and the thresholds.

        A grid through both classes is refined at its two lowest minima (there are several if the
        variances differ) and finished by a parabola through the last three points.
        """
        grid = through_classes(gap, var_pos, var_neg, _STEPS)
        loss = self._losses(gap, var_pos, var_neg, prior, grid)
        lowest = loss.argmin(axis=1)
        start = np.concatenate([lowest, _second_valley(loss, lowest)])
        twice = np.tile(np.arange(len(gap)), 2)
        losses = partial(self._losses, gap[twice], var_pos[twice], var_neg[twice], prior)
        # Two steps, because classes with equal moments have every threshold twice.
        low = grid[twice, np.maximum(start - 2, 0)]
        high = grid[twice, np.minimum(start + 2, grid.shape[1] - 1)]
        every = np.arange(len(start))
        for _ in range(_ROUNDS):
            finer = low[:, None] + (high - low)[:, None] * _FINER
            finer_loss = losses(finer)
            k = np.clip(finer_loss.argmin(axis=1), 1, len(_FINER) - 2)
            low, high = finer[every, k - 1], finer[every, k + 1]
        lowest_of_parabola = vertex(low, high, *(finer_loss[every, k + j] for j in (-1, 0, 1)))
        never = np.full(len(start), np.inf)
        # Predicting one class for every row comes first: it is chosen if nothing is better.
        last = np.stack(
            [-never, never, grid[twice, start], low, finer[every, k], lowest_of_parabola, high],
            axis=1,
        )
        loss = losses(last) + np.where(np.isfinite(last), _FLAT, 0.0)
        k = loss.argmin(axis=1)
        best, least = last[every, k], loss[every, k] - np.where(k < 2, 0.0, _FLAT)
        first, second = slice(None, len(gap)), slice(len(gap), None)
        other = least[second] < least[first]
        return (
            np.where(other, least[second], least[first]),
            np.where(other, best[second], best[first]),
        )

    def sketch(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> FloatArray:
        """Return the least risk of every classifier over a grid and both constant predictors."""
        grid = through_classes(gap, var_pos, var_neg, _STEPS)
        constant = np.tile([-np.inf, np.inf], (len(gap), 1))
        thresholds = np.concatenate([grid, constant], axis=1)
        least: FloatArray = self._losses(gap, var_pos, var_neg, prior, thresholds).min(axis=1)
        return least

    def _losses(
        self,
        gap: FloatArray,
        var_pos: FloatArray,
        var_neg: FloatArray,
        prior: float,
        thresholds: FloatArray,
    ) -> FloatArray:
        tpr = share_above(thresholds, gap[:, None], var_pos[:, None])
        fpr = share_above(thresholds, np.zeros_like(gap)[:, None], var_neg[:, None])
        loss = np.asarray(self.of_rates(tpr, fpr, prior), dtype=np.float64)
        return np.broadcast_to(loss, thresholds.shape)


def _second_valley(loss: FloatArray, lowest: IntArray) -> IntArray:
    """Return the second lowest local minimum of every row of losses."""
    edge = np.full((len(loss), 1), np.inf)
    falls = np.diff(loss, axis=1, prepend=edge) < -_FLAT
    rises = np.diff(loss, axis=1, append=edge) >= 0
    valleys = np.where(falls & rises, loss, np.inf)
    valleys[np.arange(len(loss)), lowest] = np.inf
    second: IntArray = valleys.argmin(axis=1)
    return second


def vertex(low: Any, high: Any, left: Any, middle: Any, right: Any) -> Any:
    """Return the minima of parabolas through losses at both ends and the middle of intervals."""
    bend = left - 2.0 * middle + right
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(bend > 0, (left - right) / (2.0 * bend), 0.0)
    return (low + high) / 2.0 + np.clip(shift, -1.0, 1.0) * (high - low) / 2.0


def chained(slope: float, z: float, variance: float) -> tuple[float, float]:
    """Apply the chain rule from Φ(z) to the mean and the variance that z is made of."""
    by_z = slope * density(z)
    if variance <= 0 or not by_z:
        return 0.0, 0.0
    return float(by_z / np.sqrt(variance)), float(-by_z * z / (2.0 * variance))


def rate_curvature(z: float, variance: float) -> FloatArray:
    r"""Return the Hessian of :math:`\Phi(z)`, :math:`z = m / \sqrt v`, by m and v.

    .. math:: \Phi_{mm} = -\frac{\varphi z}{v}, \qquad
              \Phi_{mv} = \frac{\varphi (z^2 - 1)}{2 v \sqrt v}, \qquad
              \Phi_{vv} = \frac{\varphi z (3 - z^2)}{4 v^2}

    It is zero for a class without spread, as the first derivatives are.
    """
    by_z = density(z)
    if variance <= 0 or not by_z:
        return np.zeros((2, 2))
    mixed = by_z * (z * z - 1.0) / (2.0 * variance * np.sqrt(variance))
    second = by_z * z * (3.0 - z * z) / (4.0 * variance**2)
    return np.array([[-by_z * z / variance, mixed], [mixed, second]])


def z_above(thresholds: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return (mean − threshold) / √variance for arrays; its limit where the variance is zero."""
    distance = mean - thresholds
    with np.errstate(divide="ignore", invalid="ignore"):
        z: FloatArray = distance / np.sqrt(variance)
    return np.where(distance == 0, 0.0, z)


def share_above(thresholds: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the share of a class above each threshold."""
    shares: FloatArray = ndtr(z_above(thresholds, mean, variance))
    return shares


def through_classes(
    gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, steps: int
) -> FloatArray:
    """Return ascending thresholds through both classes, in steps of their standard deviations.

    Steps of the wider class alone would pass over a narrow one. A class without spread has a
    threshold just below it and one just above.
    """
    unit = np.linspace(-_REACH, _REACH, steps)
    grids = []
    for mean, variance in ((gap, var_pos), (np.zeros_like(gap), var_neg)):
        grid = mean[:, None] + np.sqrt(variance)[:, None] * unit
        below, above = np.nextafter(mean, -np.inf), np.nextafter(mean, np.inf)
        edges = np.where(unit < 0, below[:, None], above[:, None])
        grids.append(np.where(variance[:, None] > 0, grid, edges))
    return np.sort(np.concatenate(grids, axis=1), axis=1)


# ── Risks of the confusion matrix at a threshold: costs, and any metric of the rates ──────────────


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

    def _costs(self, prior: float) -> tuple[float, float]:
        prior = 0.5 if self.balanced else prior
        return self.fn * prior, self.fp * (1.0 - prior)

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the expected cost at these rates."""
        miss, alarm = self._costs(prior)
        return miss * (1.0 - tpr) + alarm * fpr

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        r"""Return the risk and its four partial derivatives.

        By m they are :math:`M_c\, \varphi(z_c) / \sqrt{v_c}` and by v :math:`- M_c\,
        \varphi(z_c)\, z_c / (2 v_c)`, with M the derivatives of the cost by both rates.
        """
        miss, alarm = self._costs(scores.prior)
        z_pos = z_value(scores.mean_pos, scores.var_pos)
        z_neg = z_value(scores.mean_neg, scores.var_neg)
        return self.value(scores), Partials(
            *chained(-miss, z_pos, scores.var_pos), *chained(alarm, z_neg, scores.var_neg)
        )

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        miss, alarm = self._costs(scores.prior)
        z_pos = z_value(scores.mean_pos, scores.var_pos)
        z_neg = z_value(scores.mean_neg, scores.var_neg)
        hessian = np.zeros((4, 4))
        hessian[:2, :2] = -miss * rate_curvature(z_pos, scores.var_pos)
        hessian[2:, 2:] = alarm * rate_curvature(z_neg, scores.var_neg)
        return hessian

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

    sketch = Risk.sketch  # the exact risks: the quadratic is faster than a grid

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


@dataclass(frozen=True)
class MetricRisk(RatesRisk):
    """Risk of a metric that is a function of the rates, turned so that less is better.

    Parameters
    ----------
    metric : Metric
        The metric.
    """

    metric: Metric

    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the risk at these rates."""
        return self.metric.of_loss(self.metric.at_rates(tpr, fpr, prior))
