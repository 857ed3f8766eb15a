"""Risks at an operating point: a rate, a precision or a share of rows fixes the threshold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from directrix._normal import cdf, densities, hazard, z_value
from directrix._typing import AnyArray, FloatArray
from directrix.moments.projection import Partials, ScoreMoments
from directrix.risks.base import Risk, chained, through_classes, z_above
from directrix.risks.curvature import (
    OF_NEGATIVE_SPREAD,
    OF_NEGATIVES,
    OF_POSITIVES,
    at_threshold,
    of_log_rate,
    of_quantile,
    of_rate,
)

# ── Risks of metrics that fix the operating point: by a rate, or by a share of rows ───────────────

HALVINGS = 60  # enough to narrow a bracket of a few standard deviations to the last bit
_LAST_BITS = 1e-15
STUCK = Partials(0.0, 0.0, 0.0, 0.0)


class FixedPoint(Risk):
    """Base class of risks whose threshold the metric itself fixes."""

    shift_invariant = True

    @abstractmethod
    def threshold(self, scores: ScoreMoments) -> float:
        """Return the threshold that the metric fixes."""


@dataclass(frozen=True)
class MissAtFPR(FixedPoint):
    r"""Share of positives missed where a share α of the negatives is above the threshold.

    .. math:: R = \Phi\left( - \frac{m_+ - m_- + \sqrt{v_-}\, \Phi^{-1}(\alpha)}{\sqrt{v_+}} \right)

    (Neyman–Pearson.)
    """

    fpr: float

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the (1 − α) quantile of the negatives."""
        return float(scores.mean_neg - np.sqrt(scores.var_neg) * ndtri(self.fpr))

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        z = z_value(scores.mean_pos - self.threshold(scores), scores.var_pos)
        by_mean, by_variance = chained(-1.0, z, scores.var_pos)
        deviation = np.sqrt(scores.var_neg)
        by_var_neg = by_mean * float(ndtri(self.fpr)) / (2.0 * deviation) if deviation else 0.0
        return cdf(-z), Partials(by_mean, by_variance, -by_mean, float(by_var_neg))

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        z = z_value(scores.mean_pos - self.threshold(scores), scores.var_pos)
        miss = of_rate(z, scores.var_pos).through(OF_POSITIVES).scaled(-1.0)
        limit = of_quantile(float(ndtri(self.fpr)), scores.var_neg).through(OF_NEGATIVES)
        return at_threshold(miss, limit)

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds."""
        if (var_pos <= 0).any():
            return super().profile(gap, var_pos, var_neg, prior)
        thresholds = -np.sqrt(var_neg) * ndtri(self.fpr)
        return ndtr((thresholds - gap) / np.sqrt(var_pos)), thresholds


@dataclass(frozen=True)
class AlarmAtRecall(FixedPoint):
    r"""False-positive rate where a share ``recall`` of the positives is above the threshold.

    The mirror image of `MissAtFPR`: exchange the classes and the sign of the scores.
    """

    recall: float

    def _mirrored(self, scores: ScoreMoments) -> tuple[MissAtFPR, ScoreMoments]:
        mirrored = ScoreMoments(
            -scores.mean_neg, scores.var_neg, -scores.mean_pos, scores.var_pos, 1.0 - scores.prior
        )
        return MissAtFPR(1.0 - self.recall), mirrored

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the (1 − recall) quantile of the positives."""
        risk, mirrored = self._mirrored(scores)
        return -risk.threshold(mirrored)

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        risk, mirrored = self._mirrored(scores)
        value, by = risk.value_and_grad(mirrored)
        return value, Partials(-by.mean_neg, by.var_neg, -by.mean_pos, by.var_pos)

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        risk, mirrored = self._mirrored(scores)
        exchanged = np.roll(risk.hessian(mirrored), 2, axis=(0, 1))
        return exchanged * np.outer((-1.0, 1.0, -1.0, 1.0), (-1.0, 1.0, -1.0, 1.0))

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds."""
        if (var_neg <= 0).any():
            return super().profile(gap, var_pos, var_neg, prior)
        thresholds = gap - np.sqrt(var_pos) * ndtri(self.recall)
        return self._of_alarm(ndtr(-thresholds / np.sqrt(var_neg)), prior), thresholds

    def _of_alarm(self, fpr: FloatArray, prior: float) -> FloatArray:  # noqa: ARG002
        return fpr


@dataclass(frozen=True)
class ImprecisionAtRecall(AlarmAtRecall):
    r"""One minus the precision at a recall r, :math:`1 - \pi r / (\pi r + (1 - \pi) f)`.

    It increases with the false-positive rate f, so the best classifier is that of `AlarmAtRecall`.
    """

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        fpr, by = super().value_and_grad(scores)
        caught, wrong = scores.prior * self.recall, (1.0 - scores.prior) * fpr
        slope = (1.0 - scores.prior) * caught / (caught + wrong) ** 2
        return wrong / (caught + wrong), Partials(*(slope * partial for partial in by))

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        fpr, by = super().value_and_grad(scores)
        caught, wrong = scores.prior * self.recall, (1.0 - scores.prior) * fpr
        slope = (1.0 - scores.prior) * caught / (caught + wrong) ** 2
        bend = -2.0 * slope * (1.0 - scores.prior) / (caught + wrong)
        return slope * super().hessian(scores) + bend * np.outer(by, by)

    def _of_alarm(self, fpr: FloatArray, prior: float) -> FloatArray:
        wrong = (1.0 - prior) * fpr
        return wrong / (prior * self.recall + wrong)


@dataclass(frozen=True)
class MissAtQuota(FixedPoint):
    r"""Share of positives missed when a share q of all rows is predicted positive.

    .. math:: \pi\, \Phi(z_+) + (1 - \pi)\, \Phi(z_-) = q

    determines τ uniquely. Recall at k is 1 − R, precision at k is π (1 − R) / q, and the
    precision-recall break-even point is q = π (``share=None``).
    """

    share: float | None = None

    def _quota(self, scores: ScoreMoments) -> float:
        return scores.prior if self.share is None else self.share

    def threshold(self, scores: ScoreMoments) -> float:
        """Return the threshold above which exactly the share of rows lies."""
        quota, prior = self._quota(scores), scores.prior

        def surplus(threshold: float) -> float:
            z_pos, z_neg = z_values(scores, threshold)
            return prior * cdf(z_pos) + (1.0 - prior) * cdf(z_neg) - quota

        # The root is between the quantiles of the two classes.
        spread = np.sqrt(np.array(scores[1:4:2]))
        ends = np.array(scores[0:4:2]) - spread * ndtri(quota)
        low, high = float(ends.min()), float(ends.max())
        if surplus(low) * surplus(high) >= 0:
            return low if abs(surplus(low)) <= abs(surplus(high)) else high
        return float(brentq(surplus, low, high, xtol=1e-300, rtol=1e-15))

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        if scores.var_pos <= 0:
            return self._without_spread(scores)
        threshold = self.threshold(scores)
        z_pos, z_neg = z_values(scores, threshold)
        miss_by_mean, _ = chained(-1.0, z_pos, scores.var_pos)
        alarm_by_mean, _ = chained(1.0, z_neg, scores.var_neg)
        in_negatives = (1.0 - scores.prior) * alarm_by_mean
        density = -scores.prior * miss_by_mean + in_negatives
        if density <= 0:
            return cdf(-z_pos), STUCK
        # A shift of the positives moves τ by their share of the density; the rest remains.
        return cdf(-z_pos), opposed(miss_by_mean * in_negatives / density, z_pos, z_neg, scores)

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        stuck, prior = np.zeros((4, 4)), scores.prior
        if scores.var_pos <= 0:
            if not any(self._without_spread(scores)[1]):
                return stuck
            z = z_value(scores.mean_neg - scores.mean_pos, scores.var_neg)
            negatives = of_rate(z, scores.var_neg).through(OF_NEGATIVE_SPREAD)
            return (1.0 - prior) / prior * negatives.hessian
        z_pos, z_neg = z_values(scores, self.threshold(scores))
        caught = of_rate(z_pos, scores.var_pos).through(OF_POSITIVES)
        alarms = of_rate(z_neg, scores.var_neg).through(OF_NEGATIVES)
        if not alarms.gradient.any():  # τ follows the positives alone, of which none is missed
            return stuck
        share = caught.scaled(prior).plus(alarms.scaled(1.0 - prior))
        return at_threshold(caught.scaled(-1.0), share)

    def _without_spread(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk of positives with equal scores, from the negatives above them."""
        quota, prior = self._quota(scores), scores.prior
        ahead = scores.mean_neg - scores.mean_pos
        if not ahead and scores.var_neg <= 0:  # all scores are equal
            return 1.0 - quota, STUCK
        z = z_value(ahead, scores.var_neg)
        ratio = (1.0 - prior) / prior
        miss = 1.0 - quota / prior + ratio * cdf(z)
        if not 0 < miss < 1:
            return min(max(miss, 0.0), 1.0), STUCK
        by_mean, by_variance = chained(ratio, z, scores.var_neg)
        return miss, Partials(-by_mean, 0.0, by_mean, by_variance)

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds, by a vectorised Newton method.

        The equation is solved in the logarithm of the share, which is nearly linear in the tails;
        a step that leaves the bracket is replaced by a bisection.
        """
        if (var_pos <= 0).any() or (var_neg <= 0).any():
            return super().profile(gap, var_pos, var_neg, prior)
        quota = prior if self.share is None else self.share
        sd_pos, sd_neg = np.sqrt(var_pos), np.sqrt(var_neg)
        ends = gap - sd_pos * ndtri(quota), -sd_neg * ndtri(quota)
        low, high = np.minimum(*ends), np.maximum(*ends)
        threshold = (low + high) / 2.0
        for _ in range(HALVINGS):
            z_pos, z_neg = (gap - threshold) / sd_pos, -threshold / sd_neg
            share = prior * ndtr(z_pos) + (1.0 - prior) * ndtr(z_neg)
            more = share > quota
            low, high = np.where(more, threshold, low), np.where(more, high, threshold)
            slope = prior * densities(z_pos) / sd_pos
            slope += (1.0 - prior) * densities(z_neg) / sd_neg
            with np.errstate(divide="ignore", invalid="ignore"):
                trial = threshold + np.log(share / quota) * share / slope
            trial = np.where((trial >= low) & (trial <= high), trial, low + (high - low) / 2.0)
            still = np.abs(trial - threshold) <= _LAST_BITS * (np.abs(trial) + sd_neg)
            threshold = trial
            if still.all():
                break
        return self._of_miss(ndtr((threshold - gap) / sd_pos), prior, quota), threshold

    def _of_miss(self, miss: FloatArray, prior: float, quota: float) -> FloatArray:  # noqa: ARG002
        return miss


@dataclass(frozen=True)
class ImprecisionAtQuota(MissAtQuota):
    r"""One minus the precision among a share q of the rows, :math:`1 - \pi\, \Phi(z_+) / q`."""

    def value_and_grad(self, scores: ScoreMoments) -> tuple[float, Partials]:
        """Return the risk and its four partial derivatives."""
        miss, by = super().value_and_grad(scores)
        factor = scores.prior / self._quota(scores)
        return 1.0 - factor * (1.0 - miss), Partials(*(factor * partial for partial in by))

    def hessian(self, scores: ScoreMoments) -> FloatArray:
        """Return the second derivatives by the four numbers, in the order of `Partials`."""
        return scores.prior / self._quota(scores) * super().hessian(scores)

    def _of_miss(self, miss: FloatArray, prior: float, quota: float) -> FloatArray:
        return 1.0 - prior / quota * (1.0 - miss)


def opposed(by_mean: float, z_pos: float, z_neg: float, scores: ScoreMoments) -> Partials:
    """Return the partial derivatives of a risk of the distance between the classes.

    Shifting one class is shifting the other back, and a variance acts through its z-value.
    """
    by_mean = float(by_mean)
    by_var_pos = -by_mean * z_pos / (2.0 * np.sqrt(scores.var_pos)) if by_mean else 0.0
    by_var_neg = by_mean * z_neg / (2.0 * np.sqrt(scores.var_neg)) if by_mean else 0.0
    return Partials(by_mean, float(by_var_pos), -by_mean, float(by_var_neg))


def z_values(scores: ScoreMoments, threshold: float) -> tuple[float, float]:
    """Return the distance of each class mean above a threshold, in standard deviations."""
    return (
        z_value(scores.mean_pos - threshold, scores.var_pos),
        z_value(scores.mean_neg - threshold, scores.var_neg),
    )


# ── Risk of the recall at a given precision ───────────────────────────────────────────────────────

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
            return excess <= allowed

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
