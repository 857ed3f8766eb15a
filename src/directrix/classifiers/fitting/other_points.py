"""Operating points of a fitted model for other metrics, from its held-out scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from directrix.classifiers.fitting.histogram_choice import select_from_histograms

if TYPE_CHECKING:
    from directrix.classifiers.fitting.held_out import HeldOut
    from directrix.classifiers.fitting.operating_point import OperatingPoint
    from directrix.metrics.base import Metric


def point_at(
    metric: Metric, held_out: HeldOut, base: float, *, rises: bool = True
) -> OperatingPoint:
    """Return the best threshold for a metric, and the rates to expect there on new rows.

    Parameters
    ----------
    metric : Metric
    held_out : HeldOut
    base : float
        Threshold of the fit, at which the decision function is zero.
    rises : bool
        Whether rows above a threshold are predicted positive; otherwise those below it are.

    Raises
    ------
    ValueError
        If the metric has no threshold.
    """
    if not metric.uses_threshold:
        msg = f"{metric.label} ranks rows and has no threshold: name a metric that has one"
        raise ValueError(msg)
    # The line is the score itself: one coefficient, and no intercept.
    chosen = select_from_histograms(metric, held_out.folds, (1.0, 1.0))
    point = chosen.finalize(metric, np.array([1.0, 0.0])).operating_point
    above = held_out.in_decisions(chosen.threshold)
    threshold = base + above if rises else base - above
    return replace(point, threshold=threshold, rows=held_out.rows)
