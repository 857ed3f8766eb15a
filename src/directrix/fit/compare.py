"""Comparison of candidates on rows: by the exact metric, and by what the rows know of it.

Every classifier brings the scores of its candidates here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.criterion import Criterion, with_folds
from directrix.fit.curves import Curves
from directrix.metrics.base import Curve, Metric

# ── What a candidate is: one linear model to choose among, whatever it is made from ───────────────


class LineScores(NamedTuple):
    """Moments of the scores of k lines, shifted so that the mean of the negatives is zero.

    `gap` is the mean score of the positives.
    """

    gap: FloatArray
    var_pos: FloatArray
    var_neg: FloatArray

    @classmethod
    def of(cls, coef: FloatArray, delta: FloatArray, cov_pos: Any, cov_neg: Any) -> LineScores:
        """Return the moments of the scores of lines in rows, without intercepts."""
        variances = (
            np.maximum(np.einsum("pk,kp->k", covariance @ coef.T, coef), 0.0)
            for covariance in (cov_pos, cov_neg)
        )
        return cls(coef @ delta, *variances)

    @property
    def length(self) -> FloatArray:
        """The root of the variance of each line, averaged over both classes; never zero."""
        spread = np.sqrt((self.var_pos + self.var_neg) / 2.0)
        gap = np.where(self.gap == 0.0, 1.0, np.abs(self.gap))
        return np.where(spread > 0.0, spread, gap)


class Candidate(Protocol):
    """A line made from all rows and, fold by fold, from the rows of the other folds.

    Lines are coefficients with the intercept last. `SummaryCandidate` and `RowCandidate` implement
    the protocol. `choose` uses only the name and the complexity; `linear` uses the rest.
    """

    @property
    def name(self) -> str:
        """Name of the candidate in reports."""

    @property
    def complexity(self) -> float:
        """Order of preference among candidates of equal quality: logistic regression has 0."""

    @property
    def curves(self) -> Any:
        """Curves of the held-out scores of the rows."""

    @property
    def line(self) -> FloatArray:
        """The line of all rows, of shape (d + 1,)."""

    @property
    def fold_lines(self) -> Sequence[FloatArray]:
        """For each fold the line made without it; empty if no rows are held out."""

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of these rows: all there are, if the candidate was made from a sample."""


# ── Rules that select a candidate by its loss on held-out rows ────────────────────────────────────


