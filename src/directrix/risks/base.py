r"""What every risk is: a metric of four numbers.

If the scores of each class are close to normal (Ghanbari, Li and Scheinberg 2019, §3: a much weaker
assumption than normal data), any metric is a function of the class means :math:`m_c` and variances
:math:`v_c` of the scores and of the prior :math:`\pi`. A risk is that function, turned so that less
is better, with its four partial derivatives. It knows neither rows nor coefficients.

Every risk is unchanged when all scores are multiplied by a positive number, so

.. math:: \sum_c \Big( m_c \frac{\partial R}{\partial m_c} + 2 v_c \frac{\partial R}{\partial v_c}
          \Big) = 0 .

One whose threshold is fixed by the metric itself (recall at a false-positive rate, a quota) or
integrated out (AUC) is also unchanged when a constant is added to all scores: ``shift_invariant``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr

from directrix._normal import cdf, density, z_value
from directrix.moments.projection import Partials, ScoreMoments

if TYPE_CHECKING:
    from directrix._typing import FloatArray


_REACH = 8.0  # deviations: beyond, the tail of a class is below 1e-15
_STEPS = 65
_ROUNDS = 7
_FINER = 17
_STARTS = 2
_FLAT = 1e-12  # a fall by less is rounding, not the way to a minimum


class Risk(ABC):
    """A metric of four numbers, to be minimised."""

    shift_invariant: ClassVar[bool]
    #: Where on the frontier of moments the optimum is, if that is known beforehand.
    angle: ClassVar[float | None] = None

    @abstractmethod
    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its partials by the four numbers."""

    @abstractmethod
    def threshold(self, scores: ScoreMoments) -> float:
        """Return the score above which to predict positive; the best, where there is a choice."""

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk alone."""
        return self.value_and_grad(scores)[0]

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risk of many lines, each at its best threshold, and these thresholds.

        Parameters
        ----------
        gap : array
            Mean score of the positives; that of the negatives is zero.
        var_pos, var_neg : array
        prior : float
        """
        lines = [
            ScoreMoments(float(g), float(p), 0.0, float(n), prior)
            for g, p, n in zip(gap, var_pos, var_neg, strict=True)
        ]
        thresholds = np.array([self.threshold(line) for line in lines])
        values = [
            self.value(line if self.shift_invariant else line.above(t))
            for line, t in zip(lines, thresholds, strict=True)
        ]
        return np.array(values), thresholds


class RatesRisk(Risk):
    r"""A risk of the rates at threshold zero.

    .. math:: R = M(t, f, \pi), \quad t = \Phi(z_+), \quad f = \Phi(z_-), \quad
              z_c = m_c / \sqrt{v_c}

    so that :math:`\partial R/\partial m_c = M_c\, \varphi(z_c) / \sqrt{v_c}` and
    :math:`\partial R/\partial v_c = - M_c\, \varphi(z_c)\, z_c / (2 v_c)`.
    """

    shift_invariant = False

    @abstractmethod
    def of_rates(self, tpr: Any, fpr: Any, prior: float) -> Any:
        """Return the loss at these rates: numbers, or arrays of them."""

    @abstractmethod
    def slopes(self, tpr: float, fpr: float, prior: float) -> tuple[float, float]:
        """Return the derivatives of the loss by ``tpr`` and ``fpr``."""

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its partials by the four numbers."""
        z_pos = z_value(scores.mean_pos, scores.var_pos)
        z_neg = z_value(scores.mean_neg, scores.var_neg)
        tpr, fpr = cdf(z_pos), cdf(z_neg)
        by_tpr, by_fpr = self.slopes(tpr, fpr, scores.prior)
        return float(self.of_rates(tpr, fpr, scores.prior)), Partials(
            *chained(by_tpr, z_pos, scores.var_pos), *chained(by_fpr, z_neg, scores.var_neg)
        )

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the best threshold; infinite where predicting one class always is as good."""
        mean_pos, var_pos, mean_neg, var_neg, prior = scores
        gap = mean_pos - mean_neg
        line = np.array([gap]), np.array([var_pos]), np.array([var_neg])
        shift = float(self.profile(*line, prior)[1][0])
        threshold = mean_neg + shift
        # A threshold next to a class without spread must stay on its side of it.
        for mean, variance, place in ((mean_pos, var_pos, gap), (mean_neg, var_neg, 0.0)):
            if variance <= 0 and threshold == mean and shift != place:
                threshold = float(np.nextafter(mean, np.copysign(np.inf, shift - place)))
        return threshold

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risk of many lines, each at its best threshold, and these thresholds.

        By a grid through both classes, made finer at its lowest minima: there are several where
        the variances differ.
        """

        def losses(thresholds: FloatArray) -> FloatArray:
            tpr = share_above(thresholds, gap[:, None], var_pos[:, None])
            fpr = share_above(thresholds, np.zeros_like(gap)[:, None], var_neg[:, None])
            loss = np.asarray(self.of_rates(tpr, fpr, prior), dtype=np.float64)
            return np.broadcast_to(loss, thresholds.shape)

        every = np.arange(len(gap))
        grid = through_classes(gap, var_pos, var_neg, _STEPS)
        loss = losses(grid)
        edge = np.full((len(gap), 1), np.inf)
        falls = np.diff(loss, axis=1, prepend=edge) < -_FLAT
        rises = np.diff(loss, axis=1, append=edge) >= 0
        starts = np.argsort(np.where(falls & rises, loss, np.inf), axis=1, kind="stable")
        lowest = loss.argmin(axis=1)
        best, least = grid[every, lowest], loss[every, lowest]
        for place in (lowest, *starts[:, :_STARTS].T):
            # Two steps, as classes that are alike have each threshold twice.
            low = grid[every, np.maximum(place - 2, 0)]
            high = grid[every, np.minimum(place + 2, grid.shape[1] - 1)]
            for _ in range(_ROUNDS):
                finer = np.linspace(low, high, _FINER, axis=1)
                loss = losses(finer)
                k = loss.argmin(axis=1)
                better = loss[every, k] < least
                best = np.where(better, finer[every, k], best)
                least = np.where(better, loss[every, k], least)
                low = finer[every, np.maximum(k - 1, 0)]
                high = finer[every, np.minimum(k + 1, _FINER - 1)]
        # Predicting one class for every row, where nothing is better.
        ends = np.tile([-np.inf, np.inf], (len(gap), 1))
        loss = losses(ends)
        k = loss.argmin(axis=1)
        constant = loss[every, k] <= least + _FLAT
        return np.where(constant, loss[every, k], least), np.where(constant, ends[every, k], best)


def chained(slope: float, z: float, variance: float) -> tuple[float, float]:
    """Carry a derivative by Φ(z) to the mean and the variance that z is made of."""
    by_z = slope * density(z)
    if variance <= 0 or not by_z:
        return 0.0, 0.0
    return float(by_z / np.sqrt(variance)), float(-by_z * z / (2.0 * variance))


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
    """Return rising thresholds through both classes of each line, in steps of each class's own.

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
