"""The end of every fit: threshold, operating point and calibration of the chosen line."""

from __future__ import annotations

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.fitting.choice import Assessment, sizes_of
from directrix.fitting.evidence import RowEvidence
from directrix.fitting.finish import (
    End,
    FitResult,
    by_segment,
    priced,
)
from directrix.fitting.training_rows import Rows
from directrix.metrics import AUC
from directrix.metrics.base import Curve, Metric
from directrix.models.operating_point import (
    OnRows,
    OperatingPoint,
    calibration_from_moments,
    predicted_rates,
)
from directrix.moments.projection import ScoreMoments


def assess_unseen_rows(
    metric: Metric, positive: AnyArray, scores: FloatArray, weight: FloatArray, name: str
) -> Assessment:
    """Assess a threshold at zero on rows that had no part in a model: expect what they show."""
    curve = Curve.of(positive, scores, weight)
    index = int(np.count_nonzero(curve.levels > 0))
    shown = OnRows(curve, index, sizes_of(Rows(None, positive, weight)))
    value, ends = shown.at_threshold(metric)
    rates = shown.rates(AUC())._replace(metric=value)
    return Assessment(rates, rates, shown.intervals(AUC())._replace(metric=ends), name)


def finalize_on_rows(
    metric: Metric,
    rows: Rows,
    line: FloatArray,
    scores: FloatArray,
    assessment: Assessment | None = None,
) -> FitResult:
    """Return a line whose threshold is given; rows that did not set it assess and calibrate it.

    ``line`` is in the units of the features. ``scores`` are those of the rows, less the threshold.
    ``assessment`` is, by default, what these rows show.
    """
    evidence = RowEvidence(rows, scores)
    if assessment is None:
        assessment = Assessment.of_rows(metric, rows, scores)
    end = by_segment(priced(End.of(metric, evidence, 0.0, assessment)))
    return end.result(line)


def finalize_on_moments(
    metric: Metric, line: FloatArray, scores: ScoreMoments, n_rows: float
) -> FitResult:
    """Return a line of which nothing is known but the moments of its scores.

    ``n_rows`` is the weight of the rows, for metrics that count them.
    """
    predicted = predicted_rates(scores, metric, n_rows)
    point = OperatingPoint(metric, -float(line[-1]), predicted)
    calibration = calibration_from_moments(scores, metric.break_even(scores.prior))
    return FitResult(line, point, calibration)
