"""Crosses: pairs of columns whose effects do not add up, found by score tests.

A cross has points for the cells of a small grid of two columns. Pairs are crossed where residuals
of a card without crosses depart in a quadrant of both columns by more than chance explains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

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


# ── Cells of a column in crosses ──────────────────────────────────────────────────────────────────

#: Cells of a column in a cross at most.
_MOST_CELLS = 20


def cross_cells(kinds: CellKinds, weight: FloatArray, positive: FloatArray) -> IntArray:
    """Return for each cell of a column its place in crosses, of at most 20 places and a few.

    Missing values are first, then groups of neighbouring bins, then special values. Many levels are
    merged with those of nearest rates of positives: this looks at labels, so that it must be done
    without the rows that a card is tested on.

    ``weight`` and ``positive`` are the weights of all rows and of the positives in each cell.
    """
    places = np.zeros(kinds.n_cells, dtype=np.int64)
    if kinds.n_ordered:
        inside = np.arange(kinds.ordered.start, kinds.ordered.stop)
    else:  # cell 0 is missing, and all others are levels
        inside = 1 + by_rate(positive[1:], weight[1:])
    groups = merge_neighbours(weight[inside], _MOST_CELLS)
    places[inside] = groups + 1
    others = np.setdiff1d(np.arange(1, kinds.n_cells), inside)
    places[others] = int(groups[-1]) + 2 + np.arange(len(others))
    return places


# ── Quadrants: where the effects of two columns do not add up ─────────────────────────────────────

#: Rounds of taking out what each column explains alone, in turn.
_ROUNDS_OF_CENTRING = 3
#: Least curvature of a quadrant and of the three others: a few rows of the rarer class.
_LEAST_QUADRANT = 0.5
#: Draws under the null hypothesis, and Euler's constant.
_DRAWS, _EULER = 64, 0.5772156649015329
#: Least skewness of a sum that is not taken as symmetric.
_SYMMETRIC = 1e-6
#: Steps of the power method for the order of levels.
_POWERS = 6

#: Orders of the rows and of the columns of a table.
Orders = tuple[IntArray, IntArray]


class Quadrant(NamedTuple):
    """The quadrant of a table in which residuals depart most.

    Its ``statistic`` is about chi-square with one degree of freedom for a quadrant that is given
    beforehand. ``cuts`` are the first row and the first column of the quadrant, in these
    ``orders``.
    """

    statistic: float
    cuts: tuple[int, int]
    orders: Orders


def best_quadrant(
    residual: FloatArray,
    curvature: FloatArray,
    loose: tuple[bool, bool] = (False, False),
    skew: float = 1.0,
) -> Quadrant:
    r"""Return the quadrant of two columns with the largest score test.

    For a quadrant :math:`a \ge i, b \ge k` with shares :math:`\pi_i` and :math:`\pi_k` of the
    curvature H in its rows and columns,

    .. math:: x_{ik} = \frac{\sum_{a \ge i, b \ge k} R^\circ_{ab}}{\sqrt{V_{ik}}}, \qquad
              V_{ik} = \sum_{ab} H_{ab} u_{ab}^2, \quad
              u_{ab} = (1[a \ge i] - \pi_i)\, (1[b \ge k] - \pi_k)

    where :math:`R^\circ` are the residuals less what each column explains alone. V is the variance
    of the sum if the columns are independent, and more if they are not. Sums of few rows are skewed
    by :math:`s = \kappa \sum_{ab} H_{ab} u_{ab}^3 / V^{3/2}`; the test is :math:`z^2` of the normal
    deviate z with :math:`x = z + s (z^2 - 1) / 6` (Cornish and Fisher 1938), so that rare quadrants
    can be tested too.

    ``residual`` and ``curvature`` are sums by pairs of cells, of shape (cells, other cells).
    ``loose`` says whether rows and columns have no order; they are then put in the order of the
    first singular vectors of :math:`R^\circ / \sqrt{H + 1}`. ``skew`` is κ, the mean of 1 − 2 p of
    the rows: 1 for rare events.
    """
    centred = _centred(residual[None], curvature)
    orders = _orders(centred, curvature, loose)
    tests = _quadrant_tests(centred, curvature, orders, skew)[0]
    order = orders[0][0], orders[1][0]
    if not tests.size:
        return Quadrant(0.0, (0, 0), order)
    i, k = np.unravel_index(int(tests.argmax()), tests.shape)
    return Quadrant(float(tests[i, k]), (int(i) + 1, int(k) + 1), order)


class NullDistribution(NamedTuple):
    r"""Gumbel's distribution of the largest test of a table in which effects add up.

    Sums of residuals by cells are drawn with variance H and their skewness,
    :math:`\sqrt{H} z + \kappa (z^2 - 1) / 6`, and the largest of the tests of all quadrants is
    taken. Its mean is the location and γ times the scale; its deviation is
    :math:`\pi / \sqrt{6}` times the scale, which is at least 2, as the tail of chi-square has it.
    """

    location: float
    scale: float

    @classmethod
    def of(
        cls, curvature: FloatArray, loose: tuple[bool, bool] = (False, False), skew: float = 1.0
    ) -> NullDistribution:
        """Draw tables with these curvatures; see `best_quadrant`."""
        H = curvature
        z = np.random.default_rng(0).normal(size=(_DRAWS, *H.shape))
        drawn = _centred(np.where(H > 0, np.sqrt(H) * z + skew * (z**2 - 1.0) / 6.0, 0.0), H)
        tests = _quadrant_tests(drawn, H, _orders(drawn, H, loose), skew)
        largest = tests.reshape(_DRAWS, -1).max(axis=1, initial=0.0)
        scale = max(2.0, float(np.sqrt(6.0) / np.pi * largest.std()))
        return cls(float(largest.mean()) - _EULER * scale, scale)

    def surprise(self, statistic: float) -> float:
        r"""Return :math:`-\log p` of the largest test of a table, which may be below zero."""
        return (statistic - self.location) / self.scale


def _centred(residual: FloatArray, curvature: FloatArray) -> FloatArray:
    """Return residuals, of shape (draws, rows, columns), less what each column explains alone."""
    R, H = residual, curvature
    rows, columns = H.sum(1), H.sum(0)
    left = H / np.where(rows > 0, rows, 1.0)[:, None]
    right = H / np.where(columns > 0, columns, 1.0)
    for _ in range(_ROUNDS_OF_CENTRING):
        R = R - left * R.sum(2)[:, :, None]
        R = R - right * R.sum(1)[:, None]
    return R


def _orders(centred: FloatArray, curvature: FloatArray, loose: tuple[bool, bool]) -> Orders:
    """Return the orders of rows and columns of every draw, of shapes (draws, rows or columns)."""
    n_draws, *shape = centred.shape
    orders = [np.broadcast_to(np.arange(size), (n_draws, size)) for size in shape]
    if any(loose):
        table = centred / np.sqrt(curvature + 1.0)
        norms = np.square(table).sum(axis=2)
        right = table[np.arange(n_draws), norms.argmax(axis=1), :, None]
        for _ in range(_POWERS):
            left = table @ right
            right = table.transpose(0, 2, 1) @ left
            size = np.abs(right).max(axis=1, keepdims=True)
            right = right / np.where(size > 0, size, 1.0)
        for axis, vectors in enumerate((left, right)):
            if loose[axis]:
                orders[axis] = np.argsort(vectors[:, :, 0], axis=1, kind="stable")
    return orders[0], orders[1]


def _quadrant_tests(
    centred: FloatArray, curvature: FloatArray, orders: Orders, skew: float
) -> FloatArray:
    """Return the tests of all quadrants, of shape (draws, rows - 1, columns - 1)."""
    index = np.arange(len(centred))[:, None, None], orders[0][:, :, None], orders[1][:, None]
    R, H = centred[index], curvature[index[1:]]
    corner, inside = (_tails(_tails(part, 1), 2) for part in (R, H))
    total = inside[:, :1, :1]
    above, beyond = inside[:, 1:, :1], inside[:, :1, 1:]
    corner, inside = corner[:, 1:, 1:], inside[:, 1:, 1:]
    share = np.where(total > 0, total, 1.0)
    p, q = above / share, beyond / share

    def moment(k: int) -> FloatArray:
        """Return the sum of curvatures times the k-th powers of u."""
        up, left, down, away = (1.0 - p) ** k, (1.0 - q) ** k, (-p) ** k, (-q) ** k
        rows, columns = up - down, left - away
        made: FloatArray = rows * columns * inside
        made += (rows * above) * away
        made += down * (columns * beyond + away * total)
        return made

    others = np.minimum(np.minimum(above, beyond) - inside, total - above - beyond + inside)
    known = np.minimum(inside, others) >= _LEAST_QUADRANT
    variance = np.where(known, moment(2), 1.0)
    root = np.sqrt(variance)
    deviate = _unskewed(corner / root, skew * moment(3) / (variance * root))
    return np.where(known, deviate**2, 0.0)


def _unskewed(x: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return normal deviates z with x = z + s (z² − 1) / 6, for standardised sums of skewness s."""
    s = np.where(np.abs(skewness) > _SYMMETRIC, skewness, _SYMMETRIC) / 6.0
    root = np.sqrt(np.maximum(1.0 + 4.0 * s * (x + s), 0.0))
    return (root - 1.0) / (2.0 * s)


