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

Where points may only rise, those of ordered cells are a sum of functions that all rise, with
coefficients that may not be negative: a direction is a bound on coefficients, whatever they are
trained for. With the positions t of the cells, of range one, the distances :math:`g_k` between
neighbours and the same prior variances,

.. math:: \sqrt{v_J g_k}\, 1[t > t_k], \quad
          \sqrt{6 v_S g_k}\, \max(0, t - t_k), \quad
          \sqrt{6 v_S g_k}\, \min(t, t_k), \quad \sqrt{12 v_S}\, t, \quad \sqrt{v_L}\, z

are jumps, bends upwards and downwards, a slope, and the straight line of the column itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.directions import Direction
from directrix.tables.bins import weight_of_two_bins

# ── Codings of bins: features that are linear in the cells of a table ─────────────────────────────

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

    ``ordered`` are the ordered bins, none for levels; ``means`` the mean of the column in each, if
    it is a number; ``missing_cell`` the cell of missing values, 0 unless they are joined with a
    bin; ``weights`` those of the training rows in each cell, if they are known; ``stated_cells``
    have a line of their own on a card.
    """

    n_cells: int
    ordered: slice
    means: FloatArray | None = None
    missing_cell: int = 0
    weights: Sequence[float] = ()
    stated_cells: Sequence[int] = ()

    @classmethod
    def of(cls, bins: Any) -> CellKinds:
        """Return what the cells of some bins are."""
        means = np.array(bins.means) if bins.n_ordered else None
        rest = bins.missing_cell, bins.weights, bins.stated_cells
        return cls(bins.n_cells, slice(1, 1 + bins.n_ordered), means, *rest)

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return int(self.ordered.stop - self.ordered.start)


def cell_weights(kinds: CellKinds, cells: IntArray, weight: FloatArray) -> FloatArray:
    """Return the weight of the rows of each cell of a column."""
    return np.bincount(cells, weight, kinds.n_cells).astype(np.float64)


def column_basis(kinds: CellKinds, weight: FloatArray, rank: int, *, centred: bool) -> Any:
    """Return the coding of a column, of shape (cells, directions); sparse if all are levels.

    Cells without rows have no points of their own. A column with ordered bins has ``rank``
    directions at most, levels one each. ``centred`` makes the points of all rows sum to zero in
    every direction of a column with ordered bins.
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
    """Return the coding of a column without bins: standardised values, and other cells apart."""
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
    square, left = (part[..., ::-1] for part in np.linalg.eigh(basis @ basis.T))
    if not len(square) or square[0] <= 0:
        return np.zeros((len(basis), 0))
    kept = min(rank, int((square > _NEGLIGIBLE**2 * square[0]).sum()))
    # A direction has no sign of its own: the cell that it moves most gets the positive one.
    largest = np.abs(left[:, :kept]).argmax(axis=0)
    sign = np.where(left[largest, np.arange(kept)] < 0, -1.0, 1.0)
    leading: FloatArray = left[:, :kept] * (sign * np.sqrt(square[:kept]))
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
    return np.unique((middle * most).astype(np.int64), return_inverse=True)[1]


# ── Codings of columns whose points may only rise ─────────────────────────────────────────────────

#: Jumps per bend: bends differ less from each other.
_JUMPS_PER_BEND = 3


def directed_basis(
    kinds: CellKinds, weight: FloatArray, rising: IntArray, rank: int
) -> tuple[FloatArray, IntArray]:
    """Return the coding of a column whose points may not fall along some cells, and signs.

    Signs are 1 for coefficients that may not be negative, 0 for those of cells without a direction.
    ``rising`` are the cells in the order in which points may not fall; other cells are by
    themselves. There are ``rank`` jumps at most; neighbouring cells between which there is none
    follow slope and bends.
    """
    alone = np.ones(kinds.n_cells, dtype=bool)
    alone[rising] = False
    free = indicators(alone & (weight > 0)).toarray()
    inside = weight[rising]
    if len(rising) < 2 or not inside.sum() > 0:
        return _centred(free, weight), np.zeros(free.shape[1], dtype=np.int64)
    share = inside / inside.sum()
    functions = _rising_functions(share, _means(kinds, rising), rank)
    lifted = np.zeros((kinds.n_cells, functions.shape[1]))
    lifted[rising] = functions - share @ functions
    signs = np.repeat([0, 1], [free.shape[1], functions.shape[1]])
    return _centred(np.hstack([free, lifted]), weight), signs


