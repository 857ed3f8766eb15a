"""The end of every fit: threshold, operating point and calibration of the chosen line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import FloatArray
from directrix.fitting.choice import (
    Assessment,
    Choice,
    Selection,
    sizes_of,
)
from directrix.fitting.evidence import RowEvidence
from directrix.fitting.finish import (
    End,
    FitResult,
    by_segment,
    finish,
    priced,
)
from directrix.fitting.training_rows import Rows, Standardization
from directrix.frontier.compare import (
    FoldDesigns,
    centre_and_scale,
    design_without,
    is_flat,
    scores_of,
)
from directrix.frontier.curves import round_scores
from directrix.metrics.base import Metric
from directrix.models.operating_point import (
    OperatingPoint,
    calibration_from_moments,
    predicted_rates,
)
from directrix.moments.projection import ScoreMoments


class Lines(NamedTuple):
    """The lines of the chosen candidate, intercepts last.

    ``refit`` is fitted to all rows. ``without`` has, for each fold, the line fitted without it; it
    is empty if no rows are held out.
    """

    refit: FloatArray
    without: Sequence[FloatArray] = ()

    def without_rounding(self, X: Any) -> Lines:
        """Return the lines, constant where they tell no rows apart: such slopes are rounding."""
        flat = is_flat(self._scores(X))
        if not flat.any():
            return self
        lines = np.stack([self.refit, *self.without])
        lines[flat, :-1] = 0.0
        return Lines(lines[0], list(lines[1:]))

    def on_one_scale(self, rows: Rows) -> ScaledLines:
        """Put all lines on one scale: centre and scale each by its scores on its training rows.

        Held-out scores come from several lines; a threshold on them is then also a threshold of
        the refitted line.

        ``rows`` are in the units of the lines.
        """
        every = self._scores(rows.X)
        refit, held_out = self.refit.copy(), round_scores(every[:, 0])
        if not self.without:
            return ScaledLines(refit, held_out, every)
        for number in range(every.shape[1]):
            fitted = np.full(len(every), fill_value=True)
            if number and rows.fold is not None:
                fitted = rows.fold != number - 1
            centre, scale = centre_and_scale(
                every[fitted, number], rows.positive[fitted], rows.weight[fitted]
            )
            flat = is_flat(every[fitted, number])
            scaled = 0.0 if flat else round_scores((every[:, number] - centre) / scale)
            every[:, number] = scaled
            if number == 0:
                refit[-1] -= centre
                refit /= scale
                held_out = every[:, 0]
            else:
                held_out = np.where(fitted, held_out, every[:, number])
        return ScaledLines(refit, held_out, every)

    def _scores(self, X: Any) -> FloatArray:
        """Return the scores of rows by all lines, of shape (n, 1 + folds)."""
        if not isinstance(X, FoldDesigns):
            return scores_of(X, np.stack([self.refit, *self.without]))
        lines = [(None, self.refit), *enumerate(self.without)]
        every = [scores_of(design_without(X, fold), line[None]) for fold, line in lines]
        return np.hstack(every)


class ScaledLines(NamedTuple):
    """Lines on one scale, and their scores.

    ``refit`` is the refitted line. ``held_out`` are the held-out scores of the rows, or scores of
    the refitted line if no rows are held out. ``every`` has the scores of all rows by the refitted
    line, first, and by the line of each fold, of shape (n, 1 + folds).
    """

    refit: FloatArray
    held_out: FloatArray
    every: FloatArray


class Finalized(NamedTuple):
    """A fitted line, how it was assessed, and the held-out scores less the threshold."""

    fitted: FitResult
    assessment: Assessment
    scores: FloatArray


def finalize(
    metric: Metric,
    selection: Selection,
    lines: Lines,
    *,
    units: Standardization | None = None,
    choice: Choice | None = None,
    scaled: ScaledLines | None = None,
) -> Finalized:
    """Set the threshold of the chosen candidate, and assess it for new rows.

    ``lines`` are those of the chosen candidate, in the units of the selection's rows. ``units`` are
    those of the rows; the features' own by default. ``choice`` is that of the model this one is
    made from, if it has been repeated already. ``scaled`` are the lines on one scale, if known.
    """
    rows = selection.rows
    scaled = lines.on_one_scale(rows) if scaled is None else scaled
    if choice is None:
        selection = selection.with_scores(scaled.held_out)
        choice = Choice.of(metric, selection, sizes_of(rows))
    end = finish(metric, choice, RowEvidence(rows, scaled.held_out, scaled.every))
    line = scaled.refit.copy()
    line[-1] -= end.point.threshold
    line = line if units is None else units.line_back(line)
    scores = scaled.held_out - end.point.threshold
    return Finalized(end.result(line), end.assessment, scores)


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