def _tails(values: FloatArray, axis: int) -> FloatArray:
    """Return sums from each place to the end of an axis."""
    return np.flip(np.cumsum(np.flip(values, axis), axis), axis)


# ── Search for crosses: pairs whose best quadrant departs beyond chance ───────────────────────────

#: Expected share of pairs that do not interact among those that are crossed (false discoveries);
#: if no pair interacts, the probability that any is crossed.
_CHANCE = 0.05
#: Smaller tests are not compared with their distribution: hardly any is beyond chance.
_WORTH_DRAWING = 12.0
#: Pairs are sought among so many columns at most.
_MOST_COLUMNS = 100
#: Pairs that are tested again after the first cross, and rows or columns of a grid at most.
_TESTED_AGAIN, _MOST_GRID = 50, 5
#: Least curvature of each cell of a grid that is cut once more each way.
_LEAST_CURVATURE = 1.0
#: Ridge of the points of the cells of a cross during the search, and rounds of fitting them.
_CELL_RIDGE, _FITS = 3.0, 2
#: Least probability of a class.
_TINY = 1e-9

Pair = tuple[int, int]


class Cuts(NamedTuple):
    """A grid in a table: the first of each of its rows but one, and of its columns, in orders."""

    rows: list[int]
    columns: list[int]
    orders: Orders

    def merged(self, side: int) -> IntArray:
        """Return for each place of one of the columns its row or column in the grid."""
        rank = np.argsort(self.orders[side])
        return np.searchsorted(self[side], rank, side="right")


