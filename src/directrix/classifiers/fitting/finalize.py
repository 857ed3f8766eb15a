"""The end of a fit: a threshold from held-out scores, what they say of it, and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING
from warnings import warn

import numpy as np

from directrix.classifiers import calibration
from directrix.classifiers.operating_point import OnRows, effective_rows
from directrix.frontier.choose import FIRST_ROWS, curves, first_of_classes, standing_for

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics import Metric

_FEW = 10


def fit_threshold(metric: Metric, rows: TrainingRows, scores: FloatArray) -> tuple[float, OnRows]:
    """Return the best threshold on rows, and what they say of it."""
    curve = curves(rows.positive, rows.weight)(scores)
    threshold, _, place = metric.best(curve)
    counts = [effective_rows(rows.weight[own]) for own in (rows.positive, ~rows.positive)]
    if min(counts) < _FEW:
        warn(
            f"one class has {min(counts):.3g} rows only, so the threshold and the rates rest on "
            "very little; gather more of them, or see operating_point_.intervals",
            stacklevel=5,
        )
    if np.isinf(threshold):
        # One class for every row is best: a finite threshold that none of the rows passes.
        reach = float(np.ptp(scores)) or 1.0
        end = scores.max() + reach if threshold > 0 else scores.min() - reach
        label = "negative" if threshold > 0 else "positive"
        warn(
            f"every row is predicted {label}: no line of the family does better by {metric} on "
            "these rows. Try a metric that does not depend on the prior (such as "
            "'balanced_error' or RecallAtFPR), class_weight='balanced', or other features.",
            stacklevel=5,
        )
        threshold = float(end)
    return threshold, OnRows(curve, place, *counts)


def calibrated(
    rows: TrainingRows, scores: FloatArray, at_threshold: float | None
) -> calibration.Calibration:
    """Return how probabilities are made of these scores, fitted to the rows or a sample."""
    index = first_of_classes(rows.positive, FIRST_ROWS)
    sample = rows.positive[index], scores[index], standing_for(rows.positive, rows.weight, index)
    return calibration.from_scores(*sample, rows.name, at_threshold)
