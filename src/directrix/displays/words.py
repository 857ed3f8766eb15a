"""Metrics in words, as axes and legends have them, and the limits that some of them keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.metrics import (
    AUC,
    MCC,
    PRBEP,
    BalancedError,
    Cost,
    Error,
    FBeta,
    FPRAtRecall,
    GMean,
    PartialAUC,
    PrecisionAtK,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtK,
    RecallAtPrecision,
)

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.metrics import Metric

_PLAIN: dict[type[Metric], str] = {
    AUC: "AUC",
    MCC: "Matthews' correlation",
    PRBEP: "precision-recall break-even",
    BalancedError: "balanced error",
    Error: "error rate",
    GMean: "G-mean",
}
_STEPS = 200


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100.0 * share:.3g} %"


def words(metric: Metric) -> str:
    """Return what an axis calls a metric."""
    text = _PLAIN.get(type(metric), str(metric))
    match metric:
        case Cost():
            text = f"mean cost of a row\n(false positive {metric.fp:g}, miss {metric.fn:g})"
        case FBeta():
            text = f"F{metric.beta:g}"
        case PartialAUC():
            text = f"AUC up to FPR {percent(metric.max_fpr)}"
        case RecallAtFPR():
            text = f"recall at FPR {percent(metric.fpr)}"
        case FPRAtRecall():
            text = f"FPR at recall {percent(metric.recall)}"
        case PrecisionAtRecall():
            text = f"precision at recall {percent(metric.recall)}"
        case RecallAtPrecision():
            text = f"recall at precision {percent(metric.precision)}"
        case PrecisionAtK() | RecallAtK():
            rate = "precision" if isinstance(metric, PrecisionAtK) else "recall"
            top = percent(metric.k) if metric.k < 1 else f"{metric.k} rows"
            text = f"{rate} of the top {top}"
    return text


def limit_words(metric: Metric) -> str | None:
    """Return the limit that a metric keeps, in words, where it has one."""
    match metric:
        case RecallAtFPR():
            return f"FPR at most {percent(metric.fpr)}"
        case PartialAUC() if metric.max_fpr < 1:
            return f"FPR at most {percent(metric.max_fpr)}"
        case FPRAtRecall() | PrecisionAtRecall():
            return f"recall at least {percent(metric.recall)}"
        case RecallAtPrecision():
            return f"precision at least {percent(metric.precision)}"
        case PrecisionAtK() | RecallAtK() | PRBEP():
            return "as many rows as the metric takes"
    return None


class Limit(NamedTuple):
    """Where on the plane of the two rates a metric's limit lies."""

    words: str
    fpr: FloatArray
    tpr: FloatArray


def limit_of(metric: Metric, prior: float, n_rows: float | None) -> Limit | None:
    r"""Return the limit of a metric as a line, where it has one.

    A false-positive rate or a recall is a straight line; a precision p is
    :math:`t = \frac{p}{1 - p} \frac{1 - \pi}{\pi} f`, a quota q is :math:`\pi t + (1 - \pi) f = q`.
    """
    text = limit_words(metric)
    if text is None:
        return None
    # Fine at the left, for a log scale, and throughout.
    grid = np.union1d(np.geomspace(1e-6, 1.0, _STEPS), np.linspace(0.0, 1.0, _STEPS))
    full = np.linspace(0.0, 1.0, _STEPS)
    match metric:
        case RecallAtFPR():
            fpr, tpr = np.full(_STEPS, metric.fpr), full
        case PartialAUC():
            fpr, tpr = np.full(_STEPS, metric.max_fpr), full
        case FPRAtRecall() | PrecisionAtRecall():
            fpr, tpr = grid, np.full(len(grid), metric.recall)
        case RecallAtPrecision():
            odds = metric.precision / (1.0 - metric.precision) * (1.0 - prior) / prior
            fpr, tpr = grid, odds * grid
        case _:
            quota = quota_of(metric, prior, n_rows) or prior
            fpr, tpr = grid, (quota - (1.0 - prior) * grid) / prior
    inside = (tpr >= 0.0) & (tpr <= 1.0)
    return Limit(text, fpr[inside], tpr[inside])


def quota_of(metric: Metric, prior: float, n_rows: float | None) -> float | None:
    """Return the share of rows that a metric takes, where it takes one."""
    if isinstance(metric, PRBEP):
        return prior
    if isinstance(metric, PrecisionAtK | RecallAtK):
        share: float = getattr(metric.risk(n_rows), "share")  # noqa: B009
        return share
    return None
