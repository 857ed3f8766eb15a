"""Risk of the recall at a given precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from directrix._normal import cdf, hazard
from directrix._typing import AnyArray, FloatArray
from directrix.moments.projection import Partials, ScoreMoments
from directrix.risks.base import chained, through_classes, z_above
from directrix.risks.curvature import (
    OF_NEGATIVES,
    OF_POSITIVES,
    at_threshold,
    of_log_rate,
    of_rate,
)
from directrix.risks.operating_point import HALVINGS, STUCK, FixedPoint, opposed, z_values

#: Thresholds through a class, for one classifier and for many.
_STEPS, _FEWER_STEPS = 1025, 129


@dataclass(frozen=True)
class MissAtPrecision(FixedPoint):
    r"""Share of positives missed at the lowest threshold whose precision is at least p.

    .. math:: \log \Phi(z_-) - \log \Phi(z_+) = \log \frac{\pi (1 - p)}{(1 - \pi)\, p}

    determines τ. If no threshold is precise enough nothing is caught, and the risk is 1.
    """

    #: The risk jumps where the curve of precision touches p.
    continuous = False
    precision: float

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the lowest threshold that is precise enough; infinity if none is."""
        gap = scores.mean_pos - scores.mean_neg
        line = np.array([gap]), np.array([scores.var_pos]), np.array([scores.var_neg])
        return scores.mean_neg + float(self._thresholds(*line, scores.prior, _STEPS)[0])

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds, by a vectorised bisection."""
        thresholds = self._thresholds(gap, var_pos, var_neg, prior, _FEWER_STEPS)
        return ndtr(-z_above(thresholds, gap, var_pos)), thresholds

    def _thresholds(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float, steps: int
    ) -> FloatArray:
        """Return the lowest threshold of every classifier that is precise enough, or infinity."""
        allowed = self._allowed(prior)
        if allowed >= 0:
            return np.full(len(gap), -np.inf)

        def precise(thresholds: FloatArray) -> AnyArray:
            columns = (gap[:, None], var_pos[:, None]), (np.zeros((len(gap), 1)), var_neg[:, None])
            log_tpr, log_fpr = (log_ndtr(z_above(thresholds, *column)) for column in columns)
            # Above all positives nothing is caught, however many negatives are above.
            caught = log_tpr > -np.inf
            excess = np.where(caught, log_fpr, np.inf) - np.where(caught, log_tpr, 0.0)
            enough: AnyArray = excess <= allowed
            return enough

        every, grid = np.arange(len(gap)), through_classes(gap, var_pos, var_neg, steps)
        enough = precise(grid)
        first = enough.argmax(axis=1)
        low, high = grid[every, np.maximum(first - 1, 0)], grid[every, first]
        # By bisection: for a class without spread the excess jumps, and may be infinite.
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2.0
            below = precise(middle[:, None])[:, 0]
            low, high = np.where(below, low, middle), np.where(below, middle, high)
        return np.where(enough.any(axis=1), high, np.inf)

    def _allowed(self, prior: float) -> float:
        """Return the logarithm of the largest FPR / TPR that is precise enough."""
        p = self.precision
        return float(np.log(prior) + np.log1p(-p) - np.log1p(-prior) - np.log(p))

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        threshold = self.threshold(scores)
        if not np.isfinite(threshold) or scores.var_pos <= 0 or scores.var_neg <= 0:
            z_pos, _ = z_values(scores, threshold)
            return cdf(-z_pos), STUCK
        z_pos, z_neg = z_values(scores, threshold)
        # From d log Φ(z₋) = d log Φ(z₊), with h = φ/Φ: the effect of τ on each side.
        h_pos = hazard(z_pos) / np.sqrt(scores.var_pos)
        h_neg = hazard(z_neg) / np.sqrt(scores.var_neg)
        by_mean, _ = chained(-1.0, z_pos, scores.var_pos)
        if h_pos == h_neg:  # the two curves touch, and the risk jumps
            return cdf(-z_pos), STUCK
        # The miss rate moves with the mean of the positives, and with τ by h₊ / (h₊ − h₋) of that.
        return cdf(-z_pos), opposed(-by_mean * h_neg / (h_pos - h_neg), z_pos, z_neg, scores)

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        threshold = self.threshold(scores)
        if not np.isfinite(threshold) or scores.var_pos <= 0 or scores.var_neg <= 0:
            return np.zeros((4, 4))
        z_pos, z_neg = z_values(scores, threshold)
        caught = of_log_rate(z_pos, scores.var_pos).through(OF_POSITIVES)
        alarms = of_log_rate(z_neg, scores.var_neg).through(OF_NEGATIVES)
        excess = alarms.plus(caught.scaled(-1.0))
        if not excess.gradient[[0, 2]].sum():  # the two curves touch, and the risk jumps
            return np.zeros((4, 4))
        miss = of_rate(z_pos, scores.var_pos).through(OF_POSITIVES).scaled(-1.0)
        return at_threshold(miss, excess)