def _rising_functions(share: FloatArray, means: FloatArray | None, rank: int) -> FloatArray:
    """Return functions of ordered cells that all rise, of shape (cells, functions)."""
    gap = distances(share)
    position = np.concatenate([[0.0], np.cumsum(gap)])
    parts = [_jumps(share, gap, rank) * np.sqrt(JUMPS)]
    if len(share) >= SMOOTH:
        knots, spread = _knots(share, position, max(rank // _JUMPS_PER_BEND, 2))
        upwards = np.maximum(0.0, position[:, None] - knots)
        downwards = np.minimum(position[:, None], knots)
        parts += [part * np.sqrt(6.0 * BENDS * spread) for part in (upwards, downwards)]
        parts.append(position[:, None] * np.sqrt(12.0 * BENDS))
        if means is not None:
            parts.append(standardised(means, share)[:, None] * np.sqrt(LINE))
    return np.hstack(parts)


def _jumps(share: FloatArray, gap: FloatArray, most: int) -> FloatArray:
    """Return steps between groups of neighbouring cells, with the root of their distances."""
    group = merge_neighbours(share, most + 1)
    steps = (group[:, None] >= np.arange(1, int(group[-1]) + 1)).astype(np.float64)
    # The distance of a step is that of the middles of its groups, so that they sum to one.
    position = np.concatenate([[0.0], np.cumsum(gap)])
    middle = np.bincount(group, position) / np.bincount(group)
    between = np.diff(middle)
    between = between / between.sum() if between.sum() > 0 else between
    return steps * np.sqrt(between)


def _knots(share: FloatArray, position: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return positions at which functions bend, and the share of the range that each stands for."""
    group = merge_neighbours(share, most + 1)
    first = np.flatnonzero(np.diff(group)) + 1
    knots = position[first]
    edges = np.concatenate([[0.0], (knots[1:] + knots[:-1]) / 2.0, [1.0]])
    return knots, np.diff(edges)


def _means(kinds: CellKinds, rising: IntArray) -> FloatArray | None:
    """Return the mean of the column in each cell, in the order that rises; None for levels."""
    if kinds.means is None:
        return None
    means: FloatArray = kinds.means[rising - kinds.ordered.start]
    return means if means[-1] >= means[0] else -means


def _centred(basis: FloatArray, weight: AnyArray) -> FloatArray:
    """Return a coding whose points sum to zero over all rows, in every direction."""
    total = float(weight.sum())
    return basis - (weight @ basis) / total if total > 0 and basis.size else basis


# ── The coding of all columns ─────────────────────────────────────────────────────────────────────


def column_codings(
    kinds: Sequence[CellKinds],
    weights: Sequence[FloatArray],
    rank: int,
    directions: Sequence[Direction] = (),
) -> tuple[list[Any], list[IntArray]]:
    """Return the coding of each column, and the signs of its coefficients.

    ``weights`` are those of the rows of each cell, for each column. ``rank`` is the largest number
    of directions of the coding of a column. ``directions`` are those of columns whose points may
    only rise.
    """
    rising = {direction.column: direction.rising for direction in directions}
    bases: list[Any] = []
    signs: list[IntArray] = []
    for column, (of_column, weight) in enumerate(zip(kinds, weights, strict=True)):
        if column in rising:
            basis, sign = directed_basis(of_column, weight, rising[column], rank)
        else:
            basis = column_basis(of_column, weight, rank, centred=True)
            sign = np.zeros(basis.shape[1], dtype=np.int64)
        bases.append(basis)
        signs.append(sign)
    return bases, signs