@dataclass(frozen=True)
class OneStandardError:
    """One-standard-error rule: the best of the simplest candidates within one SE of the best.

    `errors[i, j]` is the standard error over folds of the difference between candidates i and j;
    `factor` is how many standard errors a simpler candidate may be behind.
    """

    complexities: FloatArray
    errors: FloatArray
    factor: float = 1.0

    @classmethod
    def of(
        cls, comparison: Comparison, complexities: Sequence[float], factor: float = 1.0
    ) -> OneStandardError:
        """Take the standard errors from a comparison on folds."""
        errors = np.stack([comparison.standard_errors(k) for k in range(len(comparison.values))])
        return cls(np.asarray(complexities, dtype=np.float64), errors, factor)

    def among(self, candidates: IntArray) -> OneStandardError:
        """Return the rule for some of the candidates."""
        errors = self.errors[np.ix_(candidates, candidates)]
        return OneStandardError(self.complexities[candidates], errors, self.factor)

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the selected candidate."""
        best = int(np.argmin(losses))
        within = losses - losses[best] <= self.factor * self.errors[best]
        simplest = np.flatnonzero(self.complexities == self.complexities[within].min())
        return int(simplest[np.argmin(losses[simplest])])


# ── Comparison of candidates on rows ──────────────────────────────────────────────────────────────

#: Rows of each class on which all lines are compared, and on which the best few are: the metrics
#: of two lines differ by far less on the same rows than the metric of one between samples.
FIRST_ROWS, MOST_ROWS = 5_000, 25_000
#: Rows that are scored at a time.
_BLOCK = 1 << 16
#: Difference that counts as a tie, in units of the metric: one row in ten million. All rows of a
#: class with next to no weight may make less of a difference.
_TIE = 1e-7
#: Spread of scores, as a share of the largest, that is nothing but rounding.
_ROUNDING = 1e-13
#: Standard deviations from the centre of a class beyond which scores are clipped.
_REACH = 3.5
#: Distance between the first and the last decile of a normal distribution.
_DECILES_OF_NORMAL = 2.563


class Comparison(NamedTuple):
    """Losses of candidates: the metric at the best threshold, and the criterion that decides.

    Both are negated if greater is better.

    Parameters
    ----------
    values : array of shape (k,)
        The metric on all rows.
    losses : array of shape (k,)
        The mean of the metric's loss on all rows and the mean loss over folds.
    fold_losses : array of shape (k, folds)
    criterion : Criterion
        By what one of them is chosen.
    deciding : array of shape (k,)
        The mean of the criterion on all rows and its mean over folds.
    pooled : array of shape (k,)
        The criterion on all rows.
    fold_deciding : array of shape (k, folds)
    """

    values: FloatArray
    losses: FloatArray
    fold_losses: FloatArray
    criterion: Criterion
    deciding: FloatArray
    pooled: FloatArray
    fold_deciding: FloatArray

    @property
    def best(self) -> int:
        """Index of the candidate that is best by the criterion; among equals the first."""
        return int(np.argmax(self.deciding <= self.deciding.min()))

    def standard_errors(self, reference: int) -> FloatArray:
        """Return the standard error over folds of each candidate's difference to one of them.

        The difference is that of the criterion. It is zero without folds, and widened where rows
        of a class are few.
        """
        differences = self.fold_deciding - self.fold_deciding[reference]
        folds = differences.shape[1]
        if folds < 2:
            return np.zeros(len(self.values))
        error: FloatArray = differences.std(axis=1, ddof=1) * (
            self.criterion.caution / np.sqrt(folds)
        )
        return error


def compare(
    metric: Metric,
    candidates: Sequence[Curves],
    criterion: Criterion | None = None,
    complexities: Sequence[float] | None = None,
) -> Comparison:
    """Return the losses of candidates from their curves; the metric decides if nothing else does.

    With folds, what decides is the mean of two: that of all rows together, and the mean over folds.
    All rows together are the fairer judge, because one threshold must serve them all; but they
    also judge how well the scores of different folds agree. Near ties with the best become ties.
    """
    by = Criterion(metric) if criterion is None else criterion
    values = [best_values(by, each.whole, each.folds) for each in candidates]
    return compare_values(by, values, complexities)


def best_values(criterion: Criterion, whole: Curve, folds: Sequence[Curve]) -> FloatArray:
    """Return the metric at the best threshold and both terms of the criterion.

    Of shape (3, 1 + folds): of all rows first, then of each fold.
    """
    every, n_folds = (whole, *folds), len(folds)
    exact = [criterion.metric.best_value(curve) for curve in every]
    terms = [criterion.terms(curve, n_folds if k else 1) for k, curve in enumerate(every)]
    return np.array([exact, *zip(*terms, strict=True)])


def compare_values(
    criterion: Criterion,
    of_candidates: Sequence[FloatArray],
    complexities: Sequence[float] | None = None,
) -> Comparison:
    """Return the losses of candidates from their `best_values`; near ties become ties."""
    exact, of_metric, ranking = np.stack(of_candidates, axis=-1)
    metric = criterion.metric
    criterion = criterion.learned(of_metric, ranking, complexities)
    deciding = criterion.joined(of_metric, ranking)
    losses = -exact if metric.greater_is_better else exact
    of_losses, of_deciding = with_folds(losses), with_folds(deciding)
    for each in (of_losses, of_deciding):
        each[each <= each.min() + _TIE * metric.unit] = each.min()
    return Comparison(
        exact[0],
        of_losses,
        losses[1:].T,
        criterion,
        of_deciding,
        deciding[0],
        deciding[1:].T,
    )


def scores_of(X: Any, lines: FloatArray) -> FloatArray:
    """Return the scores of rows by lines (intercept last), of shape (n, k).

    In blocks: a product with float32 rows would otherwise convert all of them to float64 at once.
    """
    coef, intercept = lines[:, :-1].T, lines[:, -1]
    scores = np.empty((X.shape[0], len(lines)))
    for start in range(0, X.shape[0], _BLOCK):
        scores[start : start + _BLOCK] = X[start : start + _BLOCK] @ coef
    return scores + intercept


def scaled_lines(
    lines: FloatArray, scores: FloatArray, positive: AnyArray, weight: FloatArray
) -> FloatArray:
    """Put lines on one scale, that of `centre_and_scale`: class means about zero, variance one.

    A threshold of the held-out scores of several lines is then also one of the final line. `scores`
    are those of the training rows, of shape (n, k). Lines that tell no rows apart are
    constant: their slopes are nothing but rounding.
    """
    centre, scale = centre_and_scale(scores, positive, weight)
    moved = lines.copy()
    moved[:, -1] -= centre
    flat = is_flat(scores)
    moved[flat] = 0.0
    scaled: FloatArray = moved / scale[:, None]
    return scaled


def on_one_scale(
    X: Any,
    lines: Sequence[FloatArray],
    positive: AnyArray,
    weight: FloatArray,
    fold: IntArray | None = None,
) -> list[FloatArray]:
    """Put lines on one scale by their training rows; those of all rows come after those of folds.

    Each of `lines` has the shape (k, d + 1).
    """
    scaled = []
    for number, some in enumerate(lines):
        left_out = number if number < len(lines) - 1 else None
        scores = scores_of(X, some)
        rows = slice(None) if left_out is None else np.flatnonzero(fold != left_out)
        scaled.append(scaled_lines(some, scores[rows], positive[rows], weight[rows]))
    return scaled


def centre_and_scale(scores: FloatArray, positive: AnyArray, weight: FloatArray) -> tuple[Any, Any]:
    """Return the midpoint of the class means, and the root mean within-class variance.

    Scores are clipped where a normal class would have none: an outlier among the training rows of
    one line, and not of another, must not set the scale.

    `scores` are those of one line, or of several by column. Rows are in the order of their keys:
    deciles are those of the first.
    """
    means, variances = [], []
    for side in (positive, ~positive):
        values, share = scores[side], weight[side] / weight[side].sum()
        low, high = np.quantile(values[:FIRST_ROWS], [0.1, 0.9], axis=0)
        most = np.where(high > low, _REACH * (high - low) / _DECILES_OF_NORMAL, np.inf)
        centre = (low + high) / 2.0
        values = np.clip(values, centre - most, centre + most)
        means.append(share @ values)
        values -= means[-1]
        variances.append(share @ np.square(values, out=values))
    length = LineScores(means[0] - means[1], *variances).length
    return (means[0] + means[1]) / 2.0, np.where(is_flat(scores), 1.0, length)[()]


def is_flat(scores: FloatArray) -> Any:
    """Return whether scores, of one line or of several by column, are equal up to rounding."""
    low, high = scores.min(axis=0), scores.max(axis=0)
    return high - low <= _ROUNDING * np.maximum(-low, high)


def held_out_scores(X: Any, fold: IntArray, fold_lines: Sequence[FloatArray]) -> FloatArray:
    """Return the scores of rows by lines made without their fold, of shape (n, k)."""
    scores = np.empty((len(fold), len(fold_lines[0])))
    for number, lines in enumerate(fold_lines):
        rows = np.flatnonzero(fold == number)
        scores[rows] = scores_of(X[rows], lines)
    return scores


def first_rows_per_class(positive: AnyArray, most: int) -> IntArray:
    """Return the indices of the first rows of each class, in order.

    If rows are in the order of their keys, this is a random sample of each class, and the same
    one in whatever order the rows were given.
    """
    if len(positive) <= most:
        return np.arange(len(positive))
    keep = np.zeros(len(positive), dtype=bool)
    for side in (positive, ~positive):
        keep[np.flatnonzero(side)[:most]] = True
    return np.flatnonzero(keep)


def rescaled_weights(positive: AnyArray, weight: FloatArray, index: IntArray) -> FloatArray:
    """Return the weights of some rows, scaled so that each class keeps its total weight."""
    kept = weight[index]
    if len(index) == len(positive):
        return kept
    for side in (True, False):
        total, part = weight[positive == side].sum(), kept[positive[index] == side]
        kept[positive[index] == side] = part * (total / part.sum())
    return kept
