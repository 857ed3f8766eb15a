r"""Codings of columns whose points may only rise.

The points of ordered cells are a sum of functions that all rise, with coefficients that may not be
negative: a direction is a bound on coefficients, whatever they are trained for. With the positions
t of the cells, of range one, the distances :math:`g_k` between neighbours and the prior variances
of `directrix.tables.coding.prior`,

.. math:: \sqrt{v_J g_k}\, 1[t > t_k], \quad
          \sqrt{6 v_S g_k}\, \max(0, t - t_k), \quad
          \sqrt{6 v_S g_k}\, \min(t, t_k), \quad \sqrt{12 v_S}\, t, \quad \sqrt{v_L}\, z

are jumps, bends upwards and downwards, a slope, and the straight line of the column itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.tables.coding.prior import (
    BENDS,
    JUMPS,
    LINE,
    SMOOTH,
    CellKinds,
    distances,
    indicators,
    merge_neighbours,
    standardised,
)

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

#: Jumps per bend: bends differ less from each other.
_JUMPS_PER_BEND = 3


class DirectedBasis(NamedTuple):
    """The coding of a column with a direction.

    Parameters
    ----------
    basis : array of shape (cells, directions)
    signs : array of int of shape (directions,)
        1 for coefficients that may not be negative, 0 for those of cells without a direction.
    """

    basis: FloatArray
    signs: IntArray


def directed_basis(
    kinds: CellKinds, weight: FloatArray, rising: IntArray, rank: int
) -> DirectedBasis:
    """Return the coding of a column whose points may not fall along some of its cells.

    Parameters
    ----------
    kinds : CellKinds
    weight : array of shape (cells,)
        Weight of the rows of each cell.
    rising : array of int
        Cells in the order in which points may not fall. Other cells are by themselves.
    rank : int
        Jumps at most; neighbouring cells between which there is none follow slope and bends.
    """
    alone = np.ones(kinds.n_cells, dtype=bool)
    alone[rising] = False
    free = indicators(alone & (weight > 0)).toarray()
    inside = weight[rising]
    if len(rising) < 2 or not inside.sum() > 0:
        return DirectedBasis(_centred(free, weight), np.zeros(free.shape[1], dtype=np.int64))
    share = inside / inside.sum()
    functions = _rising_functions(share, _means(kinds, rising), rank)
    lifted = np.zeros((kinds.n_cells, functions.shape[1]))
    lifted[rising] = functions - share @ functions
    signs = np.repeat([0, 1], [free.shape[1], functions.shape[1]])
    return DirectedBasis(_centred(np.hstack([free, lifted]), weight), signs)


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
    scaled: FloatArray = steps * np.sqrt(between)
    return scaled


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