class CrossGrid(NamedTuple):
    """A cross: two columns, and the row or column in a small grid of each of their cells."""

    pair: Pair
    merged: tuple[IntArray, IntArray]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        return int(self.merged[0].max()) + 1, int(self.merged[1].max()) + 1


@dataclass
class CrossSearch:
    r"""Finds crosses, one after another, in the residuals of a card without them.

    The largest test t of the quadrants of a pair has a probability of
    :math:`p \approx e^{-(t - \mu) / \beta}` if effects add up (`NullDistribution`). After k
    crosses, the pair of least p is crossed if for some j the j-th smallest p of all pairs is at
    most :math:`(k + j)\, \alpha / m`, with m pairs and α = 0.05 (Benjamini and Hochberg 1995): in
    a table without interactions this happens to any pair with probability α, and where many pairs
    interact a little, each needs less.

    A cross is a grid cut at its best quadrant, and once more each way. Its effects are added to the
    card, and all pairs are tested again; a pair that departs again gets the cuts of that quadrant.

    ``places`` has for each column that may be crossed the place in crosses of each of its cells;
    the ``loose`` ones are columns of levels, whose places have no order. ``cells`` of rows are of
    shape (n, columns), and ``chance`` is the probability of the positive class by the card. The
    weights of all rows sum to the effective number of rows.
    """

    places: Mapping[int, IntArray]
    loose: Collection[int]
    cells: IntArray
    positive: AnyArray
    chance: FloatArray
    weight: FloatArray

    def run(self, most: int, least: int = 0) -> list[CrossGrid]:
        """Return so many crosses at most, the first found first.

        The ``least`` first ones need not be beyond chance.
        """
        offset = logit(np.clip(self.chance, _TINY, 1.0 - _TINY))
        self._set_log_odds(offset)
        pairs = self._pairs()
        n_pairs = len(pairs)
        chances: dict[Pair, NullDistribution] = {}
        grids: dict[Pair, Cuts] = {}
        while True:
            tests = {pair: self._test(pair, grids.get(pair)) for pair in pairs}
            pairs = sorted(pairs, key=lambda pair: -tests[pair].statistic)[:_TESTED_AGAIN]
            surprise = {}
            for pair in (each for each in pairs if tests[each].statistic > _WORTH_DRAWING):
                if pair not in chances:
                    chances[pair] = NullDistribution.of(
                        self._tables(pair)[1], self._loose(pair), self._skew
                    )
                surprise[pair] = chances[pair].surprise(tests[pair].statistic)
            best = sorted(surprise, key=lambda pair: -surprise[pair])
            ranks = len(grids) + 1.0 + np.arange(len(best))
            bars = -np.log(_CHANCE * ranks / n_pairs)
            if not any(surprise[pair] > bar for pair, bar in zip(best, bars, strict=True)):
                best = [pair for pair in best if pair not in grids]
                if not best or len(grids) >= least:
                    break
            before = grids.get(best[0])
            if before is None and len(grids) == most:
                break
            cuts = self._with_quadrant(best[0], before, tests[best[0]])
            if before is not None and cuts[:2] == before[:2]:  # the grid has no room for it
                pairs.remove(best[0])
                continue
            grids[best[0]] = cuts
            self._set_log_odds(self._fitted(offset, grids))
        return [self._grid(pair, cuts) for pair, cuts in grids.items()]

    def _pairs(self) -> list[Pair]:
        """Return all pairs of columns; of too many, those whose residuals are largest."""
        used = sorted(self.places)
        if len(used) > _MOST_COLUMNS:
            left = {}
            for k in used:
                residual = np.bincount(self._of_rows[k], self._residual)
                curvature = np.bincount(self._of_rows[k], self._curvature)
                left[k] = float((residual**2 / (curvature + 1.0)).sum())
            used = sorted(sorted(used, key=lambda k: -left[k])[:_MOST_COLUMNS])
        return list(combinations(used, 2))

    @cached_property
    def _of_rows(self) -> dict[int, IntArray]:
        """The place in crosses of every row, by column."""
        return {k: places[self.cells[:, k]] for k, places in self.places.items()}

    def _set_log_odds(self, log_odds: FloatArray) -> None:
        chance = expit(log_odds)
        self._residual = self.weight * (self.positive - chance)
        self._curvature = self.weight * chance * (1.0 - chance)
        total = float(self._curvature.sum())
        self._skew = float(self._curvature @ (1.0 - 2.0 * chance)) / total if total > 0 else 0.0

    def _tables(self, pair: Pair) -> tuple[FloatArray, FloatArray]:
        """Return residuals and curvatures by pairs of places."""
        rows, columns = (int(self.places[k].max()) + 1 for k in pair)
        return self._sums(self._of_rows[pair[0]], self._of_rows[pair[1]], rows, columns)

    def _sums(
        self, left: IntArray, right: IntArray, rows: int, columns: int
    ) -> tuple[FloatArray, FloatArray]:
        number = left * columns + right
        residual, curvature = (
            np.bincount(number, part, rows * columns).astype(np.float64, copy=False)
            for part in (self._residual, self._curvature)
        )
        return residual.reshape(rows, columns), curvature.reshape(rows, columns)

    def _loose(self, pair: Pair) -> tuple[bool, bool]:
        return pair[0] in self.loose, pair[1] in self.loose

    def _test(self, pair: Pair, cuts: Cuts | None) -> Quadrant:
        """Return the best quadrant; that of a grid is in the orders of the grid."""
        tables = self._tables(pair)
        if cuts is None:
            return best_quadrant(*tables, self._loose(pair), self._skew)
        residual, curvature = (table[np.ix_(*cuts.orders)] for table in tables)
        quadrant = best_quadrant(residual, curvature, skew=self._skew)
        return quadrant._replace(orders=cuts.orders)

    def _with_quadrant(self, pair: Pair, before: Cuts | None, quadrant: Quadrant) -> Cuts:
        """Return the cuts of a grid with those of a quadrant; of a new grid once more each way."""
        if before is None:
            orders = quadrant.orders
            ordered = [table[np.ix_(*orders)] for table in self._tables(pair)]
            cuts = [[cut] for cut in quadrant.cuts]
            for axis in (0, 1):
                cuts[axis] = _cut_again(ordered, cuts, axis)
            return Cuts(cuts[0], cuts[1], orders)
        rows, columns = (
            sorted({*cuts, cut}) if len(cuts) + 1 < _MOST_GRID else cuts
            for cuts, cut in zip(before[:2], quadrant.cuts, strict=True)
        )
        return before._replace(rows=rows, columns=columns)

    def _grid(self, pair: Pair, cuts: Cuts) -> CrossGrid:
        left, right = (cuts.merged(side)[self.places[k]] for side, k in enumerate(pair))
        return CrossGrid(pair, (left, right))

    def _fitted(self, log_odds: FloatArray, grids: Mapping[Pair, Cuts]) -> FloatArray:
        """Return log-odds with points for the cells of all grids, each fitted in turn."""
        points, cells = [], []
        for pair, cuts in grids.items():
            left, right = (cuts.merged(side)[self._of_rows[k]] for side, k in enumerate(pair))
            cells.append((left, right))
            points.append(np.zeros((len(cuts.rows) + 1, len(cuts.columns) + 1)))
        for _ in range(_FITS):
            for of_grid, (left, right) in zip(points, cells, strict=True):
                self._set_log_odds(log_odds)
                residual, curvature = self._sums(left, right, *of_grid.shape)
                step = (residual - _CELL_RIDGE * of_grid) / (curvature + _CELL_RIDGE)
                np.add(of_grid, step, out=of_grid)
                log_odds = log_odds + step[left, right]
        return log_odds


