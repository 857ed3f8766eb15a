"""Metrics of the top of the list, as a soft choice of the highest scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.losses.base import Loss, require_both, require_width
from directrix.losses.operating_point import soft_top


class _Top(Loss):
    r"""Base class: one minus the positives among the top rows, over a unit c.

    .. math:: L(s) = \frac1c \max_\pi \Big[ m \big(c - \sum_{i \in P} \omega_i \pi_i\big)
              + \sum_i \omega_i s_i (\pi_i - \bar y_i)
              - \frac\kappa2 \sum_i \omega_i (\pi_i - \bar y_i)^2 \Big], \qquad
              0 \le \pi \le 1, \quad \omega \cdot \pi = k

    where ȳ is the mean of all perfect choices of k rows: at k = n₊ the labels.
    """

    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True

    kappa: float
    margin: float

    @abstractmethod
    def _quota_and_unit(self, n_pos: float, n_neg: float) -> tuple[float, float]:
        """Return k, the weight of the rows that are taken, and c, the unit of the loss."""

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss, and its partial derivative by every score: ω (π − ȳ) / c."""
        require_width(self.kappa)
        scores = np.asarray(scores, dtype=np.float64)
        n_pos, n_neg = require_both(positive, weight)
        quota, unit = self._quota_and_unit(n_pos, n_neg)
        perfect_pos, perfect_neg = _perfect(quota, n_pos, n_neg)
        # ω (π − ȳ) sums to zero, so all values may be shifted, here by κ ȳ of a negative.
        shift = self.margin - self.kappa * (perfect_pos - perfect_neg)
        taken = soft_top(scores - shift * positive, weight, quota, self.kappa)
        away = taken.share
        away -= np.where(positive, perfect_pos, perfect_neg)
        slope = weight * away
        value = float((scores - taken.threshold) @ slope) - self.margin * float(slope @ positive)
        value += self.margin * (unit - perfect_pos * n_pos)
        value -= 0.5 * self.kappa * float(slope @ away)
        slope /= unit
        return value / unit, slope

    def sharpen(self, level: float) -> Self:
        """Return the loss with a sharper edge."""
        return self._with(kappa=self.kappa / level)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:
        """Return how far below the unsmoothed loss it may be; κ min(1, n₋/n₊) at k = n₊."""
        n_pos, n_neg = require_both(positive, weight)
        quota, unit = self._quota_and_unit(n_pos, n_neg)
        pos, neg = _perfect(quota, n_pos, n_neg)
        # The choice furthest from the perfect ones takes as few positives as it can.
        fewest = max(0.0, quota - n_neg)
        overlap = fewest * pos + (quota - fewest) * neg
        distance = quota + n_pos * pos**2 + n_neg * neg**2 - 2.0 * overlap
        return self.kappa * distance / (2.0 * unit)

    @property
    def worst(self) -> float:
        """The margin, by which one minus the metric is multiplied."""
        return self.margin


def _perfect(quota: float, n_pos: float, n_neg: float) -> tuple[float, float]:
    """Return ȳ, the mean share that perfect choices take of a positive and of a negative."""
    return min(1.0, quota / n_pos), max(0.0, (quota - n_pos) / n_neg)


@dataclass(frozen=True)
class BreakEven(_Top):
    r"""Convex bound of one minus the precision-recall break-even point.

    .. math:: L(s) = \frac1{n_+} \max_{\beta} \Big[ \sum_{i \in P} \omega_i (m - s_i) \beta_i
              + \sum_{j \in N} \omega_j s_j \beta_j - \frac\kappa2 \sum_i \omega_i \beta_i^2 \Big],
              \qquad 0 \le \beta \le 1, \quad
              \sum_{i \in P} \omega_i \beta_i = \sum_{j \in N} \omega_j \beta_j

    (Zhang, Saha and Vishwanathan 2011, eq. 2, 8 and 13, in units of the score, so that the margin
    is the same at any prior.) β is the chance of a wrong label; only as many positives as
    negatives may be wrong, so the box of eq. 8 is cut by a plane. That makes the prox-function
    smaller than theirs: the loss is below the unsmoothed one by at most
    :math:`\kappa \min(1, n_-/n_+)`. The best β is a soft choice of the top n₊ rows, computed by
    selection and a few steps of Newton's method. It is unique, though θ of their Property 1 is not.

    Its `Ramp` tends to one minus the metric.

    Parameters
    ----------
    kappa : float
        κ, the width of the soft edge; 0 takes the top rows themselves.
    margin : float
        m.
    """

    name: ClassVar[str] = "break_even"
    kappa: float = 0.01
    margin: float = 1.0

    def _quota_and_unit(self, n_pos: float, n_neg: float) -> tuple[float, float]:  # noqa: ARG002
        return n_pos, n_pos


