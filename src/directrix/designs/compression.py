"""A card in few lines: its points are fitted again to the probabilities of the full card.

The full card is the *teacher*. Its bins are merged along a path that has every size
(`directrix.designs.merging`); the points of a size are fitted to the teacher's probabilities, not
to labels, and whole points are searched in the curvature of that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from directrix.designs.merging import Atoms, Curvature, Grid, Groups, merge_path
from directrix.models.card import Card, Cross
from directrix.tables.coding.prior import cell_weights

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.tables.coding.card_coding import Direction
    from directrix.tables.coding.prior import CellKinds

#: Ridge of the fit to the teacher's probabilities, in rows.
RIDGE = 0.1
#: Steps of that fit at most, and the decrease, in rows, that ends it.
_STEPS, _CONVERGED = 40, 1e-4
#: Units of whole points that are tried, as factors of the finest with which all points fit.
_UNITS = tuple(np.geomspace(1.0, 2.0, 8).tolist())
_CHANGES = 400
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
    each.
    """

    of_atom: IntArray
    groups: IntArray
    block: IntArray
    points: FloatArray
    intercept: float
    hessian: FloatArray


class Compression:
    """Compresses one card: points of groups are those nearest to the teacher's in its curvature.

    ``weights`` has, for each column, the weight of the rows in each of its cells.
    """

    def __init__(
        self,
        atoms: Atoms,
        curvature: Curvature,
        weights: Sequence[FloatArray],
        kinds: Sequence[CellKinds],
        directions: Sequence[Direction],
    ) -> None:
        self.atoms, self.curvature, self.weights = atoms, curvature, weights
        self.kinds, self.directions = kinds, directions
        self._block = np.zeros(atoms.count, dtype=np.int64)
        of_blocks = [*atoms.cells, *(grid.atoms for grid in atoms.grids)]
        for block, of_block in enumerate(of_blocks):
            self._block[of_block[of_block >= 0]] = block
        self._n_blocks = len(of_blocks)

    def path(self, sizes: Sequence[int]) -> dict[int, Groups]:
        """Return the groups of each size."""
        return merge_path(self.atoms, self.curvature, sizes)

    def fitted(self, groups: Groups) -> Fitted:
        """Fit the points of groups to the teacher's probabilities; directions are kept.

        Neighbours whose points would be in the wrong order are merged.
        """
        of_atom = groups.of_atom.copy()
        while True:
            made = self._fitted(of_atom, groups.points)
            wrong = self._out_of_order(made)
            if not wrong:
                return made
            for x, z in wrong:
                of_atom[of_atom == of_atom[z]] = of_atom[x]

    def _fitted(self, of_atom: IntArray, points: FloatArray) -> Fitted:
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
        start = np.append(points[names], 0.0)
        values = self._solved(number, np.flatnonzero(used), hessian, start)
        inner = (
            hessian[:size, :size]
            - np.outer(hessian[:size, size], hessian[size, :size]) / (hessian[size, size])
        )
        return Fitted(of_atom, names, block, values[:size], float(values[size]), inner)

    def _solved(
        self, number: IntArray, blocks: IntArray, hessian: FloatArray, start: FloatArray
    ) -> FloatArray:
        """Return the points of groups that are nearest to the teacher's, and the intercept.

        ``number`` is the group of each atom, and ``blocks`` are the columns and grids that are
        left. A descent begins at ``start``.
        """
        del blocks
        first = np.zeros(len(start))
        np.add.at(first, number[number >= 0], self.curvature.first[:-1][number >= 0])
        first[-1] = self.curvature.first[-1]
        return np.asarray(np.linalg.solve(hessian, first))

    def _out_of_order(self, made: Fitted) -> list[tuple[int, int]]:
        """Return neighbouring atoms whose points fall where they may only rise."""
        place = {int(name): k for k, name in enumerate(made.groups)}
        wrong = []
        for direction in self.directions:
            line = self.atoms.lines[direction.column]
            of_line = [place.get(int(made.of_atom[atom]), -1) for atom in line]
            for x, z, i, j in zip(line, line[1:], of_line, of_line[1:], strict=False):
                if i >= 0 and j >= 0 and made.points[i] > made.points[j]:
                    wrong.append((x, z))
        return wrong

    def whole(self, made: Fitted, largest: int) -> tuple[FloatArray, float]:
        """Return whole points from 0 to the largest, and what one of them is worth."""
        size = len(made.points)
        above, below = np.full(size, -1), np.full(size, -1)
        place = {int(name): k for k, name in enumerate(made.groups)}
        for direction in self.directions:
            line = [place.get(int(made.of_atom[a]), -1) for a in self.atoms.lines[direction.column]]
            line = list(dict.fromkeys(k for k in line if k >= 0))
            above[line[:-1]], below[line[1:]] = line[1:], line[:-1]
        return whole_points(made.points, made.hessian, made.block, largest, (below, above))

    def card(self, made: Fitted, points: FloatArray, intercept: float) -> Card:
        """Return a card with these points for the groups; columns that are gone have none."""
        place = np.full(self.atoms.count, -1)
        place[made.groups] = np.arange(len(made.groups))
        number = place[made.of_atom]
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

    def compact(self, groups: Groups, largest: int | None = None) -> Card:
        """Return the card of a size, with whole points up to the largest if it is given."""
        made = self.fitted(groups)
        if largest is not None:
            points, _ = self.whole(made, largest)
            return self.card(made, points, 0.0)
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
    """Compresses a card with crosses, by the rows it was trained on; see `Compression`."""

    def __init__(
        self, teacher: Teacher, kinds: Sequence[CellKinds], directions: Sequence[Direction] = ()
    ) -> None:
        q, self.teacher = teacher.curvature, teacher
        self._chance = expit(teacher.log_odds)
        atoms = Atoms.of(teacher.card, kinds, directions, teacher.cells, q)
        self.rows = atoms.of_rows(teacher.cells)
        curvature = Curvature.of_rows(self.rows, atoms.count, teacher.log_odds, q)
        weights = [
            cell_weights(of_column, column, teacher.weight)
            for column, of_column in zip(teacher.cells.T, kinds, strict=True)
        ]
        super().__init__(atoms, curvature, weights, kinds, directions)

    def _solved(
        self, number: IntArray, blocks: IntArray, hessian: FloatArray, start: FloatArray
    ) -> FloatArray:
        """Fit to the teacher's probabilities.

        Newton's method with the teacher's curvature, which changes little.
        """
        weight, chance = self.teacher.weight, self._chance
        index = number[self.rows[blocks]]
        size = len(start) - 1
        factor = cho_factor(hessian)
        values = start
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
            step = cho_solve(factor, gradient)
            decrease = float(gradient @ step)
            if decrease > last:
                damping /= 2.0
            last = decrease
            values = values - damping * step
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
    return Compression(atoms, made, weights, kinds, directions)


