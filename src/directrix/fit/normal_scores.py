"""What is expected of a model of which nothing is known but the moments of its scores.

Rates, threshold and probabilities are those of normal scores.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from directrix._normal import cdf, z_value
from directrix._typing import FloatArray
from directrix.fit.finish import FitResult
from directrix.fit.operating_point import LEAST_SLOPE, Calibration, OperatingPoint, Rates
from directrix.metrics.base import Metric, precision_of
from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import risk_of


def finish_on_moments(
    metric: Metric, line: FloatArray, scores: ScoreMoments, n_rows: float
) -> FitResult:
    """Return a line of which nothing is known but the moments of its scores.

    ``n_rows`` is the weight of the rows, for metrics that count them.
    """
    predicted = predicted_rates(scores, metric, n_rows)
    point = OperatingPoint(metric, -float(line[-1]), predicted)
    calibration = calibration_from_moments(scores, metric.break_even(scores.prior))
    return FitResult(line, point, calibration)


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
    slope = float(max(gap / deviation, LEAST_SLOPE) / deviation)
    if at_threshold is None:
        middle = (scores.mean_pos + scores.mean_neg) / 2.0
        offset = float(logit(scores.prior) - slope * middle)
    else:
        offset = float(logit(at_threshold))
    how = "sigmoid of two normal classes of equal variance, from the moments"
    return Calibration(offset, slope, slope, how)


def predicted_rates(scores: ScoreMoments, metric: Metric, n_rows: float) -> Rates:
    """Return the rates of normal scores at threshold zero, and the metric."""
    tpr = cdf(z_value(scores.mean_pos, scores.var_pos))
    fpr = cdf(z_value(scores.mean_neg, scores.var_neg))
    metric_value = float(metric.of_loss(risk_of(metric, n_rows).value(scores)))
    return Rates(tpr, fpr, float(precision_of(tpr, fpr, scores.prior)), metric_value)
