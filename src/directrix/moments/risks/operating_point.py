"""Risks at an operating point: a rate, a precision or a share of rows fixes the threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from directrix._normal import densities
from directrix._typing import AnyArray, FloatArray
from directrix.moments.risks.base import Risk, share_above, through_classes, z_above

# ── Risks of metrics that fix the operating point: by a rate, or by a share of rows ───────────────

HALVINGS = 60  # enough to narrow a bracket of a few standard deviations to the last bit
_LAST_BITS = 1e-15


class FixedPoint(Risk):
    """Base class of risks whose threshold the metric itself fixes."""

    shift_invariant = True


@dataclass(frozen=True)
class MissAtFPR(FixedPoint):
    r"""Share of positives missed where a share α of the negatives is above the threshold.

    .. math:: R = \Phi\left( - \frac{m_+ - m_- + \sqrt{v_-}\, \Phi^{-1}(\alpha)}{\sqrt{v_+}} \right)

    (Neyman–Pearson.)
    """

    fpr: float

    def profile(
        self,
        gap: FloatArray,
        var_pos: FloatArray,
        var_neg: FloatArray,
        prior: float,  # noqa: ARG002
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds."""
        thresholds = -np.sqrt(var_neg) * ndtri(self.fpr)
        return ndtr(-z_above(thresholds, gap, var_pos)), thresholds


@dataclass(frozen=True)
class AlarmAtRecall(FixedPoint):
    r"""False-positive rate where a share ``recall`` of the positives is above the threshold."""

    recall: float

    def profile(
        self,
        gap: FloatArray,
        var_pos: FloatArray,
        var_neg: FloatArray,
        prior: float,  # noqa: ARG002
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds."""
        thresholds = gap - np.sqrt(var_pos) * ndtri(self.recall)
        return share_above(thresholds, np.zeros_like(gap), var_neg), thresholds


@dataclass(frozen=True)
class ImprecisionAtRecall(AlarmAtRecall):
    r"""One minus the precision at a recall r, :math:`1 - \pi r / (\pi r + (1 - \pi) f)`.

    It increases with the false-positive rate f, so the best classifier is that of `AlarmAtRecall`.
    """

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds."""
        fpr, thresholds = super().profile(gap, var_pos, var_neg, prior)
        wrong = (1.0 - prior) * fpr
        return wrong / (prior * self.recall + wrong), thresholds


@dataclass(frozen=True)
class MissAtQuota(FixedPoint):
    r"""Share of positives missed when a share q of all rows is predicted positive.

    .. math:: \pi\, \Phi(z_+) + (1 - \pi)\, \Phi(z_-) = q

    determines τ uniquely. Recall at k is 1 − R, precision at k is π (1 − R) / q, and the
    precision-recall break-even point is q = π (``share=None``).
    """

    share: float | None = None

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds, by a vectorised Newton method.

        The equation is solved in the logarithm of the share, which is nearly linear in the tails;
        a step that leaves the bracket is replaced by a bisection. Of positives with equal scores as
        many are caught as the negatives above them leave.
        """
        quota, zero = self._quota(prior), np.zeros_like(gap)
        sd_pos, sd_neg = np.sqrt(var_pos), np.sqrt(var_neg)
        narrow = np.minimum(sd_pos, sd_neg)
        ends = gap - sd_pos * ndtri(quota), -sd_neg * ndtri(quota)
        low, high = np.minimum(*ends), np.maximum(*ends)
        threshold = (low + high) / 2.0
        for _ in range(HALVINGS):
            z_pos, z_neg = z_above(threshold, gap, var_pos), z_above(threshold, zero, var_neg)
            share = prior * ndtr(z_pos) + (1.0 - prior) * ndtr(z_neg)
            more = share > quota
            low, high = np.where(more, threshold, low), np.where(more, high, threshold)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                slope = prior * densities(z_pos) / sd_pos
                slope += (1.0 - prior) * densities(z_neg) / sd_neg
                trial = threshold + np.log(share / quota) * share / slope
            trial = np.where((trial >= low) & (trial <= high), trial, low + (high - low) / 2.0)
            still = np.abs(trial - threshold) <= _LAST_BITS * (np.abs(trial) + narrow)
            threshold = trial
            if still.all():
                break
        left = quota - (1.0 - prior) * share_above(gap, zero, var_neg)
        left = np.where((gap == 0.0) & (var_neg <= 0.0), prior * quota, left)  # all scores equal
        alike = 1.0 - np.clip(left / prior, 0.0, 1.0)
        return np.where(var_pos > 0.0, ndtr(-z_above(threshold, gap, var_pos)), alike), threshold

    def _quota(self, prior: float) -> float:
        return prior if self.share is None else self.share


@dataclass(frozen=True)
class ImprecisionAtQuota(MissAtQuota):
    r"""One minus the precision among a share q of the rows, :math:`1 - \pi\, \Phi(z_+) / q`."""

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds."""
        miss, thresholds = super().profile(gap, var_pos, var_neg, prior)
        # Of a narrow class far from the other, rounding moves the threshold by much of its spread.
        return np.maximum(1.0 - prior / self._quota(prior) * (1.0 - miss), 0.0), thresholds


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

    def profile(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, prior: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the risks of many classifiers and their thresholds, by a vectorised bisection."""
        thresholds = self._thresholds(gap, var_pos, var_neg, self._allowed(prior))
        return ndtr(-z_above(thresholds, gap, var_pos)), thresholds

    def _thresholds(
        self, gap: FloatArray, var_pos: FloatArray, var_neg: FloatArray, allowed: float
    ) -> FloatArray:
        """Return the lowest threshold of every classifier that is precise enough, or infinity."""
        if allowed >= 0:
            return np.full(len(gap), -np.inf)

        def precise(thresholds: FloatArray) -> AnyArray:
            columns = (gap[:, None], var_pos[:, None]), (np.zeros((len(gap), 1)), var_neg[:, None])
            log_tpr, log_fpr = (log_ndtr(z_above(thresholds, *column)) for column in columns)
            # Above all positives nothing is caught, however many negatives are above.
            caught = log_tpr > -np.inf
            excess = np.where(caught, log_fpr, np.inf) - np.where(caught, log_tpr, 0.0)
            return excess <= allowed

        steps = _STEPS if len(gap) == 1 else _FEWER_STEPS
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
