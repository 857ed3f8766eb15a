"""Calibration: probabilities from scores by a sigmoid that increases with the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.projection import ScoreMoments

_LEAST_SLOPE = 1e-6  # for scores of standard deviation one; keeps the sigmoid increasing
_STEEPEST = 20.0  # logarithm of the steepest slope


@dataclass(frozen=True)
class Calibration:
    r"""Probability of the positive class at score s, increasing in s.

    .. math:: p(s) = \frac{1}{1 + e^{-(c + a \min(s, 0) + b \max(s, 0))}}, \qquad a, b > 0

    a sigmoid with one slope for the rows predicted negative and one for those predicted positive.

    Parameters
    ----------
    offset : float
        c, the log-odds at the threshold.
    below, above : float
        a and b, the slopes on either side of it.
    how : str
        How the parameters were obtained.
    """

    offset: float
    below: float
    above: float
    how: str

    def log_odds(self, scores: Any) -> FloatArray:
        """Return the log-odds of the positive class at each score."""
        scores = np.asarray(scores, dtype=np.float64)
        odds: FloatArray = self.offset + np.where(scores < 0, self.below, self.above) * scores
        return odds

    def sign_flipped(self) -> Calibration:
        """Return the probability of the other class, at scores of the other sign."""
        return replace(self, offset=-self.offset, below=self.above, above=self.below)

    def __call__(self, scores: Any) -> FloatArray:
        """Return the probability of the positive class at each score."""
        probability: FloatArray = expit(self.log_odds(scores))
        return probability


def calibration_from_scores(
    positive: AnyArray,
    scores: FloatArray,
    weight: FloatArray,
    which_rows: str,
    at_threshold: float | None = None,
) -> Calibration:
    r"""Fit the sigmoid to rows by maximum likelihood (Platt 1999), with a slope on either side.

    Labels are replaced by :math:`(n_+ + 1) / (n_+ + 2)` and :math:`1 / (n_- + 2)`, so that slopes
    stay finite if the scores separate the classes. scikit-learn's logistic regression does not
    accept such targets. If the metric fixes the probability at score zero, such as one half for the
    error, it is given as `at_threshold`.
    """
    n_pos = float(weight @ positive)
    n_neg = float(weight.sum()) - n_pos
    target = np.where(positive, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))
    share = weight / weight.sum()
    spread = float(np.sqrt(share @ scores**2)) or 1.0
    sides = np.stack([np.minimum(scores, 0.0), np.maximum(scores, 0.0)]) / spread
    free = at_threshold is None
    offset = float(logit(share @ target)) if at_threshold is None else float(logit(at_threshold))

    # In the logarithms of the slopes, which keeps them positive.
    def parts(parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        slopes = np.exp(np.minimum(parameters[:2], _STEEPEST))
        eta = slopes @ sides + (parameters[2] if free else offset)
        by = np.vstack([slopes[:, None] * sides, np.ones_like(scores)])
        return eta, share * (expit(eta) - target), by if free else by[:2]

    def loss(parameters: FloatArray) -> float:
        eta, _, _ = parts(parameters)
        return float(-share @ (target * log_expit(eta) + (1.0 - target) * log_expit(-eta)))

    def gradient(parameters: FloatArray) -> FloatArray:
        _, residual, by = parts(parameters)
        product: FloatArray = by @ residual
        return product

    def hessian(parameters: FloatArray) -> FloatArray:
        eta, residual, by = parts(parameters)
        curvature = (by * (share * expit(eta) * expit(-eta))) @ by.T
        curvature[[0, 1], [0, 1]] += by[:2] @ residual
        # A side without rows has no curvature.
        return curvature + _LEAST_SLOPE**2 * np.eye(len(by))  # type: ignore[no-any-return]

    start = np.array([0.0, 0.0, offset] if free else [0.0, 0.0])
    fit = minimize(
        loss, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-11}
    )
    below, above = np.maximum(np.exp(np.minimum(fit.x[:2], _STEEPEST)), _LEAST_SLOPE) / spread
    offset = float(fit.x[2]) if free else offset
    return Calibration(offset, float(below), float(above), f"sigmoid fitted to {which_rows}")


def calibration_from_moments(
    scores: ScoreMoments, at_threshold: float | None = None
) -> Calibration:
    r"""Return the sigmoid of two normal classes of equal variance.

    .. math:: a = \frac{m_+ - m_-}{v}, \quad c = \log\frac{\pi}{1 - \pi} - \frac{m_+^2 - m_-^2}{2v},
              \quad v = \pi v_+ + (1 - \pi) v_-

    With unequal variances the log-odds would be a parabola, and the probability would not increase
    everywhere.
    """
    variance = scores.prior * scores.var_pos + (1.0 - scores.prior) * scores.var_neg
    gap = scores.mean_pos - scores.mean_neg
    deviation = float(np.sqrt(variance)) or abs(gap) or 1.0
    slope = float(max(gap / deviation, _LEAST_SLOPE) / deviation)
    if at_threshold is None:
        middle = (scores.mean_pos + scores.mean_neg) / 2.0
        offset = float(logit(scores.prior) - slope * middle)
    else:
        offset = float(logit(at_threshold))
    how = "sigmoid of two normal classes of equal variance, from the moments"
    return Calibration(offset, slope, slope, how)
