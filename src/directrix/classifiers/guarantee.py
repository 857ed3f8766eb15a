"""Thresholds whose rate on new rows keeps a limit, with a confidence that holds for any scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from directrix.classifiers.fitting.choice import sizes_of
from directrix.classifiers.fitting.intervals import intervals_of, rates_of
from directrix.classifiers.operating_point import OperatingPoint
from directrix.frontier.choose import curves
from directrix.metrics import FPRAtRecall, PrecisionAtRecall, RecallAtFPR

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics import Metric


def most_above(n: int, limit: float, confidence: float) -> int:
    r"""Return how many of n rows of a class may be above the threshold; -1 if n is too small.

    .. math:: \max \{k : P(\mathrm{Bin}(n, \alpha) \le k) \le 1 - c\}

    Let the threshold be the (k + 1)-th highest score of n independent rows. The share of new rows
    above it exceeds α only if at most k of the n are above the α-quantile, whose probability is
    that of the binomial: exact for continuous scores, and smaller with ties.
    """
    k = int(binom.ppf(1.0 - confidence, n, limit))
    while k >= 0 and binom.cdf(k, n, limit) > 1.0 - confidence:
        k -= 1
    return k


def rows_needed(limit: float, confidence: float) -> int:
    """Return the fewest rows of the class with which any threshold can be guaranteed."""
    return int(np.ceil(np.log(1.0 - confidence) / np.log(1.0 - limit)))


def guaranteed_threshold(
    metric: Metric, positive: AnyArray, scores: FloatArray, confidence: float
) -> float:
    """Return the threshold at which a metric's limit is kept on new rows, with a confidence.

    Parameters
    ----------
    metric : RecallAtFPR, FPRAtRecall or PrecisionAtRecall
        Whose limit is on the false-positive rate, or on the recall.
    positive : array of bool of shape (n,)
    scores : array of shape (n,)
        Of rows that the line has not seen.
    confidence : float
    """
    limit, of_positives = limit_of(metric)
    own = np.sort(scores[positive == of_positives])
    # That at least a share of the positives is above is that at most the others are below.
    own = own if of_positives else -own[::-1]
    k = most_above(len(own), limit, confidence)
    if k < 0:
        name = "positives" if of_positives else "negatives"
        msg = (
            f"{metric} with guarantee={confidence:g} needs {rows_needed(limit, confidence)} "
            f"{name} among the rows that set the threshold, and there are {len(own)}: give more "
            "rows, a looser limit or a lower guarantee"
        )
        raise ValueError(msg)
    # Predicted positive is what is above the threshold; a row on it is not.
    return float(np.nextafter(own[k], -np.inf)) if of_positives else -float(own[k])


def guaranteed_point(metric: Metric, rows: TrainingRows, scores: FloatArray) -> OperatingPoint:
    """Return what rows that only set the threshold, at score zero, say of it.

    The threshold is one of their scores: above the highest k of n, k + 1 of n + 1 new ones are to
    be expected. The other rate is as it is on these rows.

    Parameters
    ----------
    metric : Metric
    rows : TrainingRows
    scores : array of shape (n,)
        Less the threshold.
    """
    curve = curves(rows.positive, rows.weight)(scores)
    place = int(np.count_nonzero(curve.levels > 0))
    sizes = sizes_of(rows)
    tpr, fpr = float(curve.tpr[place]), float(curve.fpr[place])
    seen = rates_of(metric, tpr, fpr, curve.prior, None)
    _, of_positives = limit_of(metric)
    if of_positives:
        tpr = tpr * sizes.n_pos / (sizes.n_pos + 1.0)
    else:
        fpr = (fpr * sizes.n_neg + 1.0) / (sizes.n_neg + 1.0)
    expected = rates_of(metric, tpr, fpr, curve.prior, None)
    intervals = intervals_of(metric, expected, curve, sizes)
    name = "rows set apart for the guarantee"
    return OperatingPoint(metric, 0.0, seen, seen, name, expected, intervals)


def limit_of(metric: Metric) -> tuple[float, bool]:
    """Return the share that may be wrong, and whether of the positives; refuse other metrics."""
    if isinstance(metric, RecallAtFPR):
        return metric.fpr, False
    if isinstance(metric, FPRAtRecall | PrecisionAtRecall):
        return 1.0 - metric.recall, True
    msg = (
        f"guarantee= is for a limit on one rate, as of RecallAtFPR, FPRAtRecall and "
        f"PrecisionAtRecall, and {metric} has none: leave it out"
    )
    raise ValueError(msg)
