r"""Calibration with a guard: log-odds of held-out scores with a slope that stays near one.

Scores are log-odds already, of cards that did not see their rows. What is left to learn is a slope
t and an offset o of least

.. math:: \sum_i w_i \log\bigl(1 + e^{-y_i (t s_i + o)}\bigr) + \frac c2 \log^2 t

fitted together. The penalty is that of c rows: few rows, or scores that separate the classes,
neither turn the order around nor make it certain.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from directrix._typing import AnyArray, FloatArray

#: Rows that the penalty of the slope is worth.
_ROWS = 5.0


def guarded_line(scores: FloatArray, positive: AnyArray, weight: FloatArray) -> tuple[float, float]:
    """Return slope and offset of the log-odds of the positive class as a line of the scores."""
    share = weight / weight.mean()
    centre = float(share @ scores) / float(share.sum())
    off = scores - centre
    rate = float(share @ positive) / float(share.sum())

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        slope = float(np.exp(np.clip(parameters[0], -20.0, 20.0)))
        odds = slope * off + parameters[1]
        value = share @ np.logaddexp(0.0, np.where(positive, -odds, odds))
        residual = share * (expit(odds) - positive)
        gradient = [slope * (residual @ off) + _ROWS * parameters[0], residual.sum()]
        return float(value) + 0.5 * _ROWS * parameters[0] ** 2, np.array(gradient)

    start = np.array([0.0, logit(rate)])
    found = minimize(loss, start, jac=True, method="BFGS").x
    slope = float(np.exp(np.clip(found[0], -20.0, 20.0)))
    return slope, float(found[1]) - slope * centre
