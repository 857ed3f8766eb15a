r"""Codings of bins: features that are linear in the cells of a table.

A *cell* is the bin, level or special value that a row falls into in one column. A card has points
for every cell; how far points may differ is a prior, and the coding of a column is its square root:
with :math:`K = B B^\top` the prior covariance of the points of a column's cells, the points are
:math:`B w`, and one ridge on w serves all columns. For ordered bins

.. math:: K = \underbrace{v_J \sum_k g_k\, s_k s_k^\top}_{\text{jumps}} +
          \underbrace{12\, v_S \Bigl(t t^\top + \sum_{k > 1} g_k\, h_k h_k^\top\Bigr)}_{
          \text{a slope and its bends}} +
          \underbrace{v_L\, z z^\top}_{\text{a straight line}}

with shares :math:`g_k` of the distance from the k-th bin to the next that sum to one, the positions
t of the bins on that scale less their mean, the step :math:`s_k` from the k-th bin to the next, the
hinge :math:`h_k` that rises from the k-th bin on, and the standardised column z; fewer than four
bins have jumps only. The penalty of a jump so grows with the number of cuts, and finer bins do not
make a wilder card. Points of levels, of missing values and of special values are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.tables.cuts import weight_of_two_bins

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

#: Prior variances of jumps, bends and the straight line.
JUMPS, BENDS, LINE = 1.0, 1.0, 0.3
#: Share of the distance between neighbouring bins that is the same for all, whatever their rows.
_EVEN = 0.5
#: Ordered bins from which on bends and a straight line are told apart from jumps.
SMOOTH = 4
#: Directions of less than this share of the largest deviation are left out.
_NEGLIGIBLE = 1e-6
#: A level's rate of positives is averaged with so many rows of the overall rate.
_PRIOR_ROWS = 20.0


@dataclass(frozen=True)
class CellKinds:
    """What the cells of a column are.

    Parameters
    ----------
    n_cells : int
    ordered : slice
        The cells that are ordered bins; empty for levels.
    means : array, optional
        Mean of the column in each ordered bin, if it is a number.
    """

    n_cells: int
    ordered: slice
    means: FloatArray | None = None

    @classmethod
    def of(cls, bins: Any) -> CellKinds:
        """Return what the cells of some bins are."""
        if not bins.n_ordered:
            return cls(bins.n_cells, slice(1, 1))
        return cls(bins.n_cells, slice(1, 1 + bins.n_ordered), np.array(bins.means))

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return int(self.ordered.stop - self.ordered.start)


def cell_weights(kinds: CellKinds, cells: IntArray, weight: FloatArray) -> FloatArray:
    """Return the weight of the rows of each cell of a column."""
    return np.bincount(cells, weight, kinds.n_cells).astype(np.float64)


def column_basis(kinds: CellKinds, weight: FloatArray, rank: int, *, centred: bool) -> Any:
    """Return the coding of a column, of shape (cells, directions); sparse if all are levels.

    Parameters
    ----------
    kinds : CellKinds
    weight : array of shape (cells,)
        Weight of the rows of each cell. Cells without rows have no points of their own.
    rank : int
        Directions of a column with ordered bins at most; levels have one each.
    centred : bool
        Whether the points of all rows sum to zero in every direction of a column with ordered
        bins.
    """
    alone = np.ones(kinds.n_cells, dtype=bool)
    alone[kinds.ordered] = False
    alone &= weight > 0
    if not kinds.n_ordered:
        return indicators(alone)
    parts = [indicators(alone).toarray()]
    inside = weight[kinds.ordered]
    if kinds.n_ordered > 1 and inside.sum() > 0:
        share = inside / inside.sum()
        for part in _ordered_parts(share, kinds.means):
            lifted = np.zeros((kinds.n_cells, part.shape[1]))
            # By themselves: a missing value is then next to their mean, not to the first bin.
            lifted[kinds.ordered] = part - share @ part if centred else part
            parts.append(lifted)
    basis = np.hstack(parts)
    if centred and basis.size and weight.sum() > 0:
        basis = basis - (weight @ basis) / weight.sum()
    return _leading(basis, rank)


def straight_basis(kinds: CellKinds, weight: FloatArray) -> Any:
    """Return the coding of a column without bins: its standardised values, and cells by themselves.

    Parameters
    ----------
    kinds : CellKinds
    weight : array of shape (cells,)
    """
    alone = np.ones(kinds.n_cells, dtype=bool)
    alone[kinds.ordered] = False
    basis = indicators(alone & (weight > 0))
    share = weight[kinds.ordered]
    if kinds.means is None or share.sum() == 0:
        return basis
    line = np.zeros((kinds.n_cells, 1))
    line[kinds.ordered, 0] = standardised(kinds.means, share / share.sum())
    return np.hstack([basis.toarray(), line])


def indicators(cells: AnyArray) -> Any:
    """Return a feature for each of some cells, one for the cell itself, as a sparse matrix."""
    index = np.flatnonzero(cells)
    ones = np.ones(len(index))
    places = index, np.arange(len(index))
    return sparse.csr_array((ones, places), shape=(len(cells), len(index)))


def _ordered_parts(share: FloatArray, means: FloatArray | None) -> list[FloatArray]:
    """Return square roots of the prior of ordered bins: jumps, bends and the straight line."""
    bins = len(share)
    gap = distances(share)
    position = np.concatenate([[0.0], np.cumsum(gap)])
    steps = np.tril(np.ones((bins, bins)))[:, 1:]
    parts = [steps * np.sqrt(JUMPS * gap)]
    if bins < SMOOTH:
        return parts
    hinges = np.maximum(0.0, position[:, None] - position[None, 1:-1]) * np.sqrt(gap[1:])
    slope = (position - position.mean())[:, None]
    parts.append(np.hstack([hinges, slope]) * np.sqrt(12.0 * BENDS))
    if means is not None:
        parts.append(standardised(means, share)[:, None] * np.sqrt(LINE))
    return parts


def distances(share: FloatArray) -> FloatArray:
    """Return the distances between neighbouring bins, which sum to one."""
    gap = np.diff(np.cumsum(share) - share / 2.0)
    between: FloatArray = (1.0 - _EVEN) * gap / gap.sum() + _EVEN / len(gap)
    return between


def standardised(means: FloatArray, share: FloatArray) -> FloatArray:
    """Return the means of bins less their mean, over their deviation; zeros if all are equal."""
    # In units near their size: squares of 1e200 overflow. A power of two rounds nothing.
    means = np.ldexp(means, -int(np.frexp(np.abs(means).max())[1]))
    centred = means - float(share @ means)
    spread = float(np.sqrt(share @ np.square(centred)))
    return centred / spread if spread > 0 else np.zeros(len(means))


def _leading(basis: FloatArray, rank: int) -> FloatArray:
    """Return the leading directions of a coding, scaled by their prior deviations."""
    left, size, _ = np.linalg.svd(basis, full_matrices=False)
    if not len(size) or size[0] <= 0:
        return np.zeros((len(basis), 0))
    kept = min(rank, int((size > _NEGLIGIBLE * size[0]).sum()))
    # A direction has no sign of its own: the cell that it moves most gets the positive one.
    largest = np.abs(left[:, :kept]).argmax(axis=0)
    sign = np.where(left[largest, np.arange(kept)] < 0, -1.0, 1.0)
    leading: FloatArray = left[:, :kept] * (sign * size[:kept])
    return leading


def merge_neighbours(weight: FloatArray, most: int) -> IntArray:
    """Return for each of some ordered cells the group it is merged into, of at most `most` groups.

    Groups have about equal weight; a cell of more than two groups' weight counts for two.
    """
    if len(weight) <= most:
        return np.arange(len(weight))
    if not weight.any():  # all rows of the column are in the fold that is left out
        weight = np.ones(len(weight))
    capped = np.minimum(weight, weight_of_two_bins(weight, most)) + 1e-9 * weight.sum()
    middle = (np.cumsum(capped) - capped / 2.0) / capped.sum()
    group: IntArray = np.unique((middle * most).astype(np.int64), return_inverse=True)[1]
    return group


def by_rate(positive: FloatArray, weight: FloatArray) -> IntArray:
    """Return the order of levels by their rate of positives, averaged with the overall rate."""
    total = weight.sum()
    overall = positive.sum() / total if total > 0 else 0.0
    rate = (positive + _PRIOR_ROWS * overall) / (weight + _PRIOR_ROWS)
    return np.argsort(rate, kind="stable")
