"""Intervals of shares of rows, and how many rows weights are worth."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, ndtri

from directrix._typing import FloatArray, IntArray

#: Confidence of intervals.
LEVEL = 0.95
_Z = float(ndtri(0.5 + LEVEL / 2.0))


def wilson(share: float, n: float) -> tuple[float, float]:
    r"""Return Wilson's interval of a share of n rows.

    .. math:: \frac{p + z^2/2n \pm z \sqrt{p (1 - p) / n + z^2 / 4 n^2}}{1 + z^2 / n}

    SciPy's function takes integer counts; effective sample sizes are not integers.
    """
    if n <= 0:
        return 0.0, 1.0
    middle = share + _Z * _Z / (2.0 * n)
    reach = _Z * np.sqrt(share * (1.0 - share) / n + _Z * _Z / (4.0 * n * n))
    below = 1.0 + _Z * _Z / n
    low, high = max((middle - reach) / below, 0.0), min((middle + reach) / below, 1.0)
    return float(min(low, share)), float(max(high, share))  # rounding at 0 and 1


def on_logit_scale(value: float, variance: float) -> tuple[float, float]:
    """Return a normal interval of a share on the scale of its log-odds, which stays in (0, 1)."""
    inside = float(np.clip(value, 1e-9, 1.0 - 1e-9))
    deviation = float(np.sqrt(variance))
    # Near 0 and 1 use the slope of the log-odds one standard deviation further in.
    at = float(np.clip(inside, min(deviation, 0.5), 1.0 - min(deviation, 0.5)))
    reach = _Z * deviation / (at * (1.0 - at))
    ends = expit(logit(at) + reach * np.array([-1.0, 1.0]))
    return float(min(ends[0], value)), float(max(ends[1], value))


def effective_rows(weight: FloatArray, group: IntArray | None = None) -> float:
    r"""Return the effective sample size, :math:`(\sum\omega)^2 / \sum\omega^2`.

    Rows of one group count as one row with all their weight, because they may all be alike.
    """
    if group is not None:
        member = np.unique(group, return_inverse=True)[1]
        weight = np.bincount(member, weight).astype(np.float64)
    total = float(weight.sum())
    return total**2 / float((weight**2).sum()) if total else 0.0
