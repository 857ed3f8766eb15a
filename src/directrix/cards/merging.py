r"""Which bins of a card are merged first: those where the card itself says that it matters least.

With the log-odds t of a card and the curvature q = p (1 − p) of its probabilities, a card of other
points b is at the distance

.. math:: \tfrac12 \sum_i q_i (t_i - s_i(b))^2 = \tfrac12 (b - \hat b)^\top M (b - \hat b),
          \qquad M = X^\top Q X - \frac{m m^\top}{\sum q},\quad m = X^\top q

where X has an indicator for every cell, and the intercept follows. Ties :math:`C b = 0` cost

.. math:: \tfrac12 (C b)^\top (C S C^\top)^{-1} (C b), \qquad S = M^{-1}

if all other points follow. So groups of cells are merged one after another: that with the lowest
cost for each line saved first. One path has a card of every size, and a column is gone when its
last two groups are merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dger

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, Cross
from directrix.cards.card_printing import line_groups
from directrix.cards.prior import CellKinds
from directrix.fit.directions import Direction

#: Atoms of all columns at most, or so many for each column beside its missing and special values if
#: that is more: cells of almost equal points are merged before the path begins. Fewer than two for
#: each would leave out columns before the path can compare them.
_MOST_ATOMS, _OF_EACH = 150, 2
#: Crosses that the path begins with at most, the strongest, and rows and columns of each.
_MOST_CROSSES, _GRID = 12, 3
#: Added to the curvature of each atom, in rows: constants of a column have none.
_SLIGHT = 1e-2
#: Rows whose curvature is measured; rows are in the order of their keys, which is random.
_CURVATURE_ROWS, _BLOCK = 10_000, 2_048
#: Levels are merged with so many neighbours in the order of their points, if they are many.
_REACH, _FEW_LEVELS = 3, 12
#: Share of the slots of groups below which those of groups that are gone are removed.
_KEPT = 0.8


# ── Atoms: what the path begins with ──────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Grid:
    """A cross as a few rows and columns.

    ``columns`` are the positions of both columns. ``index`` has, for each cell of either column,
    its row or column in ``atoms``. ``ordered`` are the rows and the columns whose neighbours may be
    merged; others, such as missing, may be merged with any.
    """

    columns: tuple[int, int]
    index: tuple[IntArray, IntArray]
    ordered: tuple[list[int], list[int]]
    atoms: IntArray


@dataclass(frozen=True)
class Atoms:
    """The finest groups of cells that a card is merged from.

    ``cells`` has, for each column, the atom of each of its cells, −1 for cells without rows.
    ``lines`` has, for each column, its atoms in an order that merged groups keep. ``loose`` are the
    atoms of levels, missing and special values, which may be merged with any of their column.
    ``own`` are those that are merged only when their column is left out: of missing values, and of
    cells that were stated. ``more`` are the printed lines of each column beside those of its atoms,
    of cells without rows.
    """

    cells: tuple[IntArray, ...]
    lines: tuple[list[int], ...]
    loose: tuple[list[int], ...]
    grids: tuple[Grid, ...]
    count: int
    own: tuple[list[int], ...] = ()
    more: tuple[int, ...] = ()

    def of_rows(self, cells: IntArray) -> IntArray:
        """Return the atoms of rows, of shape (columns and grids, n)."""
        columns = [of_column[cells[:, k]] for k, of_column in enumerate(self.cells)]
        grids = [
            grid.atoms[grid.index[0][cells[:, i]], grid.index[1][cells[:, j]]]
            for grid in self.grids
            for i, j in [grid.columns]
        ]
        return np.array([*columns, *grids], dtype=np.int64)

    @classmethod
    def of(
        cls,
        card: Card,
        kinds: Sequence[CellKinds],
        directions: Sequence[Direction],
        cells: IntArray,
        curvature: FloatArray,
        most: int = _MOST_ATOMS,
        grid: int = _GRID,
    ) -> Atoms:
        """Merge cells of almost equal points, and crosses to small grids.

        The points of ``card`` are log-odds; ``cells`` and ``curvature`` are those of the teacher's
        training rows. ``most`` is the largest number of atoms of columns, if they are few, and
        ``grid`` that of rows and columns of a cross.
        """
        weights = [
            np.bincount(cells[:, k], curvature, of.n_cells).astype(np.float64)
            for k, of in enumerate(kinds)
        ]
        points = [of_column.astype(np.float64).copy() for of_column in card.columns]
        parts = []
        for cross in card.crosses:
            rows, columns, inner = _interaction(cross.points, cross.weights(cells, curvature))
            for k, side, moved in zip(cross.columns, cross.merged, (rows, columns), strict=True):
                points[k] += moved[side]
            parts.append((cross, *inner))
        parts.sort(key=lambda part: -float((part[2] * part[1] ** 2).sum()))
        kept = parts[:_MOST_CROSSES]
        return cls.of_points(points, weights, kinds, directions, kept, most, grid)

    @classmethod
    def of_points(
        cls,
        points: Sequence[FloatArray],
        weights: Sequence[FloatArray],
        kinds: Sequence[CellKinds],
        directions: Sequence[Direction] = (),
        crosses: Sequence[tuple[Cross, FloatArray, FloatArray]] = (),
        most: int = _MOST_ATOMS,
        grid: int = _GRID,
    ) -> Atoms:
        """Return atoms of columns with these points, and of the interactions of crosses.

        ``crosses`` come with their points less what adds up, and with the curvature of their cells.
        """
        rising = {direction.column: direction.rising for direction in directions}
        chains, loose = [], []
        for k, (of_column, weight) in enumerate(zip(kinds, weights, strict=True)):
            line = np.arange(of_column.ordered.start, of_column.ordered.stop)
            line = rising.get(k, line)
            held = np.flatnonzero(weight > 0)
            alone = np.setdiff1d(held, line)
            line = line[np.isin(line, held)]
            if not len(line):  # levels: neighbours in the order of their points
                line = alone[np.argsort(points[k][alone], kind="stable")]
                alone = alone[:0]
            chains.append(line)
            loose.append(alone)
        room = max(most - sum(map(len, loose)), _OF_EACH * len(chains))
        stated = [
            np.isin(line, [0, *of.stated_cells]) for line, of in zip(chains, kinds, strict=True)
        ]
        starts = _nearly_equal(chains, points, weights, room, stated)
        of_cell, lines, free, own, more, count = [], [], [], [], [], 0
        for k, (chain, first) in enumerate(zip(chains, starts, strict=True)):
            numbers = np.full(kinds[k].n_cells, -1, dtype=np.int64)
            numbers[chain] = count + np.cumsum(first) - 1
            n_line = int(first.sum())
            numbers[loose[k]] = count + n_line + np.arange(len(loose[k]))
            every = list(range(count, count + n_line + len(loose[k])))
            keeps_order = k in rising or kinds[k].n_ordered
            lines.append(every[:n_line] if keeps_order else [])
            free.append(every[n_line:] if keeps_order else every)
            of_cell.append(numbers)
            alone = numbers[[0, *kinds[k].stated_cells]]
            own.append(np.unique(alone[alone >= 0]).tolist())
            more.append(_lines_without_rows(kinds[k], numbers, weights[k]))
            count += len(every)
        grids = []
        for cross, inner, weight in crosses:
            made = _grid(cross, inner, weight, kinds, count, grid)
            if made.atoms.shape != (1, 1):
                grids.append(made)
                count += made.atoms.size
        columns = tuple(of_cell), tuple(lines), tuple(free)
        return cls(*columns, tuple(grids), count, tuple(own), tuple(more))


def _lines_without_rows(kinds: CellKinds, atoms: IntArray, weight: FloatArray) -> int:
    """Count the printed lines of a column that no atom has; a bin has the atom of that before."""
    shown = atoms.astype(np.float64)
    ordered = np.arange(kinds.ordered.start, kinds.ordered.stop)
    if (known := ordered[atoms[ordered] >= 0]).size:
        before = np.searchsorted(known, ordered, side="right") - 1
        shown[ordered] = shown[known[before.clip(0)]]
    n_atoms = len(np.unique(atoms[atoms >= 0]))
    return max(len(line_groups(kinds, shown, weight)) - n_atoms, 0)


def _nearly_equal(
    chains: Sequence[IntArray],
    points: Sequence[FloatArray],
    weights: Sequence[FloatArray],
    most: int,
    stated: Sequence[AnyArray],
) -> list[AnyArray]:
    """Return for each chain of cells which of them begin an atom, of at most so many in all.

    Neighbours are merged in the order of the change of points that this makes, column by column;
    cells that were ``stated`` are not.
    """
    sizes = [len(chain) for chain in chains]
    # Lists: numbers are read and changed one at a time.
    value = np.concatenate([points[k][chain] for k, chain in enumerate(chains)]).tolist()
    weight = np.concatenate([weights[k][chain] for k, chain in enumerate(chains)]).tolist()
    first = np.ones(len(value), dtype=bool)
    alone = np.concatenate(stated).tolist()
    ends = np.cumsum(sizes)
    following, before = list(range(1, len(value) + 1)), list(range(-1, len(value) - 1))
    for end, size in zip(ends.tolist(), sizes, strict=True):
        if size:
            following[end - 1] = before[end - size] = -1
    price = np.full(len(value), np.inf)

    def update(k: int) -> None:
        other = following[k]
        price[k] = np.inf
        if other >= 0 and not (alone[k] or alone[other]):
            both = weight[k] * weight[other] / (weight[k] + weight[other])
            price[k] = both * (value[k] - value[other]) ** 2

    for k in range(len(value)):
        update(k)
    left = len(value)
    while left > max(most, 0) or (left and price.min() == 0.0):
        k = int(price.argmin())
        if not np.isfinite(price[k]):
            break
        other = following[k]
        total = weight[k] + weight[other]
        value[k] += (value[other] - value[k]) * (weight[other] / total)
        weight[k], first[other], price[other] = total, False, np.inf
        following[k] = following[other]
        if following[k] >= 0:
            before[following[k]] = k
        update(k)
        if before[k] >= 0:
            update(before[k])
        left -= 1
    return np.split(first, ends[:-1]) if sizes else []


def _interaction(
    points: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]]:
    """Return what rows and what columns add, and the rest of the points with its weights."""
    rest, rows, columns = points.copy(), np.zeros(len(points)), np.zeros(points.shape[1])
    of_rows, of_columns = weight.sum(axis=1), weight.sum(axis=0)
    for _ in range(4):
        added = (weight * rest).sum(axis=1) / np.where(of_rows > 0, of_rows, 1.0)
        rest, rows = rest - added[:, None], rows + added
        added = (weight * rest).sum(axis=0) / np.where(of_columns > 0, of_columns, 1.0)
        rest, columns = rest - added, columns + added
    return rows, columns, (rest, weight)


def _grid(
    cross: Cross,
    points: FloatArray,
    weight: FloatArray,
    kinds: Sequence[CellKinds],
    start: int,
    most: int,
) -> Grid:
    """Merge rows and columns of a cross, those of the most similar points first."""
    sums = [np.where(weight > 0, points, 0.0) * weight, weight.astype(np.float64)]
    members: list[list[list[int]]] = []
    ordered: list[list[int]] = []
    for k, side, size in zip(cross.columns, cross.merged, points.shape, strict=True):
        inside = side[kinds[k].ordered] if kinds[k].n_ordered else side[1:]
        line = np.unique(inside).tolist()
        rest = np.setdiff1d(np.arange(size), line).tolist()
        members.append([[row] for row in (*line, *rest)])
        ordered.append(list(range(len(line))))
        axis = len(members) - 1
        sums = [part.take([*line, *rest], axis) for part in sums]
    while max(map(len, members)) > most:
        best: tuple[float, int, tuple[int, int]] | None = None
        for axis in (0, 1):
            if len(members[axis]) <= most:
                continue
            pairs = _row_pairs(len(members[axis]), len(ordered[axis]))
            total, held = (part if axis == 0 else part.T for part in sums)
            left, right = np.array(pairs).T
            mean = total / np.where(held > 0, held, 1.0)
            both = held[left] * held[right] / np.maximum(held[left] + held[right], 1e-300)
            price = (both * (mean[left] - mean[right]) ** 2).sum(axis=1)
            index = int(price.argmin())
            if best is None or price[index] < best[0]:
                best = float(price[index]), axis, pairs[index]
        assert best is not None  # noqa: S101 - one axis is longer than a grid
        _, axis, (i, j) = best
        members[axis][i] += members[axis].pop(j)
        if j < len(ordered[axis]):
            ordered[axis].pop()
        for number, part in enumerate(sums):
            moved = part if axis == 0 else part.T
            moved[i] += moved[j]
            sums[number] = np.delete(part, j, axis)
    maps = []
    for axis, side in enumerate(cross.merged):
        row_of = np.zeros(points.shape[axis], dtype=np.int64)
        for number, rows in enumerate(members[axis]):
            row_of[rows] = number
        maps.append(row_of[side])
    shape = len(members[0]), len(members[1])
    atoms = start + np.arange(shape[0] * shape[1]).reshape(shape)
    return Grid(cross.columns, (maps[0], maps[1]), (ordered[0], ordered[1]), atoms)


def _row_pairs(n_rows: int, n_ordered: int) -> list[tuple[int, int]]:
    """Return the rows of a grid that may be merged: neighbours, and loose ones with any."""
    pairs = [(i, i + 1) for i in range(n_ordered - 1)]
    return pairs + [(i, j) for j in range(n_ordered, n_rows) for i in range(j)]


# ── The path: groups of atoms, merged one after another ───────────────────────────────────────────


class Move(NamedTuple):
    """Groups of a grid to be merged, as pairs of slots, and the lines that this saves."""

    left: IntArray
    right: IntArray
    saved: int
    rows: tuple[int, int] | None = None
    axis: int = 0


class _GridState:
    """The rows and columns of a grid that are left; ``slots`` has a group for each cell."""

    def __init__(self, grid: Grid) -> None:
        self.slots = grid.atoms.copy()
        self.n_ordered = [len(grid.ordered[0]), len(grid.ordered[1])]

    @property
    def lines(self) -> int:
        return self.slots.size if self.slots.size > 1 else 0

    def moves(self) -> Iterator[Move]:
        """Yield the merges of two rows or two columns, and of all cells."""
        slots = self.slots
        if slots.size < 2:
            return
        for axis, of_axis in enumerate((slots, slots.T)):
            saved = of_axis.shape[1] if slots.size > 2 else 2
            for i, j in _row_pairs(len(of_axis), self.n_ordered[axis]):
                yield Move(of_axis[i], of_axis[j], saved, (i, j), axis)
        if min(slots.shape) > 1:
            every = slots.ravel()
            first = np.repeat(every[:1], len(every) - 1)
            yield Move(first, every[1:], slots.size)

    def merge(self, move: Move) -> None:
        if move.rows is None:
            self.slots = self.slots[:1, :1]
            return
        _, j = move.rows
        self.slots = np.delete(self.slots, j, move.axis)
        if j < self.n_ordered[move.axis]:
            self.n_ordered[move.axis] -= 1


class _ColumnState:
    """The groups of a column that no pairs of them reduce to two: it is left out as a whole."""

    def __init__(self, column: int, atoms: Sequence[int]) -> None:
        self.column, self.slots = column, np.array(atoms)

    #: Lines of columns are counted with their pairs.
    lines = 0

    def moves(self) -> Iterator[Move]:
        """Yield the merge of all groups."""
        slots = np.unique(self.slots)
        if len(slots) > 1:
            yield Move(np.repeat(slots[:1], len(slots) - 1), slots[1:], len(slots))

    def merge(self, _: Move) -> None:
        self.slots = self.slots[:1]


_State = _GridState | _ColumnState


class _Grids:
    """All grids, and columns that are left out as a whole.

    Their merges are listed by the number of pairs, which are priced together.
    """

    def __init__(self, atoms: Atoms) -> None:
        self.states: list[_State] = [
            *(_GridState(grid) for grid in atoms.grids),
            *(
                _ColumnState(k, [*atoms.lines[k], *atoms.loose[k]])
                for k, own in enumerate(atoms.own)
                if len(own) > 1
            ),
        ]
        self._list_moves()

    @property
    def lines(self) -> int:
        return sum(state.lines for state in self.states)

    def renumber(self, moved: IntArray) -> None:
        """Give groups the slots that they have moved to."""
        for state in self.states:
            state.slots = moved[state.slots]
        self._list_moves()

    def follow(self, kept: int, gone: int) -> None:
        """Take note of a merge of two groups of a column."""
        changed = False
        for state in self.states:
            if isinstance(state, _ColumnState) and (state.slots == gone).any():
                state.slots = np.where(state.slots == gone, kept, state.slots)
                changed = True
        if changed:
            self._list_moves()

    def best(self, b: FloatArray, S: FloatArray) -> tuple[float, tuple[_State, Move] | None]:
        """Return the lowest price of a line saved, and the merge that has it."""
        lowest, best = np.inf, None
        for moves, left, right, saved in self._by_length:
            cross = S[left[:, :, None], right[:, None]]
            V = S[left[:, :, None], left[:, None]] + S[right[:, :, None], right[:, None]]
            V -= cross + cross.transpose(0, 2, 1)
            V += 1e-9 * np.eye(left.shape[1])
            gap = b[left] - b[right]
            price = (gap * np.linalg.solve(V, gap[..., None])[..., 0]).sum(axis=1) / saved
            index = int(price.argmin())
            if price[index] < lowest:
                lowest, best = float(price[index]), moves[index]
        return 0.5 * lowest, best

    def merge(self, state: _State, move: Move) -> list[tuple[int, int]]:
        """Merge groups; return pairs of the group that stays, and the one that is gone."""
        state.merge(move)
        self._list_moves()
        return list(zip(move.left.tolist(), move.right.tolist(), strict=True))

    def _list_moves(self) -> None:
        of_length: dict[int, list[tuple[_State, Move]]] = {}
        for state in self.states:
            for move in state.moves():
                of_length.setdefault(len(move.left), []).append((state, move))
        self._by_length = [
            (
                moves,
                np.array([move.left for _, move in moves]),
                np.array([move.right for _, move in moves]),
                np.array([move.saved for _, move in moves]),
            )
            for moves in of_length.values()
        ]


class _Pairs:
    """Groups of columns that may be merged, two at a time.

    Missing values, and cells that were stated, have lines of their own as long as their column has
    points.
    """

    def __init__(self, atoms: Atoms, points: FloatArray) -> None:
        left, right, block = [], [], []
        self.is_line = np.zeros(atoms.count, dtype=bool)
        self.is_own = np.zeros(atoms.count, dtype=bool)
        for own in atoms.own:
            self.is_own[own] = True
        for k, (line, loose) in enumerate(zip(atoms.lines, atoms.loose, strict=True)):
            self.is_line[line] = True
            pairs = [*pairwise(line), *((o, x) for o in line for x in loose)]
            near = sorted(loose, key=lambda atom: (points[atom], atom))
            reach = _REACH if len(near) > _FEW_LEVELS else len(near)
            pairs += [(x, z) for i, x in enumerate(near) for z in near[i + 1 : i + 1 + reach]]
            left += [x for x, _ in pairs]
            right += [z for _, z in pairs]
            block += [k] * len(pairs)
        self.left, self.right, self.block = (
            np.array(part, dtype=np.int64) for part in (left, right, block)
        )
        self.groups = np.array(
            [len(line) + len(loose) for line, loose in zip(atoms.lines, atoms.loose, strict=True)],
            dtype=np.int64,
        )

        self.more = np.array(atoms.more or (0,) * len(self.groups), dtype=np.int64)

    @property
    def lines(self) -> int:
        return int((self.groups + self.more)[self.groups > 1].sum())

    def renumber(self, moved: IntArray, used: IntArray) -> None:
        """Give groups the slots that they have moved to."""
        self.left, self.right = moved[self.left], moved[self.right]
        self.is_line, self.is_own = self.is_line[used], self.is_own[used]

    def best(self, b: FloatArray, S: FloatArray) -> tuple[float, int]:
        """Return the lowest price of a line saved, and the pair that has it."""
        if not len(self.left):
            return np.inf, -1
        x, z = self.left, self.right
        diagonal = S.diagonal()
        variance = diagonal[x] + diagonal[z] - 2.0 * S[x, z]
        is_last = self.groups[self.block] == 2
        price = (b[x] - b[z]) ** 2 / np.maximum(variance, 1e-12) / np.where(is_last, 2.0, 1.0)
        price[(self.is_own[x] | self.is_own[z]) & ~is_last] = np.inf
        index = int(price.argmin())
        return 0.5 * float(price[index]), index

    def merge(self, index: int) -> tuple[int, int]:
        """Merge a pair; return the group that stays, and the one that is gone."""
        x, z = int(self.left[index]), int(self.right[index])
        if self.is_line[z] and not self.is_line[x]:
            x, z = z, x
        self.groups[self.block[index]] -= 1
        left, right = self.left, self.right
        if self.is_line[x] and not self.is_line[z]:
            # What may be merged with any group is now in one that has its place in the order.
            keep = (left != z) & (right != z)
        else:
            left, right = np.where(left == z, x, left), np.where(right == z, x, right)
            keep = left != right
        self.left, self.right, self.block = left[keep], right[keep], self.block[keep]
        return x, z

    def leave_out(self, column: int) -> None:
        """Merge all groups of a column."""
        keep = self.block != column
        self.left, self.right, self.block = self.left[keep], self.right[keep], self.block[keep]
        self.groups[column] = 1


@dataclass(frozen=True)
class Curvature:
    """The teacher as a parabola in the points of atoms.

    For the indicators X of atoms, the curvature q of rows and their log-odds t, ``gram`` is X'QX,
    ``mass`` is X'q, ``total`` is the sum of q, and ``first`` is X'Qt with the sum of q t as its
    last entry. ``points`` are the points of atoms that are nearest to the teacher. ``inverse`` is
    the inverse of the curvature, the intercept projected out.
    """

    gram: FloatArray
    mass: FloatArray
    total: float
    first: FloatArray
    points: FloatArray
    inverse: FloatArray

    @classmethod
    def of_rows(
        cls, atoms: IntArray, count: int, log_odds: FloatArray, curvature: FloatArray
    ) -> Curvature:
        """Measure the curvature on rows; ``atoms`` has the shape (columns and grids, n)."""
        rows = slice(None, _CURVATURE_ROWS)
        atoms, log_odds, q = atoms[:, rows], log_odds[rows], curvature[rows]
        q = q * (curvature.sum() / q.sum())
        gram, first = np.zeros((count, count)), np.zeros(count)
        for start in range(0, len(q), _BLOCK):
            block = slice(start, start + _BLOCK)
            root = np.sqrt(q[block])
            X = np.zeros((len(root), count))
            X[np.arange(len(X))[:, None], atoms[:, block].T] = root[:, None]
            gram += X.T @ X  # with its transpose a product takes half the time
            first += (root * log_odds[block]) @ X
        mass = gram.diagonal().copy()
        first = np.append(first, float(q @ log_odds))
        return cls.of_sums(gram, mass, float(q.sum()), first)

    @classmethod
    def of_sums(
        cls, gram: FloatArray, mass: FloatArray, total: float, first: FloatArray
    ) -> Curvature:
        """Find the points that are nearest to the teacher."""
        centred = gram - np.outer(mass, mass) / total
        centred[np.diag_indices(len(mass))] += _SLIGHT
        inverse = np.linalg.inv(centred)
        inverse = (inverse + inverse.T) / 2.0
        points: FloatArray = inverse @ (first[:-1] - mass * (first[-1] / total))
        return cls(gram, mass, total, first, points, inverse)


class Groups(NamedTuple):
    """A size of the path: for each atom the atom that its group is named after, and its points."""

    of_atom: IntArray
    points: FloatArray
    lines: int


def merge_path(atoms: Atoms, curvature: Curvature, sizes: Sequence[int]) -> dict[int, Groups]:
    """Merge groups until there are no more lines than the smallest size; return each size.

    A size that is larger than the number of lines at the beginning has all atoms.
    """
    b, S = curvature.points.copy(), np.array(curvature.inverse, order="F")
    group = np.arange(atoms.count)  # of each atom, as a slot of b and S
    name = np.arange(atoms.count)  # of each slot, an atom of its group
    used = np.ones(atoms.count, dtype=bool)  # slots
    pairs, grids = _Pairs(atoms, b), _Grids(atoms)
    left, found = sorted(set(sizes)), {}
    while True:
        lines = pairs.lines + grids.lines
        while left and lines <= left[-1]:
            found[left.pop()] = Groups(name[group], b[group], lines)
        if not left:
            return found
        price, index = pairs.best(b, S)
        of_grids, move = grids.best(b, S)
        if move and of_grids < price:
            ties = grids.merge(*move)
            if isinstance(move[0], _ColumnState):
                pairs.leave_out(move[0].column)
        else:
            ties = [pairs.merge(index)]
            grids.follow(*ties[0])
        for x, z in ties:
            change = S[:, x] - S[:, z]
            variance = change[x] - change[z]
            if variance > 1e-10:
                b -= change * ((b[x] - b[z]) / variance)
                S = dger(-1.0 / variance, change, change, a=S, overwrite_a=True)
            group[group == z], used[z] = x, False
        if used.mean() < _KEPT:  # the slots of groups that are gone
            moved = np.cumsum(used) - 1
            b, group, name = b[used], moved[group], name[used]
            S = np.asfortranarray(S[np.ix_(used, used)])
            pairs.renumber(moved, used)
            grids.renumber(moved)
            used = used[used]
