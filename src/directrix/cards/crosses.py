r"""Crosses: pairs of columns whose effects do not add up, by score tests of cross-fitted residuals.

With the residual :math:`r_i` and the curvature :math:`h_i` of each row at the log-odds of a card
that did not see it, a pair of columns has the tables :math:`R_{ab}` and :math:`H_{ab}`, their sums
by places of both columns. What each column explains alone is taken out of R. For a quadrant Q of
the table the score statistic

.. math:: z_Q = \frac{\bigl(\sum_{ab \in Q} R_{ab}\bigr)^2}{\sum_i h_i\, x_i^2}

is chi-square with one degree of freedom if the effects add up, where x is the indicator of Q with
its rows and columns taken out. The best of all quadrants is judged as the best of a known number of
independent ones, which is larger where the order of levels is found in the table too, and pairs by
Benjamini and Hochberg (1995) at a false discovery rate of five in a hundred. Crosses are taken one
after another, each after the effect of those before, and once more without each fold, with pairs,
orders and cuts of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import chdtrc, expit

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.likelihood import product
from directrix.cards.prior import CellKinds, cell_weights, merge_neighbours

#: Places of a column: that of all cells without an order, or of rare levels, and sixteen others.
_PLACES = 17
#: Quadrants that count as independent, by how many of both columns have no order of their own.
_CUTS = np.array([30.0, 150.0, 700.0])
#: False discovery rate, and crosses at most.
_RATE, _MOST = 0.05, 8
#: Least curvature of each of the four parts that a quadrant makes.
_LEAST = 2.0
#: Pairs that are tested again after each cross; pairs, and rows times pairs, tested in full.
_AGAIN, _MOST_PAIRS, _BUDGET = 40, 2_000, 20_000_000
#: Parts of a column in a cross beside its quadrant.
_PARTS = 3
#: Steps of the power method for the order of levels.
_POWERS = 8
#: Rows of the overall rate that the first effect of a cross is averaged with.
_PRIOR_ROWS = 3.0


class FoundCross(NamedTuple):
    """A pair of columns, and the row or column of the cross that each of their cells is in."""

    columns: tuple[int, int]
    merged: tuple[IntArray, IntArray]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the cross."""
        return int(self.merged[0].max()) + 1, int(self.merged[1].max()) + 1

    def number(self, cells: IntArray) -> IntArray:
        """Return the number of the cell of the cross that each row is in."""
        (i, j), (left, right) = self.columns, self.merged
        made: IntArray = left[cells[:, i]] * self.shape[1] + right[cells[:, j]]
        return made


def indicators_of(crosses: Sequence[FoundCross], cells: IntArray) -> sparse.csr_array:
    """Return an indicator of each cell of each cross, as a sparse matrix of float32."""
    sizes = [rows * columns for rows, columns in (cross.shape for cross in crosses)]
    start = np.concatenate([[0], np.cumsum(sizes)])
    number = [cross.number(cells) + k for cross, k in zip(crosses, start, strict=False)]
    index = np.stack(number, axis=1)
    ends = np.arange(len(cells) + 1) * len(crosses)
    ones = np.ones(index.size, dtype=np.float32)
    return sparse.csr_array((ones, index.ravel(), ends), shape=(len(cells), int(start[-1])))


