r"""Ranking of pairs of columns for crosses, from counts alone.

In the table of two columns the additive model :math:`\mathrm{logit}\, p_{ab} = \alpha_a + \beta_b`
is fitted by iterative proportional fitting (Deming and Stephan 1940): starting from a constant, the
expected counts by pair, class and cell are scaled in turn to the observed ones. What is left of the
residuals is tested by `cross_score`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.tables.coding.cross_score import cross_score
from directrix.tables.coding.crosses import CrossColumn
from directrix.tables.coding.prior import CellKinds

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.tables.bins import Bins

#: Directions of a column in a cross.
_RANK = 8
#: Most rounds of proportional fitting, and the share of the weight that ends them.
_ROUNDS, _CONVERGED = 50, 1e-6


class PairGain(NamedTuple):
    """Score test of a pair of columns.

    Parameters
    ----------
    first, second : str
        Names of the columns, in the order of the table.
    gain : float
        Score test of their interaction, in standard deviations: zero or less if the effects of both
        columns add up.
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

    Parameters
    ----------
    bins : sequence of NumberBins and LevelBins
    columns : sequence of int
        Columns whose pairs are tested.
    cells : callable
        From the position of a column to the counts of negatives and positives in its cells.
    sums : callable
        From the position of a column to a callable from that of a later one to the sums of
        residuals and of curvatures by pairs of cells.
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
    """Return sums of residuals and curvatures of the additive model of two columns.

    Parameters
    ----------
    tables : array of shape (2, cells, other cells)
        Counts of the negatives and of the positives by pairs of cells.
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
