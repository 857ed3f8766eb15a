"""Risks at an operating point: a rate, a precision or a share of rows fixes the threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from directrix._normal import cdf, densities, z_value
from directrix._typing import AnyArray, FloatArray
from directrix.moments.projection import ScoreMoments
from directrix.risks.base import Risk, through_classes, z_above

# ── Risks of metrics that fix the operating point: by a rate, or by a share of rows ───────────────

HALVINGS = 60  # enough to narrow a bracket of a few standard deviations to the last bit
_LAST_BITS = 1e-15


class FixedPoint(Risk):
    """Base class of risks whose threshold the metric itself fixes."""

    shift_invariant = True

    def value(self, scores: ScoreMoments) -> float:
        """Return the share of the positives that are missed; other risks replace it."""
        return cdf(-z_value(scores.mean_pos - self.threshold(scores), scores.var_pos))


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

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        risk, mirrored = self._mirrored(scores)
        return risk.value(mirrored)

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

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        caught, wrong = scores.prior * self.recall, (1.0 - scores.prior) * super().value(scores)
        return wrong / (caught + wrong)

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

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        if scores.var_pos <= 0:
            return self._without_spread(scores)
        return super().value(scores)

    def _without_spread(self, scores: ScoreMoments) -> float:
        """Return the risk of positives with equal scores, from the negatives above them."""
        quota, prior = self._quota(scores), scores.prior
        ahead = scores.mean_neg - scores.mean_pos
        if not ahead and scores.var_neg <= 0:  # all scores are equal
            return 1.0 - quota
        above = (1.0 - prior) / prior * cdf(z_value(ahead, scores.var_neg))
        return min(max(1.0 - quota / prior + above, 0.0), 1.0)

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

    def value(self, scores: ScoreMoments) -> float:
        """Return the risk."""
        return 1.0 - scores.prior / self._quota(scores) * (1.0 - super().value(scores))

    def _of_miss(self, miss: FloatArray, prior: float, quota: float) -> FloatArray:
        return 1.0 - prior / quota * (1.0 - miss)


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

    # The risk jumps where the curve of precision touches p.
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