@dataclass(frozen=True, eq=False)
class CrossSearch:
    """Looks for crosses in rows with these cells.

    ``scores`` are their log-odds by cards that did not see them. ``usable`` says for all rows, and
    for those without each fold, which columns may be crossed.
    """

    cells: IntArray
    kinds: Sequence[CellKinds]
    positive: AnyArray
    weight: FloatArray
    fold: IntArray
    scores: FloatArray
    usable: Mapping[int | None, AnyArray]
    most: int | None = None

    def run(self) -> dict[int | None, list[FoundCross]]:
        """Return the crosses of all rows, and as many without each fold; none if there are none."""
        tried = np.flatnonzero(np.logical_or.reduce(list(self.usable.values())))
        places = {k: self._places(k) for k in tried.tolist()}
        residual, curvature = self.slopes(self.scores, self.weight)
        pairs = np.array(list(combinations(places, 2)), dtype=np.int64).reshape(-1, 2)
        most = _MOST if self.most is None else min(self.most, _MOST)
        if not len(pairs) or not most:
            return {}
        n_pairs, room = len(pairs), min(max(_BUDGET // len(self.cells), 1), _MOST_PAIRS)
        if n_pairs > room:
            pairs = pairs[self._promising(pairs, places, residual, room)]
        tables = np.stack(
            [self.table(places, pair, (residual, curvature)) for pair in pairs.tolist()], axis=1
        )
        whole = tables.sum(axis=2)
        search = _Greedy(self, pairs, n_pairs, places)
        found = search.run(None, whole[0], whole[1], most, only_clear=True)
        if not found:
            return {}
        made: dict[int | None, list[FoundCross]] = {None: found}
        for k in range(int(self.fold.max()) + 1):
            R, H = whole - tables[:, :, k]
            made[k] = search.run(k, R, H, len(found), only_clear=False)
        return made

    def slopes(self, scores: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return residuals and curvatures of rows with these log-odds."""
        chance = expit(scores)
        return weight * (self.positive - chance), weight * chance * (1.0 - chance)

    def _places(self, column: int) -> IntArray:
        """Return the place of each cell of a column; labels are not looked at."""
        kinds = self.kinds[column]
        weight = cell_weights(kinds, self.cells[:, column], self.weight)
        places = np.zeros(kinds.n_cells, dtype=np.int64)
        if kinds.n_ordered:
            places[kinds.ordered] = 1 + merge_neighbours(weight[kinds.ordered], _PLACES - 1)
            return places
        largest = np.argsort(-weight, kind="stable")[: _PLACES - 1]
        places[largest] = 1 + np.arange(len(largest))
        return places

    def table(
        self,
        places: Mapping[int, IntArray],
        pair: Sequence[int],
        values: Sequence[FloatArray],
        rows: AnyArray | None = None,
    ) -> FloatArray:
        """Return sums of values by places of a pair, of each fold; or of some rows together."""
        i, j = pair
        index = places[i][self.cells[:, i]] * _PLACES + places[j][self.cells[:, j]]
        if rows is not None:
            index = index[rows]
            shape: tuple[int, ...] = (_PLACES, _PLACES)
            values = [each[rows] for each in values]
        else:
            index += self.fold * _PLACES**2
            shape = (int(self.fold.max()) + 1, _PLACES, _PLACES)
        size = int(np.prod(shape))
        return np.stack([np.bincount(index, each, size).reshape(shape) for each in values])

    def _promising(
        self,
        pairs: IntArray,
        places: Mapping[int, IntArray],
        residual: FloatArray,
        room: int,
    ) -> IntArray:
        """Return the pairs that products of halves, and of middles and ends, tell most about.

        Without each fold other pairs may be the best: as many of each are looked at.
        """
        position = {column: k for k, column in enumerate(places)}
        contrasts = []
        for column, of_cell in places.items():
            place = of_cell[self.cells[:, column]]
            share = np.bincount(place, self.weight, _PLACES)
            rank = (np.cumsum(share) - share / 2.0) / share.sum()
            contrasts += [np.sign(rank - 0.5)[place], np.sign(np.abs(rank - 0.5) - 0.25)[place]]
        Z = np.stack(contrasts, axis=1).astype(np.float32)
        left, right = (np.vectorize(position.get)(side) * 2 for side in pairs.T)
        parts = []
        for k in range(int(self.fold.max()) + 1):
            rows = np.flatnonzero(self.fold == k)
            parts.append(product(Z[rows].T * residual[rows].astype(np.float32), Z[rows]))
        kept, whole = [], np.sum(parts, axis=0)
        each_has = max(room // (len(parts) + 1), 1)
        for k in (None, *range(len(parts))):
            G = whole if k is None else whole - parts[k]
            score = np.max([np.abs(G[left + a, right + b]) for a in (0, 1) for b in (0, 1)], axis=0)
            kept.append(np.argsort(-score, kind="stable")[:each_has])
        return np.unique(np.concatenate(kept))


@dataclass(frozen=True, eq=False)
class _Greedy:
    """Takes crosses one after another from tables of pairs."""

    search: CrossSearch
    pairs: IntArray
    n_pairs: int
    places: Mapping[int, IntArray]

    def run(
        self, without: int | None, R: FloatArray, H: FloatArray, most: int, *, only_clear: bool
    ) -> list[FoundCross]:
        """Return the best crosses; ``only_clear`` ends with the last that is beyond chance."""
        search, usable = self.search, self.search.usable[without]
        loose = np.array([[not search.kinds[k].n_ordered for k in pair] for pair in self.pairs])
        best = _Quadrants.of(R, H, loose)
        allowed = np.asarray(usable[self.pairs].all(axis=1))
        chance = np.where(allowed, best.chance(loose), 1.0)
        live = np.argsort(chance, kind="stable")[:_AGAIN]
        best, chance, R, H = best.take(live), chance[live], R[live].copy(), H[live].copy()
        rows: AnyArray = search.fold != (-1 if without is None else without)
        scores, found, left = search.scores.copy(), list[FoundCross](), np.ones(len(live), bool)
        while left.any():
            ranked = np.sort(chance[left])
            bars = _RATE * (len(found) + 1 + np.arange(len(ranked))) / self.n_pairs
            k = int(np.argmin(np.where(left, chance, np.inf)))
            if chance[k] >= 1.0 or (only_clear and not (ranked <= bars).any()):
                break
            left[k] = False
            found.append(self._cross(live[k], best, k, H[k], loose[live[k]]))
            if len(found) == most:
                break
            number = found[-1].number(search.cells)
            residual, curvature = search.slopes(scores, search.weight * rows)
            held = np.bincount(number, curvature) + _PRIOR_ROWS
            scores = scores + (np.bincount(number, residual) / held)[number]
            values = search.slopes(scores, search.weight)
            for z in np.flatnonzero(left):
                pair = self.pairs[live[z]].tolist()
                R[z], H[z] = search.table(self.places, pair, values, rows)
            best = _Quadrants.of(R, H, loose[live])
            chance = np.where(allowed[live], best.chance(loose[live]), 1.0)
        return found

    def _cross(
        self, pair: int, best: _Quadrants, k: int, H: FloatArray, loose: AnyArray
    ) -> FoundCross:
        """Return the grid of a quadrant: cut there, at thirds, and after cells without an order."""
        merged = []
        columns = int(self.pairs[pair, 0]), int(self.pairs[pair, 1])
        for axis, column in enumerate(columns):
            order, cut = best.orders[axis][k], int(best.cuts[axis][k])
            weight = H.sum(axis=1 - axis)[order]
            middle = (np.cumsum(weight) - weight / 2.0) / max(float(weight.sum()), 1e-9)
            part = np.minimum((middle * _PARTS).astype(np.int64), _PARTS - 1)
            first = np.append(False, part[1:] != part[:-1])
            first[cut] |= cut > 0
            first[1] |= bool(not loose[axis] and weight[0] > 0)
            group = np.empty(_PLACES, dtype=np.int64)
            group[order] = np.cumsum(first)
            merged.append(group[self.places[column]])
        dense = [np.unique(each, return_inverse=True)[1] for each in merged]
        return FoundCross(columns, (dense[0], dense[1]))


class _Quadrants(NamedTuple):
    """The best quadrant of each of several tables.

    ``cuts`` are its first row and column in the ``orders`` of the places of both columns.
    """

    statistic: FloatArray
    cuts: tuple[IntArray, IntArray]
    orders: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, R: FloatArray, H: FloatArray, loose: AnyArray) -> _Quadrants:
        """Look at all quadrants of tables of residuals and curvatures by places."""
        R = R.copy()
        for _ in range(_PARTS):
            R -= H * (R.sum(axis=2) / (H.sum(axis=2) + 1e-9))[:, :, None]
            R -= H * (R.sum(axis=1) / (H.sum(axis=1) + 1e-9))[:, None, :]
        orders = _orders(R, H, loose)
        index = orders[0][:, :, None], orders[1][:, None, :]
        tables = np.arange(len(R))[:, None, None]
        Q, S = (_from_end(each[tables, *index]) for each in (R, H))
        total = S[:, :1, :1] + 1e-12
        row, column = S[:, :, :1], S[:, :1, :]
        a, b = row / total, column / total
        only_row, only_column, none = row - S, column - S, total - row - column + S
        variance = S * ((1.0 - a) * (1.0 - b)) ** 2 + only_row * ((1.0 - a) * b) ** 2
        variance += only_column * (a * (1.0 - b)) ** 2 + none * (a * b) ** 2
        known = np.minimum(np.minimum(S, none), np.minimum(only_row, only_column)) > _LEAST
        z = np.where(known, Q**2 / np.maximum(variance, 1e-9), 0.0).reshape(len(R), -1)
        best = z.argmax(axis=1)
        return cls(z[np.arange(len(z)), best], (best // _PLACES, best % _PLACES), orders)

    def chance(self, loose: AnyArray) -> FloatArray:
        """Return how likely so large a statistic is if effects add up."""
        made: FloatArray = np.minimum(_CUTS[loose.sum(axis=1)] * chdtrc(1.0, self.statistic), 1.0)
        return made

    def take(self, index: IntArray) -> _Quadrants:
        """Return some of the tables."""
        cuts, orders = (tuple(each[index] for each in part) for part in self[1:])
        return _Quadrants(self.statistic[index], (cuts[0], cuts[1]), (orders[0], orders[1]))


def _orders(R: FloatArray, H: FloatArray, loose: AnyArray) -> tuple[IntArray, IntArray]:
    """Return the order of rows and columns: their own, or that of the leading singular vectors."""
    own = np.broadcast_to(np.arange(_PLACES), R.shape[:2])
    free = np.flatnonzero(loose.any(axis=1))
    if not len(free):
        return own, own
    matrix = R[free] / np.sqrt(H[free] + 1.0)
    right = np.ones((len(free), _PLACES, 1)) + 0.1 * np.arange(_PLACES)[:, None]
    for _ in range(_POWERS):
        left = matrix @ right
        right = matrix.swapaxes(1, 2) @ left
        right /= np.linalg.norm(right, axis=1, keepdims=True) + 1e-300
    orders = own.copy(), own.copy()
    for axis, vector in enumerate((left[:, :, 0], right[:, :, 0])):
        order = np.argsort(vector, axis=1, kind="stable")
        orders[axis][free] = np.where(loose[free, axis, None], order, own[free])
    return orders


def _from_end(tables: FloatArray) -> FloatArray:
    """Return the sums of each quadrant: of all rows and columns from one of each on."""
    made: FloatArray = tables[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
    return made
