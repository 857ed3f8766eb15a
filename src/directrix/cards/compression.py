"""A card in few lines: its points are fitted again to the probabilities of the full card.

The full card is the *teacher*. Its bins are merged along a path that has every size
(`directrix.cards.merging`); the points of a size are fitted to the teacher's probabilities, not
to labels, and whole points are searched in the curvature of that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, Cross, mean_points
from directrix.cards.merging import Atoms, Curvature, Grid, Groups, merge_path
from directrix.cards.prior import CellKinds, cell_weights
from directrix.fit.directions import Direction

#: Ridge of the fit to the teacher's probabilities, in rows.
RIDGE = 0.1
#: Steps of that fit at most, and the decrease, in rows, that ends it.
_STEPS, _CONVERGED = 40, 1e-4
#: Units of whole points that are tried, as factors of the finest with which all points fit.
_UNITS = tuple(np.geomspace(1.0, 2.0, 8).tolist())
_CHANGES = 400
#: Costs of changes are compared in multiples of one over this, so that rounding breaks no ties.
_FINEST = 2.0**24
#: Least curvature of a row, in its weight.
_LEAST_CURVATURE = 1e-9


# ── The points of a size: fitted to the teacher's probabilities, then made whole ──────────────────


@dataclass(frozen=True)
class Teacher:
    """A full card, and the rows it was trained on.

    ``cells`` of shape (n, columns) are those of the rows, and ``log_odds`` what the card gives them
    for the positive class.
    """

    card: Card
    cells: IntArray
    log_odds: FloatArray
    weight: FloatArray

    @property
    def curvature(self) -> FloatArray:
        """P (1 − p) times the weight of each row, of which no card is certain beyond rounding."""
        chance = expit(self.log_odds)
        return np.asarray(self.weight * np.maximum(chance * (1.0 - chance), _LEAST_CURVATURE))


class Fitted(NamedTuple):
    """Points of groups, and their curvature, the intercept projected out.

    ``groups`` are the atoms that the groups are named after, and ``block`` is the column or grid of
    each. ``fixed`` has the points of groups that are not fitted, and NaN for all others.
    """

    of_atom: IntArray
    groups: IntArray
    block: IntArray
    points: FloatArray
    intercept: float
    hessian: FloatArray
    fixed: FloatArray

    @property
    def is_anchored(self) -> AnyArray:
        """Whether the column or grid of each group has fixed points, which set its zero."""
        return np.isin(self.block, self.block[~np.isnan(self.fixed)])

    def place(self, n_atoms: int) -> IntArray:
        """Return the group of each atom, as a position among the groups; −1 for none."""
        place = np.full(n_atoms, -1)
        place[self.groups] = np.arange(len(self.groups))
        return place[self.of_atom]


class Compression:
    """Compresses one card: points of groups are those nearest to the teacher's in its curvature.

    ``weights`` has, for each column, the weight of the rows in each of its cells. ``chains`` are
    atoms of a column in an order in which points may only rise.
    """

    def __init__(
        self,
        atoms: Atoms,
        curvature: Curvature,
        weights: Sequence[FloatArray],
        kinds: Sequence[CellKinds],
        chains: Sequence[Sequence[int]],
    ) -> None:
        self.atoms, self.curvature, self.weights = atoms, curvature, weights
        self.kinds, self.chains = kinds, chains
        self._block = np.zeros(atoms.count, dtype=np.int64)
        of_blocks = [*atoms.cells, *(grid.atoms for grid in atoms.grids)]
        for block, of_block in enumerate(of_blocks):
            self._block[of_block[of_block >= 0]] = block
        self._n_blocks = len(of_blocks)

    def path(self, sizes: Sequence[int]) -> dict[int, Groups]:
        """Return the groups of each size."""
        return merge_path(self.atoms, self.curvature, sizes)

    def fitted(self, groups: Groups, fixed: FloatArray | None = None) -> Fitted:
        """Fit the points of groups to the teacher's probabilities; directions are kept.

        Neighbours whose points would be in the wrong order are merged. ``fixed`` has the points of
        atoms that are not fitted, and NaN for all others; atoms of a group have the same.
        """
        of_atom = groups.of_atom.copy()
        fixed = np.full(len(of_atom), np.nan) if fixed is None else fixed.copy()
        while True:
            made = self._fitted(of_atom, groups.points, fixed)
            wrong = self._out_of_order(made)
            if not wrong:
                return made
            for x, z in wrong:
                value = fixed[z] if np.isnan(fixed[x]) else fixed[x]
                of_atom[of_atom == of_atom[z]] = of_atom[x]
                fixed[of_atom == of_atom[x]] = value

    def _fitted(self, of_atom: IntArray, points: FloatArray, fixed: FloatArray) -> Fitted:
        """Fit the points of groups, whatever their order."""
        names, number = np.unique(of_atom, return_inverse=True)
        block = self._block[names]
        used = np.bincount(block, minlength=self._n_blocks) > 1
        kept = np.flatnonzero(used[block])
        place = np.full(len(names), -1)
        place[kept] = np.arange(len(kept))
        number = place[number]  # of each atom, −1 in columns that are gone
        names, block, size = names[kept], block[kept], len(kept)
        member = np.zeros((len(of_atom), size))
        member[np.flatnonzero(number >= 0), number[number >= 0]] = 1.0
        base = self.curvature
        hessian = np.empty((size + 1, size + 1))
        hessian[:size, :size] = member.T @ base.gram @ member
        hessian[:size, size] = hessian[size, :size] = member.T @ base.mass
        hessian[size, size] = base.total
        hessian[np.arange(size), np.arange(size)] += RIDGE
        hessian[np.diag_indices(size + 1)] += 1e-9
        of_groups = np.append(fixed[names], np.nan)
        free = np.flatnonzero(np.isnan(of_groups))
        start = np.where(np.isnan(of_groups), np.append(points[names], 0.0), of_groups)
        values = self._solved(number, np.flatnonzero(used), hessian, start, free)
        edge, corner = hessian[:size, size], hessian[size, size]
        inner = hessian[:size, :size] - np.outer(edge, edge) / corner
        intercept = float(values[size])
        return Fitted(of_atom, names, block, values[:size], intercept, inner, of_groups[:-1])

    def _solved(
        self,
        number: IntArray,
        blocks: IntArray,
        hessian: FloatArray,
        start: FloatArray,
        free: IntArray,
    ) -> FloatArray:
        """Return the points of groups that are nearest to the teacher's, and the intercept.

        ``number`` is the group of each atom, and ``blocks`` are the columns and grids that are
        left. A descent begins at ``start``, where all but the entries ``free`` stay.
        """
        del blocks
        first = np.zeros(len(start))
        np.add.at(first, number[number >= 0], self.curvature.first[:-1][number >= 0])
        first[-1] = self.curvature.first[-1]
        if len(free) < len(start):
            held = np.setdiff1d(np.arange(len(start)), free)
            first -= hessian[:, held] @ start[held]
        values = start.copy()
        values[free] = np.linalg.solve(hessian[np.ix_(free, free)], first[free])
        return values

    def _out_of_order(self, made: Fitted) -> list[tuple[int, int]]:
        """Return neighbouring atoms whose points fall where they may only rise."""
        place = made.place(self.atoms.count)
        wrong = []
        for chain in self.chains:
            for x, z in pairwise(chain):
                i, j = place[x], place[z]
                if i >= 0 and j >= 0 and made.points[i] > made.points[j]:
                    wrong.append((x, z))
        return wrong

    def whole(
        self, made: Fitted, largest: int, unit: float | None = None
    ) -> tuple[FloatArray, float]:
        """Return whole points from 0 to the largest, and what one of them is worth.

        That is ``unit``, if it is given; else the best of several.
        """
        size = len(made.points)
        above, below = np.full(size, -1), np.full(size, -1)
        place = made.place(self.atoms.count)
        for chain in self.chains:
            groups = list(dict.fromkeys(k for k in place[list(chain)].tolist() if k >= 0))
            above[groups[:-1]], below[groups[1:]] = groups[1:], groups[:-1]
        return whole_points(made, largest, (below, above), unit)

    def card(self, made: Fitted, points: FloatArray, intercept: float) -> Card:
        """Return a card with these points for the groups; columns that are gone have none."""
        number = made.place(self.atoms.count)
        columns: list[FloatArray] = []
        for k, atoms in enumerate(self.atoms.cells):
            group = np.where(atoms >= 0, number[atoms], -1)
            if not (made.block == k).any():
                columns.append(np.zeros(len(atoms)))
                continue
            columns.append(_points_of_cells(group, points, self.weights[k], self.kinds[k]))
        crosses = []
        for block, grid in enumerate(self.atoms.grids, start=len(columns)):
            if (made.block == block).any():
                crosses.append(_cross(grid, number[grid.atoms], points))
        return Card(intercept, tuple(columns), tuple(crosses))

    def compact(self, groups: Groups) -> Card:
        """Return the card of a size."""
        made = self.fitted(groups)
        points, intercept = made.points.copy(), made.intercept
        mass = np.zeros(self.atoms.count)
        np.add.at(mass, made.of_atom, self.curvature.mass)
        weight = mass[made.groups]
        for block in np.unique(made.block):  # the mean of a column is zero
            inside = made.block == block
            mean = float(weight[inside] @ points[inside]) / float(weight[inside].sum())
            points[inside] -= mean
            intercept += mean
        return self.card(made, points, intercept)


class RowCompression(Compression):
    """Compresses a card with crosses, by the rows it was trained on; see `Compression`.

    ``most`` are limits of `Atoms.of`.
    """

    def __init__(
        self,
        teacher: Teacher,
        kinds: Sequence[CellKinds],
        directions: Sequence[Direction] = (),
        **most: int,
    ) -> None:
        q, self.teacher = teacher.curvature, teacher
        self._chance = expit(teacher.log_odds)
        atoms = Atoms.of(teacher.card, kinds, directions, teacher.cells, q, **most)
        self.rows = atoms.of_rows(teacher.cells)
        curvature = Curvature.of_rows(self.rows, atoms.count, teacher.log_odds, q)
        weights = [
            cell_weights(of_column, column, teacher.weight)
            for column, of_column in zip(teacher.cells.T, kinds, strict=True)
        ]
        super().__init__(atoms, curvature, weights, kinds, chains_of(atoms, directions))

    def _solved(
        self,
        number: IntArray,
        blocks: IntArray,
        hessian: FloatArray,
        start: FloatArray,
        free: IntArray,
    ) -> FloatArray:
        """Fit to the teacher's probabilities.

        Newton's method with the teacher's curvature, which changes little.
        """
        weight, chance = self.teacher.weight, self._chance
        index = number[self.rows[blocks]]
        size = len(start) - 1
        factor = cho_factor(hessian[np.ix_(free, free)])
        values = start.copy()
        scores = values[index].sum(axis=0)
        # The intercept first: points may have another zero than the teacher's.
        values[size] = float(weight @ (self.teacher.log_odds - scores)) / float(weight.sum())
        last, damping = np.inf, 1.0
        for _ in range(_STEPS):
            residual = weight * (expit(values[index].sum(axis=0) + values[size]) - chance)
            gradient = np.empty(size + 1)
            gradient[:size] = RIDGE * values[:size]
            for of_block in index:
                gradient[:size] += np.bincount(of_block, residual, size)
            gradient[size] = residual.sum()
            step = cho_solve(factor, gradient[free])
            decrease = float(gradient[free] @ step)
            if decrease > last:
                damping /= 2.0
            last = decrease
            values[free] -= damping * step
            if decrease < _CONVERGED:
                break
        return values


def compression_of_counts(
    card: Card,
    second: Any,
    prior: float,
    kinds: Sequence[CellKinds],
    directions: Sequence[Direction] = (),
) -> Compression:
    """Return what compresses a card without crosses, from counts of pairs of cells alone.

    The curvature is the same for every row, and points are nearest to the teacher's in it.

    ``second`` has the weight of the rows in each pair of cells, of all columns one after another;
    it is dense or sparse. ``prior`` is the share of positives.
    """
    curvature = prior * (1.0 - prior)
    ends = np.cumsum([of_column.n_cells for of_column in kinds])
    weights = np.split(second.diagonal(), ends[:-1])
    atoms = Atoms.of_points(card.columns, [curvature * part for part in weights], kinds, directions)
    number = np.concatenate(atoms.cells)
    held = np.flatnonzero(number >= 0)
    places = held, number[held]
    member = sparse.csr_array((np.ones(len(held)), places), shape=(len(number), atoms.count))
    points = np.concatenate(card.columns)
    total = curvature * float(weights[0].sum())
    mass = curvature * second.diagonal()
    scores = curvature * (second @ points) + card.intercept * mass
    first = np.append(member.T @ scores, mass @ points + card.intercept * total)
    gram = curvature * (member.T @ sparse.csr_array(second) @ member).toarray()
    made = Curvature.of_sums(gram, member.T @ mass, total, first)
    return Compression(atoms, made, weights, kinds, chains_of(atoms, directions))


def chains_of(atoms: Atoms, directions: Sequence[Direction]) -> list[list[int]]:
    """Return the atoms of each column with a direction, in the order in which points may rise."""
    return [atoms.lines[direction.column] for direction in directions]


def _points_of_cells(
    group: IntArray, points: FloatArray, weight: FloatArray, kinds: CellKinds
) -> FloatArray:
    """Return the points of the cells of a column.

    A bin without rows has the points of the bin before it, and all else the mean of the column.
    """
    group = group.copy()
    ordered = np.arange(kinds.ordered.start, kinds.ordered.stop)
    known = ordered[group[ordered] >= 0]
    if len(known):
        before = np.clip(np.searchsorted(known, ordered, side="right") - 1, 0, None)
        group[ordered] = group[known[before]]
    filled = group >= 0
    made: FloatArray = np.where(filled, points[group], 0.0)
    made[~filled] = mean_points(made, np.where(filled, weight, 0.0))
    return made


def _cross(grid: Grid, number: IntArray, points: FloatArray) -> Cross:
    """Return a cross of the rows and columns of a grid that are different."""
    _, rows, row_of = np.unique(number[:, 0], return_index=True, return_inverse=True)
    _, columns, column_of = np.unique(number[0], return_index=True, return_inverse=True)
    # Groups are named after their first row: the order of rows stays.
    order = [np.argsort(np.argsort(index)) for index in (rows, columns)]
    merged = order[0][row_of][grid.index[0]], order[1][column_of][grid.index[1]]
    return Cross(grid.columns, merged, points[number[np.ix_(np.sort(rows), np.sort(columns))]])


def whole_points(
    made: Fitted, largest: int, neighbours: tuple[IntArray, IntArray], unit: float | None = None
) -> tuple[FloatArray, float]:
    """Return whole points that are nearest in the curvature, and the unit that they are in.

    For each of several units, or the one that is given: rounded points, of which one at a time is
    changed by one.

    The least points of the groups of one column are zero, unless some of them are fixed.
    ``neighbours`` has, for each group, the one whose points may not be more and the one whose
    points may not be less; −1 for none.
    """
    points, hessian, block, fixed = made.points, made.hessian, made.block, made.fixed
    if not len(points):
        return points, 1.0
    anchored, is_fixed = made.is_anchored, ~np.isnan(fixed)
    base = np.where(anchored, points, _from_lowest(points, block))
    widest = float(base.max())
    if unit is None and widest <= 0.0:
        return np.zeros(len(points)), 1.0
    units = (widest / largest * np.array(_UNITS) if unit is None else np.array([unit]))[:, None]
    below, above = neighbours
    lowest = np.where(anchored, -float(largest), 0.0)
    whole = np.clip(np.rint(base / units), lowest, largest)
    whole[:, is_fixed] = np.rint(base / units)[:, is_fixed]
    slope = (whole * units - base) @ hessian
    curve = 0.5 * units**2 * hessian.diagonal()
    every = np.arange(len(units))
    for _ in range(_CHANGES):
        up, down = curve + units * slope, curve - units * slope
        up[is_fixed | (whole >= largest) | ((above >= 0) & (whole >= whole[:, above]))] = np.inf
        down[is_fixed | (whole <= lowest) | ((below >= 0) & (whole <= whole[:, below]))] = np.inf
        both = np.rint(np.concatenate([up, down], axis=1) * _FINEST)
        index = both.argmin(axis=1)
        better = both[every, index] < 0.0
        if not better.any():
            break
        group, sign = index % len(points), np.where(index < len(points), 1.0, -1.0)
        whole[every[better], group[better]] += sign[better]
        slope[better] += (sign[:, None] * units * hessian[group])[better]
    off = whole * units - base
    cost = ((off @ hessian) * off).sum(axis=1)
    best = int(cost.argmin())
    return np.where(anchored, whole[best], _from_lowest(whole[best], block)), float(units[best, 0])


def _from_lowest(points: FloatArray, block: IntArray) -> FloatArray:
    """Return points less the least of their column or grid."""
    lowest = np.full(int(block.max()) + 1, np.inf)
    np.minimum.at(lowest, block, points)
    rest: FloatArray = points - lowest[block]
    return rest