def _cut_again(tables: Sequence[FloatArray], cuts: Sequence[list[int]], axis: int) -> list[int]:
    """Return the cuts along an axis and one more, where the cells of the grid depart most."""
    best, most = cuts[axis], 0.0
    for cut in sorted(set(range(1, tables[0].shape[axis])) - set(cuts[axis])):
        tried = list(cuts)
        tried[axis] = sorted([*cuts[axis], cut])
        residual, curvature = (
            np.add.reduceat(np.add.reduceat(sums, [0, *tried[0]], 0), [0, *tried[1]], 1)
            for sums in tables
        )
        if curvature.min() < _LEAST_CURVATURE:
            continue
        departure = float((residual**2 / curvature).sum())
        if departure > most:
            best, most = tried[axis], departure
    return best


# ── Ranking of pairs of columns for crosses, from counts alone ────────────────────────────────────

#: Directions of a column in a cross.
_RANK = 8
#: Most rounds of proportional fitting, and the share of the weight that ends them.
_ROUNDS, _CONVERGED = 50, 1e-6


class PairGain(NamedTuple):
    """Score test of a pair of columns.

    ``first`` and ``second`` are the names of the columns, in the order of the table. ``gain`` is
    the score test of their interaction in standard deviations; it is zero or less if the effects of
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
            residual, curvature = (_merged(part, left[0], right[0]) for part in sums_with(j))
            gain = cross_score(residual, curvature, left[1], right[1])
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


def _coded(bins: Any, cells: AnyArray) -> tuple[IntArray, FloatArray]:
    """Return the place in crosses of each cell of a column, and the coding of the places."""
    weight, positive = cells.sum(axis=0).astype(np.float64), cells[1].astype(np.float64)
    kinds = CellKinds.of(bins)
    if not weight[1:].any():  # a column without values
        return np.zeros(len(weight), dtype=np.int64), np.zeros((1, 0))
    places = cross_cells(kinds, weight, positive)
    n_places = int(places.max()) + 1
    totals = np.bincount(places, weight, n_places).astype(np.float64)
    ordered = int(places[kinds.ordered].max()) if kinds.n_ordered else n_places - 1
    means = None
    if kinds.means is not None:
        # Shares before sums, which would overflow for values of 1e308.
        groups = places[kinds.ordered] - 1
        inner, size = totals[1 : ordered + 1][groups], np.bincount(groups)[groups]
        of_cell = weight[kinds.ordered]
        share = np.where(inner > 0, of_cell / np.where(inner > 0, inner, 1.0), 1 / size)
        means = np.bincount(groups, share * kinds.means, ordered).astype(np.float64)
    of_places = CellKinds(n_places, slice(1, ordered + 1), means)
    return places, column_basis(of_places, totals, _RANK, centred=False)


def _merged(sums: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
    """Return sums by the cells that columns have in crosses."""
    shape = int(left.max()) + 1, int(right.max()) + 1
    merged = np.bincount(
        (left[:, None] * shape[1] + right).ravel(), sums.ravel(), shape[0] * shape[1]
    )
    return merged.astype(np.float64, copy=False).reshape(shape)
