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
_TIE = 1e-12
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


def choose(metric: Metric, positive: AnyArray, scores: FloatArray, weight: FloatArray) -> Chosen:
    """Return the candidate of best metric on some rows.

    Parameters
    ----------
    metric : Metric
    positive : array of bool of shape (n,)
    scores : array of shape (n, k)
        Scores of the rows by each of k candidates, of deviation about one.
    weight : array of shape (n,)
    """
    curve = curves(positive, weight)
    values = np.array([metric.best_value(curve(column)) for column in settled(scores).T])
    losses = -values if metric.greater_is_better else values
    return Chosen(int(np.argmax(losses <= losses.min() + _TIE)), values)


def choose_line(
    metric: Metric, X: Any, positive: AnyArray, weight: FloatArray, lines: FloatArray
) -> int:
    """Return which of many lines is best on many rows: all on some rows, the best few on more.

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
        index, weights = sample_for_choice(positive, weight, most)
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


def sample_for_choice(
    positive: AnyArray, weight: FloatArray, most: int
) -> tuple[IntArray, FloatArray]:
    """Return some rows of each class, as many at most, and weights that stand for all.

    One at random of each stretch of rows: whatever order they come in is represented.
    """
    rng = np.random.default_rng(0)
    index, weights = [], []
    for own in (np.flatnonzero(~positive), np.flatnonzero(positive)):
        kept = own
        if len(own) > most:
            ends = np.arange(most + 1) * len(own) // most
            kept = own[ends[:-1] + (rng.random(most) * np.diff(ends)).astype(np.intp)]
        index.append(kept)
        weights.append(weight[kept] * (weight[own].sum() / weight[kept].sum()))
    return np.concatenate(index), np.concatenate(weights)
