"""A chosen line on the rows at hand: where it cuts them, what they say of it, and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np
from sklearn.model_selection import check_cv

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


def rows_to_choose_on(rows: RowsAtHand, X: Any, folds: Any, most: int) -> RowsAtHand:
    """Return the rows, or a sample of each class, with folds to be held out.

    Parameters
    ----------
    rows : RowsAtHand
        Standardised.
    X : array or sparse matrix of shape (n, d)
        The same rows as they were given; standardised, they are others where one is repeated.
    folds : int, or array of int of shape (n,)
        How many there are to be, or which.
    most : int
        Rows of each class.
    """
    seen, index = rows, np.arange(len(rows.positive))
    n_pos = int(np.count_nonzero(rows.positive))
    if max(n_pos, len(rows.positive) - n_pos) > most:
        index, weight = sample_for_choice(rows.positive, rows.weight, most)
        seen = RowsAtHand(rows.X[index], rows.positive[index], weight, None)
    if isinstance(folds, np.ndarray):
        return seen._replace(fold=require_both_classes(folds[index], seen.positive))
    return seen._replace(fold=folds_of_rows(X[index], seen.positive, int(folds)))


def folds_given(cv: Any, X: Any, y: AnyArray) -> IntArray | None:
    """Return folds as a splitter of scikit-learn, or the splits it makes, hold out rows.

    None where a number of folds is asked for.

    Parameters
    ----------
    cv : splitter, or pairs of indices to train and to test on
    X : array or sparse matrix of shape (n, d)
    y : array of shape (n,)
    """
    if isinstance(cv, int | np.integer) and cv >= 2:
        return None
    if cv is None or isinstance(cv, int | float | np.number):
        msg = (
            "cv must be a number of folds, 2 or more, or a splitter of scikit-learn or its "
            f"splits, not {cv!r}"
        )
        raise ValueError(msg)
    splits = list(check_cv(cv).split(X, y))
    fold = np.empty(len(y), dtype=np.int64)
    tested = np.zeros(len(y), dtype=np.int64)
    for number, (train, test) in enumerate(splits):
        fold[test] = number
        tested[test] += 1
        if len(train) + len(test) != len(y) or np.isin(train, test).any():
            msg = "cv must train each split on all rows that it does not test"
            raise ValueError(msg)
    if not (tested == 1).all():
        msg = f"cv must test each row once; it tests one {tested[tested != 1][0]} times"
        raise ValueError(msg)
    return fold


def require_both_classes(fold: IntArray, positive: AnyArray) -> IntArray:
    """Return folds, or refuse one that no metric can be measured on."""
    for number in range(int(fold.max()) + 1):
        own = positive[fold == number]
        if not own.any() or own.all():
            msg = f"cv must hold out rows of both classes, of weight above zero, in split {number}"
            raise ValueError(msg)
    return fold


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


def at_threshold(rows: RowsAtHand, scores: FloatArray, threshold: float) -> OnRows:
    """Return what rows say of a threshold that they did not set."""
    curve = curves(rows.positive, rows.weight)(scores)
    counts = [effective_rows(rows.weight[own]) for own in (rows.positive, ~rows.positive)]
    return OnRows(curve, int(np.count_nonzero(curve.levels > threshold)), *counts)


def calibrated(
    rows: RowsAtHand, scores: FloatArray, at_threshold: float | None
) -> calibration.Calibration:
    """Return how probabilities are made of these scores, fitted to the rows or a sample."""
    index, weight = sample_for_choice(rows.positive, rows.weight, FIRST_ROWS)
    sample = rows.positive[index], scores[index], weight
    return calibration.from_scores(*sample, rows.name, at_threshold)