def _points_of_cells(
    group: IntArray, points: FloatArray, weight: FloatArray, kinds: CellKinds
) -> FloatArray:
    """Return the points of the cells of a column; cells without rows are in a group of others.

    A bin has the points of the bin before it. All else has those nearest to the mean.
    """
    group = group.copy()
    ordered = np.arange(kinds.ordered.start, kinds.ordered.stop)
    known = ordered[group[ordered] >= 0]
    if len(known):
        before = np.clip(np.searchsorted(known, ordered, side="right") - 1, 0, None)
        group[ordered] = group[known[before]]
    filled = group >= 0
    mean = float(weight[filled] @ points[group[filled]]) / float(weight[filled].sum())
    nearest = group[filled][np.argmin(np.abs(points[group[filled]] - mean))]
    of_cells: FloatArray = points[np.where(filled, group, nearest)]
    return of_cells


def _cross(grid: Grid, number: IntArray, points: FloatArray) -> Cross:
    """Return a cross of the rows and columns of a grid that are different."""
    _, rows, row_of = np.unique(number[:, 0], return_index=True, return_inverse=True)
    _, columns, column_of = np.unique(number[0], return_index=True, return_inverse=True)
    # Groups are named after their first row: the order of rows stays.
    order = [np.argsort(np.argsort(index)) for index in (rows, columns)]
    merged = order[0][row_of][grid.index[0]], order[1][column_of][grid.index[1]]
    return Cross(grid.columns, merged, points[number[np.ix_(np.sort(rows), np.sort(columns))]])


def whole_points(
    points: FloatArray,
    hessian: FloatArray,
    block: IntArray,
    largest: int,
    neighbours: tuple[IntArray, IntArray] | None = None,
) -> tuple[FloatArray, float]:
    """Return whole points that are nearest in the curvature, and the unit that they are in.

    For each of several units: rounded points, of which one at a time is changed by one.

    The least points of the groups of one ``block`` are zero. ``neighbours`` has, for each group,
    the one whose points may not be more and the one whose points may not be less; −1 for none.
    """
    if not len(points):
        return points, 1.0
    lowest = np.full(int(block.max()) + 1, np.inf)
    np.minimum.at(lowest, block, points)
    base = points - lowest[block]
    widest = float(base.max())
    if widest <= 0.0:
        return np.zeros(len(points)), 1.0
    units = widest / largest * np.array(_UNITS)[:, None]
    below, above = neighbours or (np.full(len(points), -1), np.full(len(points), -1))
    whole = np.clip(np.rint(base / units), 0.0, largest)
    slope = (whole * units - base) @ hessian
    curve = 0.5 * units**2 * hessian.diagonal()
    every = np.arange(len(units))
    for _ in range(_CHANGES):
        up, down = curve + units * slope, curve - units * slope
        up[(whole >= largest) | ((above >= 0) & (whole >= whole[:, above]))] = np.inf
        down[(whole <= 0.0) | ((below >= 0) & (whole <= whole[:, below]))] = np.inf
        both = np.concatenate([up, down], axis=1)
        index = both.argmin(axis=1)
        better = both[every, index] < -1e-9
        if not better.any():
            break
        group, sign = index % len(points), np.where(index < len(points), 1.0, -1.0)
        whole[every[better], group[better]] += sign[better]
        slope[better] += (sign[:, None] * units * hessian[group])[better]
    off = whole * units - base
    cost = ((off @ hessian) * off).sum(axis=1)
    best = int(cost.argmin())
    lowest = np.full(int(block.max()) + 1, np.inf)
    np.minimum.at(lowest, block, whole[best])
    return whole[best] - lowest[block], float(units[best, 0])
