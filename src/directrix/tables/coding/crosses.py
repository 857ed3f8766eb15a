"""Crosses: pairs of columns whose effects do not add up, found by a score test.

A cross has points for the cells of a coarse grid of two columns, coded by products of the leading
directions of both. All pairs of columns are ordered by the score test of `cross_score`, on the
residuals of a card without crosses and the curvature of its loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.tables.bins import Bins
from directrix.tables.coding.prior import CellKinds, by_rate, column_basis, merge_neighbours

# ── Score test of a cross: whether the effects of two columns do not add up ───────────────────────


def cross_score(
    residual: FloatArray, curvature: FloatArray, left: FloatArray, right: FloatArray
) -> float:
    r"""Return the score test of a cross; zero if nothing is known of it.

    For sums R and H of residuals and curvatures of an additive card by pairs of cells, and codings
    A and B of both columns, the squared gradient of the cross less its expectation, over its
    deviation:

    .. math:: t = \frac{\sum_{ab} (G_{ab}^2 - E_{ab})}{\sqrt{\sum_{ab} E_{ab}^2}}, \qquad
              G = A^\top R^\circ B,\quad E = (A^2)^\top H\, B^2

    where :math:`R^\circ` is R less what each column explains alone.

    Residuals and curvatures are sums by pairs of cells, of shape (cells, other cells); ``left`` and
    ``right`` are the codings of both columns.
    """
    R, H = residual, curvature
    R = (
        R
        - H * (R.sum(1) / (H.sum(1) + 1.0))[:, None]
        - H * (R.sum(0) / (H.sum(0) + 1.0))
        + H * (R.sum() / (H.sum() + 1.0))
    )
    return score_statistic(left.T @ R @ right, (left**2).T @ H @ right**2)


def score_statistic(gradient: FloatArray, expected: FloatArray) -> float:
    """Return the squares of a gradient less their expectations, over their deviation."""
    deviation = np.sqrt(np.square(expected).sum())
    return float((np.square(gradient) - expected).sum() / deviation) if deviation > 0 else 0.0


# ── Crosses: pairs of columns whose effects do not add up, found by a score test ──────────────────

#: Cells of a column in a cross at most.
_MOST_CELLS = 32
#: Factor of the prior variance of a cross.
_SCALE = 2.0
#: Pairs whose test takes into account what both columns explain alone; others are screened out.
_TESTED = 400
#: Pairs are sought among so many columns at most.
_MOST_COLUMNS = 150


@dataclass(frozen=True)
class CrossColumn:
    """A column as it takes part in crosses.

    ``merged`` is the cell in crosses of each cell of the column, and ``basis`` the coding of these.
    """

    merged: IntArray
    basis: FloatArray

    @classmethod
    def of(
        cls, kinds: CellKinds, weight: FloatArray, positive: FloatArray, rank: int
    ) -> CrossColumn:
        """Merge the cells of a column, and code them.

        Levels are put in the order of their rate of positives: this looks at labels, so that it
        must be done without the rows that a card is tested on.

        ``weight`` and ``positive`` are the weights of all rows and of the positives in each cell;
        the coding has ``rank`` directions at most.
        """
        merged = np.zeros(kinds.n_cells, dtype=np.int64)
        if kinds.n_ordered:
            inside = np.arange(kinds.ordered.start, kinds.ordered.stop)
            means = kinds.means
        else:  # cell 0 is missing, and all others are levels
            inside = 1 + by_rate(positive[1:], weight[1:])
            means = None
        groups = merge_neighbours(weight[inside], _MOST_CELLS)
        merged[inside] = groups + 1
        ordered = int(groups[-1]) + 1
        others = np.setdiff1d(np.arange(1, kinds.n_cells), inside)
        merged[others] = ordered + 1 + np.arange(len(others))
        n_cells = ordered + 1 + len(others)
        totals = np.bincount(merged, weight, n_cells).astype(np.float64)
        if means is not None:
            # Shares before sums, which would overflow for values of 1e308.
            inner, size = totals[1 : ordered + 1][groups], np.bincount(groups)[groups]
            share = np.where(inner > 0, weight[inside] / np.where(inner > 0, inner, 1.0), 1 / size)
            means = np.bincount(groups, share * means, ordered).astype(np.float64)
        merged_kinds = CellKinds(n_cells, slice(1, ordered + 1), means)
        basis = column_basis(merged_kinds, totals, rank, centred=False)
        return cls(merged, basis * _SCALE**0.25)

    @classmethod
    def absent(cls, n_cells: int) -> CrossColumn:
        """Return a column of so many cells that is in no cross."""
        return cls(np.zeros(n_cells, dtype=np.int64), np.zeros((1, 0)))


def rank_pairs(
    columns: Sequence[CrossColumn], cells: IntArray, residual: FloatArray, curvature: FloatArray
) -> list[tuple[int, int]]:
    """Return pairs of columns, the most promising cross first.

    ``cells`` are those in crosses, of every row and column. Residuals are label less probability by
    the additive card, curvatures p (1 − p), both times the row's weight.
    """
    used = [k for k, column in enumerate(columns) if column.basis.shape[1]]
    if len(used) > _MOST_COLUMNS:
        used = _strongest(columns, cells, residual, used)
    pairs = list(combinations(used, 2))
    if len(pairs) > _TESTED:
        pairs = _screened(columns, cells, residual, curvature, used)
    tests = [_score_test(columns, cells, residual, curvature, pair) for pair in pairs]
    order = np.argsort(-np.array(tests), kind="stable")
    return [pairs[k] for k in order]


def _score_test(
    columns: Sequence[CrossColumn],
    cells: IntArray,
    residual: FloatArray,
    curvature: FloatArray,
    pair: tuple[int, int],
) -> float:
    """Return the score test of a cross, less what both columns explain alone."""
    left, right = (columns[k].basis for k in pair)
    shape = len(left), len(right)
    number = cells[:, pair[0]] * shape[1] + cells[:, pair[1]]
    size = shape[0] * shape[1]
    sums = [np.bincount(number, part, size).astype(np.float64) for part in (residual, curvature)]
    return cross_score(sums[0].reshape(shape), sums[1].reshape(shape), left, right)


def _screened(
    columns: Sequence[CrossColumn],
    cells: IntArray,
    residual: FloatArray,
    curvature: FloatArray,
    used: Sequence[int],
) -> list[tuple[int, int]]:
    """Return the pairs of largest score tests, all computed in one product."""
    features = np.hstack([columns[k].basis[cells[:, k]] for k in used]).astype(np.float32)
    starts = np.cumsum([0, *(columns[k].basis.shape[1] for k in used)])
    gradient = features.T @ (features * residual.astype(np.float32)[:, None])
    np.square(features, out=features)
    expected = features.T @ (features * curvature.astype(np.float32)[:, None])
    tests = {}
    for i, j in combinations(range(len(used)), 2):
        block = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        tests[used[i], used[j]] = score_statistic(gradient[block], expected[block])
    return sorted(tests, key=lambda pair: -tests[pair])[:_TESTED]


def _strongest(
    columns: Sequence[CrossColumn], cells: IntArray, residual: FloatArray, used: Sequence[int]
) -> list[int]:
    """Return the columns whose cells have the largest residuals left."""
    left = {
        k: float(
            np.square(
                columns[k].basis.T @ np.bincount(cells[:, k], residual, len(columns[k].basis))
            ).sum()
        )
        for k in used
    }
    return sorted(sorted(used, key=lambda k: -left[k])[:_MOST_COLUMNS])


# ── Ranking of pairs of columns for crosses, from counts alone ────────────────────────────────────

#: Directions of a column in a cross.
_RANK = 8
#: Most rounds of proportional fitting, and the share of the weight that ends them.
_ROUNDS, _CONVERGED = 50, 1e-6


class PairGain(NamedTuple):
    """Score test of a pair of columns.

    first, second: names of the columns, in the order of the table.
    gain: score test of their interaction, in standard deviations: zero or less if the effects of
        both columns add up.
    """

    first: str
    second: str
    gain: float


def rank_pair_gains(
    bins: Sequence[Bins],
    columns: Sequence[int],
    cells: Callable[[int], AnyArray],
    sums: Callable[[int], Callable[[int], tuple[FloatArray, FloatArray]]],
) -> list[PairGain]:
    """Return the score tests of all pairs of some columns, largest first.

    ``cells`` maps a column to the counts of negatives and positives in its cells; ``sums`` maps a
    column to a callable from a later one to the sums of residuals and of curvatures by pairs of
    cells.
    """
    coded = {k: _coded(bins[k], cells(k)) for k in columns}
    gains = []
    for place, i in enumerate(columns):
        sums_with = sums(i)
        for j in columns[place + 1 :]:
            left, right = coded[i], coded[j]
            residual, curvature = (_merged(part, left, right) for part in sums_with(j))
            gain = cross_score(residual, curvature, left.basis, right.basis)
            gains.append(PairGain(bins[i].name, bins[j].name, gain))
    return sorted(gains, key=lambda pair: -pair.gain)


def additive_residuals(tables: AnyArray) -> tuple[FloatArray, FloatArray]:
    r"""Return sums of residuals and curvatures of the additive model of two columns.

    The model :math:`\mathrm{logit}\, p_{ab} = \alpha_a + \beta_b` is fitted by iterative
    proportional fitting (Deming and Stephan 1940): starting from a constant, the expected counts by
    pair, class and cell are scaled in turn to the observed ones. What is left of the residuals is
    tested by `cross_score`.

    ``tables`` of shape (2, cells, other cells) are the counts of negatives and of positives.
    """
    counts = tables.astype(np.float64)
    total = counts.sum(axis=0)
    weight = total.sum()
    share = counts.sum(axis=(1, 2), keepdims=True) / (weight or 1.0)
    expected = share * total
    for _ in range(_ROUNDS):
        for axes in (2, 1):  # rows of each class, then columns of each class
            margin = expected.sum(axis=axes, keepdims=True)
            ratio = counts.sum(axis=axes, keepdims=True) / np.where(margin > 0, margin, 1.0)
            expected = expected * ratio
        sums = expected.sum(axis=0)
        expected = expected * (total / np.where(sums > 0, sums, 1.0))
        off = np.abs(expected.sum(axis=2) - counts.sum(axis=2)).max(initial=0.0)
        if off <= _CONVERGED * weight:
            break
    curvature = expected[0] * expected[1] / np.where(total > 0, total, 1.0)
    return counts[1] - expected[1], curvature


def _coded(bins: Any, cells: AnyArray) -> CrossColumn:
    weight, positive = cells.sum(axis=0).astype(np.float64), cells[1].astype(np.float64)
    if not weight[1:].any():  # a column without values
        return CrossColumn(np.zeros(len(weight), dtype=np.int64), np.zeros((1, 0)))
    return CrossColumn.of(CellKinds.of(bins), weight, positive, _RANK)


def _merged(sums: FloatArray, left: CrossColumn, right: CrossColumn) -> FloatArray:
    """Return sums by the cells that columns have in crosses."""
    shape = len(left.basis), len(right.basis)
    number = left.merged[:, None] * shape[1] + right.merged
    merged = np.bincount(number.ravel(), sums.ravel(), shape[0] * shape[1])
    return merged.astype(np.float64, copy=False).reshape(shape)
