"""A chosen line on the rows at hand: where it cuts them, what they say of it, and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np

from directrix.classifiers import calibration
from directrix.classifiers.operating_point import OnRows, effective_rows
from directrix.frontier.choose import FIRST_ROWS, curves, sample_for_choice
from directrix.moments.row_hash import row_hash, stratified_folds
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.metrics import Metric

_FEW = 10


class RowsAtHand(NamedTuple):
    """Rows at hand, to choose a line on."""

    X: Any
    positive: AnyArray
    weight: FloatArray
    fold: IntArray | None

    def sampled(self, most: int) -> RowsAtHand:
        """Return some rows of each class, with weights that stand for all."""
        index, weight = sample_for_choice(self.positive, self.weight, most)
        return RowsAtHand(self.X[index], self.positive[index], weight, None)

    @property
    def name(self) -> str:
        """What to call the rows that rates were measured on."""
        return "the rows themselves" if self.fold is None else "held-out rows"


def folds_of_rows(X: Any, positive: AnyArray, n_folds: int) -> IntArray | None:
    """Return folds by what is in the rows, each class shared out; None where they are too few."""
    hashes = row_hash(as_rows(X))
    distinct = (len(np.unique(hashes[own])) for own in (positive, ~positive))
    n_folds = min(n_folds, *distinct)
    return stratified_folds(hashes, positive, n_folds) if n_folds > 1 else None


def cut(metric: Metric, rows: RowsAtHand, scores: FloatArray) -> tuple[float, OnRows]:
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
    rows: RowsAtHand, scores: FloatArray, at_threshold: float | None
) -> calibration.Calibration:
    """Return how probabilities are made of these scores, fitted to the rows or a sample."""
    index, weight = sample_for_choice(rows.positive, rows.weight, FIRST_ROWS)
    sample = rows.positive[index], scores[index], weight
    return calibration.from_scores(*sample, rows.name, at_threshold)
