"""The choice among candidate lines: the exact metric on rows decides.

One place, for every classifier: whoever has lines brings their scores here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.metrics import Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.metrics import Metric

#: Rows of each class that all candidates are compared on, and those that the best few are. The
#: metrics of two candidates on the same rows differ by far less than each varies between samples.
FIRST_ROWS, MOST_ROWS = 5_000, 25_000
_FEW = 5
_BLOCK = 1 << 16
#: Of the metric's unit: one row in ten million. Where a class weighs next to nothing, all of its
#: rows may be less.
_TIE = 1e-7
_GRID = 2.0**40


class Chosen(NamedTuple):
    """The candidate that the rows prefer.

    Parameters
    ----------
    place : int
        Which one; of equals the first.
    values : array
        Metric of each candidate at its own best threshold.
    """

    place: int
    values: FloatArray


def choose(
    metric: Metric,
    positive: AnyArray,
    scores: FloatArray,
    weight: FloatArray,
    fold: IntArray | None = None,
) -> Chosen:
    """Return the candidate of best metric on some rows.

    With folds, the one with the best sum of the metric of all rows and the mean of those of the
    folds. All rows together are the fairer judge, as one threshold must do for all; but they
    judge the folds' lines by how well their scores agree, too.

    Parameters
    ----------
    metric : Metric
    positive : array of bool of shape (n,)
    scores : array of shape (n, k)
        Scores of the rows by each of k candidates, of deviation about one.
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional
        Of rows held out; each is scored by candidates made without its fold.
    """
    return judge(metric, [curves_of(positive, column, weight, fold) for column in scores.T])


class Curves(NamedTuple):
    """What every threshold would give, of all rows and of each fold; a fold stands for all rows."""

    whole: Curve
    parts: tuple[Curve, ...]


def curves_of(
    positive: AnyArray, scores: FloatArray, weight: FloatArray, fold: IntArray | None
) -> Curves:
    """Sort the scores of a candidate, once for every metric."""
    scores = settled(scores)
    total, parts = float(weight.sum()), []
    for number in () if fold is None else np.unique(fold):
        own = np.flatnonzero(fold == number)
        factor = total / float(weight[own].sum())  # a quota may be a count of all rows
        parts.append(curves(positive[own], factor * weight[own])(scores[own]))
    return Curves(curves(positive, weight)(scores), tuple(parts))


class Compared(NamedTuple):
    """Losses of candidates: the metric at its best threshold, turned so that less is better.

    Parameters
    ----------
    values : array of shape (k,)
        The metric itself, of all rows.
    losses : array of shape (k,)
        What decides: of all rows and the mean of the folds, half each.
    of_folds : array of shape (k, folds)
    """

    values: FloatArray
    losses: FloatArray
    of_folds: FloatArray

    @property
    def best(self) -> int:
        """The candidate of least loss; of equals the first."""
        return int(np.argmax(self.losses <= self.losses.min()))

    def errors(self, other: int) -> FloatArray:
        """Return the standard error over folds of each difference to one candidate; zero of one."""
        differences = self.of_folds - self.of_folds[other]
        folds = differences.shape[1]
        if folds < 2:
            return np.zeros(len(self.losses))
        error: FloatArray = differences.std(axis=1, ddof=1) / np.sqrt(folds)
        return error


def compared(metric: Metric, candidates: Sequence[Curves]) -> Compared:
    """Return the losses of candidates from their curves; equal to a tie is equal."""
    values = np.array([metric.best_value(each.whole) for each in candidates])
    parts = np.array([[metric.best_value(part) for part in each.parts] for each in candidates])
    judged = (values + parts.mean(axis=1)) / 2.0 if parts.size else values
    sign, tie = (-1.0 if metric.greater_is_better else 1.0), _TIE * metric.unit
    losses = sign * judged
    losses[losses <= losses.min() + tie] = losses.min()
    return Compared(values, losses, sign * parts.reshape(len(candidates), -1))


def judge(metric: Metric, candidates: Sequence[Curves]) -> Chosen:
    """Return the candidate of best metric, as `choose` does, from curves."""
    found = compared(metric, candidates)
    return Chosen(found.best, found.values)


def choose_line(
    metric: Metric, X: Any, positive: AnyArray, weight: FloatArray, lines: FloatArray
) -> int:
    """Return which of many lines is best on many rows: all on some rows, the best few on more.

    Rows are in the order of their keys: some are the first of each class.

    Parameters
    ----------
    metric : Metric
    X : array or sparse matrix of shape (n, d)
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    lines : array of shape (k, d + 1)
    """
    left = np.arange(len(lines))
    for most in (FIRST_ROWS, MOST_ROWS):
        index = first_of_classes(positive, most)
        weights = standing_for(positive, weight, index)
        chosen = choose(metric, positive[index], scores_of(X[index], lines[left]), weights)
        if len(index) == len(positive):
            break
        losses = -chosen.values if metric.greater_is_better else chosen.values
        few = np.sort(np.argsort(losses, kind="stable")[:_FEW])
        chosen, left = Chosen(int(np.searchsorted(few, chosen.place)), losses[few]), left[few]
    return int(left[chosen.place])


def curves(positive: AnyArray, weight: FloatArray) -> Callable[[FloatArray], Curve]:
    """Return what makes curves of scores; where weights differ by class alone, it costs half."""
    own = positive.argmax(), positive.argmin()
    factors = float(weight[own[0]]), float(weight[own[1]])
    if np.array_equal(weight, np.where(positive, *factors)):
        return lambda scores: Curve.of(positive, scores).scaled(*factors)
    return lambda scores: Curve.of(positive, scores, weight)


def settled(scores: FloatArray) -> FloatArray:
    """Return scores rounded to 2⁻⁴⁰, so that equal rows tie.

    A matrix product may treat equal rows differently in the last digit, by where they stand.
    """
    rounded: FloatArray = np.rint(scores * _GRID) / _GRID
    return rounded


def scores_of(X: Any, lines: FloatArray) -> FloatArray:
    """Return the scores of rows by lines (intercept last), of shape (n, k).

    In blocks: a product with float32 rows would else turn all of them to float64 at once.
    """
    coef, intercept = lines[:, :-1].T, lines[:, -1]
    scores = np.empty((X.shape[0], len(lines)))
    for start in range(0, X.shape[0], _BLOCK):
        scores[start : start + _BLOCK] = X[start : start + _BLOCK] @ coef
    return scores + intercept


def held_out_scores(X: Any, fold: IntArray, lines_of_folds: Sequence[FloatArray]) -> FloatArray:
    """Return scores of rows by candidates that have not seen them.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    fold : array of int of shape (n,)
    lines_of_folds : sequence of arrays of shape (k, d + 1)
        For each fold the candidates made without it.
    """
    scores = np.empty((X.shape[0], len(lines_of_folds[0])))
    for number, lines in enumerate(lines_of_folds):
        own = np.flatnonzero(fold == number)
        scores[own] = scores_of(X[own], lines)
    return scores


def first_of_classes(positive: AnyArray, most: int) -> IntArray:
    """Return the indices of the first rows of each class, in order.

    Rows that are in the order of their keys are so drawn as by chance, and the same ones in
    whatever order they were given.
    """
    if len(positive) <= most:
        return np.arange(len(positive))
    keep = np.zeros(len(positive), dtype=bool)
    for side in (positive, ~positive):
        keep[np.flatnonzero(side)[:most]] = True
    return np.flatnonzero(keep)


def standing_for(positive: AnyArray, weight: FloatArray, chosen: IntArray) -> FloatArray:
    """Return weights of the chosen rows that add up, in each class, to those of all rows."""
    kept = weight[chosen]
    if len(chosen) == len(positive):
        return kept
    for side in (True, False):
        whole, part = weight[positive == side].sum(), kept[positive[chosen] == side]
        kept[positive[chosen] == side] = part * (whole / part.sum())
    return kept
