r"""The jitter of a threshold: a metric of rates, averaged over how well rows know its threshold.

A threshold is a place among the scores of rows: above it is a share of the negatives (a limit on
the false-positive rate), of the positives (a limit on recall) or of all rows (a quota, or the
threshold that is best for the metric). Of n rows such a share is known to a standard error. Drawn
again and again from its distribution, the share A chooses thresholds i with probabilities
:math:`p_i`, and the metric is

.. math:: \mathrm{E}\, M(A) = \sum_i p_i\, M(t_i, f_i, \pi), \qquad
          p_i = G(b_i) - G(b_{i-1}), \qquad
          G(q) = \Phi\bigl(2 \sqrt n\, (\arcsin \sqrt q - \arcsin \sqrt{q_0})\bigr)

with the rates t and f at threshold i, the share :math:`b_i` from which on the next threshold is
chosen, and the limit :math:`q_0`, or the share above the best threshold. The arcsine has the
standard error :math:`1 / (2 \sqrt n)` at every share (Anscombe 1948). A recall at a limit becomes
the mean over positives of the probability that the limit lets them through, a smooth function of
the ranks: :math:`\sum_i (t_i - t_{i-1}) (1 - G(f_i))`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from directrix._typing import FloatArray, IntArray
from directrix.metrics.base import Curve, Metric

#: Difference that counts as rounding, in units of the metric.
_ROUNDING = 1e-9


def jittered(metric: Metric, curve: Curve, n_pos: Any, n_neg: Any) -> Any:
    """Return a metric of rates averaged over its threshold's own uncertainty.

    ``n_pos`` and ``n_neg`` are effective rows of each class, which know the threshold; the curves
    of a stack have arrays of values.
    """
    values = np.asarray(metric.at_rates(curve.tpr, curve.fpr, curve.prior))
    mean = (threshold_chances(metric, curve, values, n_pos, n_neg) * values).sum(axis=-1)
    return mean if mean.ndim else float(mean)


def threshold_chances(
    metric: Metric, curve: Curve, values: FloatArray, n_pos: Any, n_neg: Any
) -> FloatArray:
    """Return how likely each threshold of a curve is to be the one that a drawn limit chooses.

    ``values`` are those of the metric at the thresholds.
    """
    limit, tpr, fpr, prior = metric.limit, curve.tpr, curve.fpr, curve.prior
    if limit is not None and limit.rate == "fpr":  # the last threshold that keeps the limit
        return _chances(fpr[..., 1:], limit.value, n_neg)
    if limit is not None and limit.rate == "tpr":  # the first one
        return _chances(tpr[..., :-1], limit.value, n_pos)
    alerts = prior * tpr + (1.0 - prior) * fpr
    if limit is not None:  # the last one of a precision that none after it exceeds
        highest = np.maximum.accumulate(curve.precision[..., ::-1], axis=-1)[..., ::-1]
        kept = (highest >= limit.value).sum(axis=-1, keepdims=True) - 1
        flagged = np.take_along_axis(alerts, np.maximum(kept, 0), axis=-1) * (n_pos + n_neg)
        return _chances(1.0 - highest[..., 1:], 1.0 - limit.value, flagged)
    center: Any = metric.quota(
        float(np.mean(prior)), float(np.mean(curve.positives + curve.negatives))
    )
    if center is None:
        center = np.take_along_axis(alerts, _first_best(metric, values), axis=-1)
    return _chances((alerts[..., 1:] + alerts[..., :-1]) / 2.0, center, n_pos + n_neg)


def _chances(bounds: FloatArray, center: Any, n_rows: Any) -> FloatArray:
    """Return the probability of each threshold from the shares at which the next is chosen."""
    distance = np.arcsin(np.sqrt(bounds)) - np.arcsin(np.sqrt(center))
    below = ndtr(2.0 * np.sqrt(n_rows) * distance)
    ends = np.zeros((*below.shape[:-1], 1))
    return np.diff(np.concatenate([ends, below, ends + 1.0], axis=-1), axis=-1)


def _first_best(metric: Metric, values: FloatArray) -> IntArray:
    """Return the index of the first threshold that is best up to rounding, of shape (..., 1)."""
    losses = -values if metric.greater_is_better else values
    least = losses.min(axis=-1, keepdims=True)
    near = losses <= least + _ROUNDING * metric.unit
    index: IntArray = near.argmax(axis=-1)[..., None]
    return index