@dataclass(frozen=True)
class _TopK(_Top):
    """Base class of the losses of the top k rows."""

    k: float
    kappa: float = 0.01
    margin: float = 1.0

    def _quota(self, total: float) -> float:
        """Return the weight of k rows, or of that share of them."""
        if isinstance(self.k, int | np.integer):
            if not 0 < self.k < total:
                msg = f"k = {self.k} covers none or all of the {total:g} rows there are (by weight)"
                raise ValueError(msg)
            return float(self.k)
        if not 0 < self.k < 1:
            msg = f"k must be a whole number of rows, or a share between 0 and 1, not {self.k!r}"
            raise ValueError(msg)
        return self.k * total


@dataclass(frozen=True)
class PrecisionTop(_TopK):
    r"""Convex bound of one minus the precision of the top k rows.

    .. math:: L(s) = \frac1k \max_\pi \Big[ m \big(k - \sum_{i \in P} \omega_i \pi_i\big)
              + \sum_i \omega_i s_i (\pi_i - \bar y_i)
              - \frac\kappa2 \sum_i \omega_i (\pi_i - \bar y_i)^2 \Big], \qquad
              0 \le \pi \le 1, \quad \omega \cdot \pi = k

    (Zhang, Saha and Vishwanathan 2011, eq. 2 and 13, for precision at k.) With the labels y
    instead of ȳ it would bound nothing where k is not n₊, as y is no choice of k rows, and an
    intercept could lower it without end. ȳ is the mean of all perfect choices:
    :math:`\min(1, k/n_+)` of a positive and :math:`\max(0, (k - n_+)/n_-)` of a negative.

    The value is never below one minus the precision, less the gap. That includes what no ranking
    can avoid, :math:`\max(0, 1 - n_+/k)`: less this, the value bounds the regret. Where k is below
    n₊ the *average* positive is asked to beat the negatives, not the best k. Its `Ramp` tends to
    one minus the metric.

    Parameters
    ----------
    k : int or float
        A whole number of rows, or a share of them between 0 and 1.
    kappa : float
        κ, the width of the soft edge; 0 takes the top rows themselves.
    margin : float
        m.
    """

    name: ClassVar[str] = "precision_top"

    def _quota_and_unit(self, n_pos: float, n_neg: float) -> tuple[float, float]:
        quota = self._quota(n_pos + n_neg)
        return quota, quota


@dataclass(frozen=True)
class RecallTop(_TopK):
    r"""Convex bound of one minus the recall of the top k rows.

    .. math:: L(s) = \frac1{n_+} \max_\pi \Big[ m \big(n_+ - \sum_{i \in P} \omega_i \pi_i\big)
              + \sum_i \omega_i s_i (\pi_i - \bar y_i)
              - \frac\kappa2 \sum_i \omega_i (\pi_i - \bar y_i)^2 \Big], \qquad
              0 \le \pi \le 1, \quad \omega \cdot \pi = k

    `PrecisionTop` in another unit: what no ranking can avoid is :math:`\max(0, 1 - k/n_+)`.

    Parameters
    ----------
    k : int or float
        A whole number of rows, or a share of them between 0 and 1.
    kappa : float
        κ, the width of the soft edge; 0 takes the top rows themselves.
    margin : float
        m.
    """

    name: ClassVar[str] = "recall_top"

    def _quota_and_unit(self, n_pos: float, n_neg: float) -> tuple[float, float]:
        return self._quota(n_pos + n_neg), n_pos
