"""Edits of a card: groups of bins are changed by hand, and all points follow from the full card.

The full card is the *teacher*, as of compact cards (`directrix.cards.compression`): its bins are
the atoms, the lines of an edited card are groups of atoms, and the points of a group are those that
are nearest to the teacher in its curvature. That is one linear solve for the card of all rows and
one for the card made without each fold, so that an edit has its price on held-out rows at once.

All of it can be repeated to nine digits elsewhere, as in a browser: the curvature of a row is one
byte, so that sums of it are exact; points are multiples of 2⁻³², so that scores are exact sums
and tie where they should; and thresholds are compared in the same multiples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, IntegerPoints, PointsToDoubleOdds, Scale
from directrix.cards.compression import Compression, Fitted
from directrix.cards.judged import EditStart
from directrix.cards.merging import Atoms, Curvature, Groups, merge_path
from directrix.cards.prior import CellKinds, cell_weights
from directrix.exceptions.edits import EditError
from directrix.fit.choice import limit_by_order, limit_caution, sizes_of
from directrix.fit.curves import ScoreCurves
from directrix.fit.finish import warn_of
from directrix.fit.gap import Gap
from directrix.fit.guarantee import finite_threshold
from directrix.fit.operating_point import (
    OF_LINES,
    EffectiveCounts,
    Intervals,
    OperatingPoint,
    ranking_variance,
    rates_of,
    square_and_add,
)
from directrix.fit.report import Estimate
from directrix.fit.shares import on_logit_scale, wilson
from directrix.fit.training_rows import Rows
from directrix.metrics import BalancedError
from directrix.metrics.base import Curve, Metric

#: Atoms of all columns at most, if they are few; see `directrix.cards.merging`.
_MOST_ATOMS = 300
#: Points, intercepts, scores and losses are rounded to multiples of one over this.
_GRID = 2.0**32
#: Of the curvature p (1 − p) of a row, which is at most a quarter, as a byte.
_BYTE = 1020.0


def on_grid(values: Any) -> Any:
    """Round to multiples of 2⁻³², of which sums are exact in any order."""
    return np.rint(np.asarray(values) * _GRID) / _GRID


# ── What an editor knows of the rows, and of the full card ────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class EditRows:
    """Rows by their atoms, with the curvature of the teachers of all rows and without each fold.

    ``of_rows``, of shape (blocks, n), are the atoms of rows: of columns, then of crosses. ``curve``
    of shape (1 + folds, n) is the curvature of each row as a byte, zero for rows of the fold that
    a teacher was made without. ``first`` of shape (1 + folds, atoms + 1) has, for each teacher, the
    sums of curvature times log-odds by atom, and of all rows last. ``cell_weights`` are the weights
    of rows by cell of each column. Weights of ``rows`` have a mean of one; ``rows`` have no
    features.
    """

    atoms: Atoms
    rows: Rows
    of_rows: IntArray
    curve: AnyArray
    first: FloatArray
    kinds: Sequence[CellKinds]
    cell_weights: Sequence[FloatArray]

    @classmethod
    def of(
        cls, start: EditStart, kinds: Sequence[CellKinds], atoms: Atoms | None = None
    ) -> EditRows:
        """Count rows; the atoms are by default the cells of the teacher."""
        rows, cards = start.rows, start.cards
        cells, fold = rows.X, rows.fold
        assert fold is not None  # noqa: S101 - an editor refuses rows without folds
        weight = rows.weight / rows.weight.mean()
        odds = np.stack([cards[key].points(cells) for key in (None, *range(len(cards) - 1))])
        chance = expit(odds)
        curve = np.clip(np.rint(_BYTE * chance * (1.0 - chance)), 1, 255).astype(np.uint8)
        for number in range(len(cards) - 1):
            curve[1 + number, fold == number] = 0
        if atoms is None:
            q = curve[0] / _BYTE * weight
            atoms = Atoms.of(cards[None], kinds, (), cells, q, _MOST_ATOMS)
        of_rows = atoms.of_rows(cells)
        first = []
        for part, of_teacher in zip(curve, odds, strict=True):
            moved = part / _BYTE * weight * of_teacher
            sums = [np.bincount(block, moved, atoms.count) for block in of_rows]
            first.append(np.append(np.sum(sums, axis=0), moved.sum()))
        weights = [
            cell_weights(each, column, weight) for each, column in zip(kinds, cells.T, strict=True)
        ]
        kept = rows._replace(X=None, weight=weight)
        return cls(atoms, kept, of_rows, curve, np.array(first), kinds, weights)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.curve) - 1

    @cached_property
    def curvatures(self) -> tuple[Curvature, ...]:
        """The curvature of each teacher, from counts of pairs of atoms."""
        n_blocks, n = self.of_rows.shape
        ends = np.arange(0, n * n_blocks + 1, n_blocks)
        entries = np.ones(n * n_blocks), self.of_rows.T.ravel(), ends
        X = sparse.csr_array(entries, shape=(n, self.atoms.count))
        made: list[Curvature] = []
        for part, first in zip(self.curve, self.first, strict=True):
            q = part.astype(np.float64) * self.rows.weight
            gram = (X.T @ X.multiply(q[:, None]).tocsr()).toarray() / _BYTE
            mass, total = gram.diagonal().copy(), float(q.sum()) / _BYTE
            if made:  # only the card of all rows is merged along a path
                nothing = np.empty(0)
                made.append(Curvature(gram, mass, total, first, nothing, nothing))
            else:
                made.append(Curvature.of_sums(gram, mass, total, first))
        return tuple(made)

    @property
    def blocks(self) -> list[range]:
        """The atoms of each column, then of each cross."""
        ends = [
            *(
                len(lines) + len(loose)
                for lines, loose in zip(self.atoms.lines, self.atoms.loose, strict=True)
            ),
            *(grid.atoms.size for grid in self.atoms.grids),
        ]
        stops = np.cumsum([0, *ends]).tolist()
        return [range(start, stop) for start, stop in pairwise(stops)]

    def start(
        self, n_lines: int | None, directions: Mapping[int, str | tuple[int, ...]]
    ) -> Arrangement:
        """Return the groups of a card of so many lines, by default of all atoms."""
        group = np.arange(self.atoms.count)
        if n_lines is not None and n_lines < self.atoms.count:
            path = merge_path(self.atoms, self.curvatures[0], [n_lines])
            group = named_by_least(path[n_lines].of_atom)
        return Arrangement(group, np.full(len(group), np.nan), directions)

    def chains(self, arrangement: Arrangement) -> list[list[int]]:
        """Return the atoms of each column with a direction, along which log-odds may only rise."""
        made = []
        for index, direction in arrangement.directions.items():
            if isinstance(direction, str):
                line = self.atoms.lines[index]
                made.append(line[::-1] if direction == "decreasing" else line)
            else:
                made.append([self.blocks[index][atom] for atom in direction])
        return made

    def require_order(self, arrangement: Arrangement, kappa: float) -> None:
        """Refuse fixed points that are in the wrong order of a direction."""
        for chain in self.chains(arrangement):
            values = kappa * arrangement.fixed[chain]
            if (np.diff(values[~np.isnan(values)]) < 0).any():
                msg = "fixed points break the direction of the column: free one of them first"
                raise EditError(msg)


@dataclass(frozen=True, eq=False)
class Finer:
    """A column of numbers with more cells: for each of them the cell that it was part of.

    ``begins`` are cells that begin an atom, because a cut is asked for there.
    """

    column: int
    cell_before: IntArray
    begins: frozenset[int]

    def card(self, card: Card) -> Card:
        """Return the same card for the finer cells."""
        columns = list(card.columns)
        columns[self.column] = columns[self.column][self.cell_before]
        crosses = []
        for cross in card.crosses:
            sides = zip(cross.columns, cross.merged, strict=True)
            first, second = (self._side(*side) for side in sides)
            crosses.append(replace(cross, merged=(first, second)))
        return replace(card, columns=tuple(columns), crosses=tuple(crosses))

    def atoms(self, atoms: Atoms, kinds: CellKinds, held: AnyArray) -> tuple[Atoms, IntArray]:
        """Return finer atoms, and for each the atom that it was part of.

        ``kinds`` are the finer cells, and ``held`` says which of them have rows.
        """
        before = atoms.cells[self.column][self.cell_before]
        number, parents, last = np.full(kinds.n_cells, -1), [], None
        ordered = range(kinds.ordered.start, kinds.ordered.stop)
        for cell in (*ordered, *(k for k in range(kinds.n_cells) if k not in ordered)):
            if not held[cell]:
                last = None if cell in self.begins else last
                continue
            is_new = cell not in ordered or last != before[cell] or cell in self.begins
            if is_new and (cell in ordered or before[cell] not in parents):
                parents.append(int(before[cell]))
            number[cell] = len(parents) - 1 if cell in ordered else parents.index(before[cell])
            last = before[cell]
        n_line = len(set(number[[k for k in ordered if held[k]]].tolist()))
        return self._joined(atoms, number, parents, n_line)

    def _joined(
        self, atoms: Atoms, number: IntArray, parents: Sequence[int], n_line: int
    ) -> tuple[Atoms, IntArray]:
        """Renumber the atoms of all columns, with those of this column replaced."""
        start = min([*atoms.lines[self.column], *atoms.loose[self.column]])
        n_before = len(atoms.lines[self.column]) + len(atoms.loose[self.column])
        more = len(parents) - n_before

        def moved(part: Any) -> Any:
            part = np.asarray(part)
            return np.where(part >= start + n_before, part + more, part)

        cells = [moved(part) for part in atoms.cells]
        cells[self.column] = np.where(number >= 0, number + start, -1)
        lines = [moved(part).astype(int).tolist() for part in atoms.lines]
        loose = [moved(part).astype(int).tolist() for part in atoms.loose]
        lines[self.column] = list(range(start, start + n_line))
        loose[self.column] = list(range(start + n_line, start + len(parents)))
        grids = []
        for grid in atoms.grids:
            first, second = (
                self._side(*side) for side in zip(grid.columns, grid.index, strict=True)
            )
            grids.append(replace(grid, index=(first, second), atoms=moved(grid.atoms)))
        parent = [*range(start), *parents, *range(start + n_before, atoms.count)]
        made = Atoms(tuple(cells), tuple(lines), tuple(loose), tuple(grids), atoms.count + more)
        return made, np.array(parent)

    def _side(self, column: int, of_cell: IntArray) -> IntArray:
        return of_cell[self.cell_before] if column == self.column else of_cell


def named_by_least(group: IntArray) -> IntArray:
    """Name each group after its least atom."""
    _, first, number = np.unique(group, return_index=True, return_inverse=True)
    return first[number]


# ── The arrangement of a card: which atoms share a line, and which points are fixed ───────────────


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Lines of a card as groups of atoms, each named after its least atom.

    ``fixed`` are printed points of atoms that are not fitted, NaN for others; those of a line are
    the same. ``directions`` has, for some columns, how log-odds may change: "increasing" or
    "decreasing" with the bins, or only rise along atoms, given by their numbers in the column.
    """

    group: IntArray
    fixed: FloatArray
    directions: Mapping[int, str | tuple[int, ...]] = field(default_factory=dict)

    def lines(self, block: range) -> list[list[int]]:
        """Return the atoms of each line of a column or cross, in the order of their names."""
        names = self.group[block.start : block.stop]
        return [(block.start + np.flatnonzero(names == k)).tolist() for k in np.unique(names)]

    def merged(self, block: range, lines: Sequence[int]) -> Arrangement:
        """Merge lines; points that are fixed in one of them are those of all."""
        of_block = self.lines(block)
        every = [atom for line in lines for atom in of_block[line]]
        values = np.unique(self.fixed[every][~np.isnan(self.fixed[every])])
        if len(values) > 1:
            listed = " and ".join(f"{value:g}" for value in values.tolist())
            msg = f"these lines have fixed points, {listed}: free one of them first"
            raise EditError(msg)
        group, fixed = self.group.copy(), self.fixed.copy()
        group[every] = min(every)
        fixed[every] = values[0] if len(values) else np.nan
        return replace(self, group=group, fixed=fixed)

    def regrouped(self, block: range, n_ordered: int, starts: Sequence[int]) -> Arrangement:
        """Cut the ordered atoms of a column anew; ``starts`` are local, and begin a line each.

        Other atoms stay with the least ordered atom of their line. No points are fixed any more.
        """
        group = self.group.copy()
        ordered = block[:n_ordered]
        number = np.searchsorted([0, *starts], np.arange(n_ordered), side="right") - 1
        first = np.array([0, *starts])[number] + block.start
        group[list(ordered)] = first
        for atom in block[n_ordered:]:
            if self.group[atom] in ordered:
                group[atom] = group[self.group[atom]]
        return replace(self, group=named_by_least(group), fixed=self._freed(block))

    def moved(self, block: range, atom: int, line: int | None) -> Arrangement:
        """Move an atom to a line, numbered as they are now; None for a line of its own."""
        target = None if line is None else self.lines(block)[line]
        group, fixed = self.group.copy(), self.fixed.copy()
        rest = [other for other in np.flatnonzero(group == group[atom]) if other != atom]
        group[rest] = min(rest, default=0)
        group[atom], fixed[atom] = atom, np.nan
        if target is not None and target != [atom]:
            others = [other for other in target if other != atom]
            group[[*others, atom]] = others[0]
            fixed[atom] = fixed[others[0]]
        return replace(self, group=named_by_least(group), fixed=fixed)

    def dropped(self, block: range, index: int) -> Arrangement:
        """Merge all lines of a column: it has no points, and no direction."""
        group = self.group.copy()
        group[block.start : block.stop] = block.start
        made = replace(self, group=group, fixed=self._freed(block))
        return made.directed(index, None)

    def directed(self, index: int, direction: str | tuple[int, ...] | None) -> Arrangement:
        """Give a column a direction; None for any order of its points."""
        directions = {key: known for key, known in self.directions.items() if key != index}
        if direction is not None:
            directions[index] = direction
        return replace(self, directions=dict(sorted(directions.items())))

    def with_points(self, block: range, points: Mapping[int, float | None]) -> Arrangement:
        """Fix the printed points of lines, or free them (None)."""
        fixed, lines = self.fixed.copy(), self.lines(block)
        for line, value in points.items():
            fixed[lines[line]] = np.nan if value is None else value
        return replace(self, fixed=fixed)

    def _freed(self, block: range) -> FloatArray:
        fixed = self.fixed.copy()
        fixed[block.start : block.stop] = np.nan
        return fixed


# ── Points of an arrangement: one solve for all rows, and one without each fold ───────────────────


@dataclass(frozen=True)
class EditScale:
    """What a printed point is worth: ``kappa`` in log-odds of the positive class."""

    kappa: float
    scale: Scale | None = None

    @property
    def is_whole(self) -> bool:
        """Whether printed points are whole numbers."""
        return isinstance(self.scale, IntegerPoints) or (
            isinstance(self.scale, PointsToDoubleOdds) and self.scale.rounded
        )

    @classmethod
    def of(cls, scale: Scale | None, rows: EditRows, start: Arrangement) -> EditScale:
        """Find what a point is worth."""
        if isinstance(scale, PointsToDoubleOdds):
            return cls(-float(np.log(2.0)) / scale.pdo, scale)
        if isinstance(scale, IntegerPoints):
            compression = rows_compression(rows, start, 0)
            made = compression.fitted(_groups(start))
            return cls(compression.whole(made, scale.largest)[1], scale)
        return cls(1.0)


class Refit(NamedTuple):
    """The points of one card: printed, and in log-odds, by group; and the intercept in log-odds."""

    compression: Compression
    made: Fitted
    printed: FloatArray
    values: FloatArray
    intercept: float


def rows_compression(rows: EditRows, arrangement: Arrangement, teacher: int) -> Compression:
    """Return what fits points to a teacher, with the directions of an arrangement."""
    chains = rows.chains(arrangement)
    return Compression(rows.atoms, rows.curvatures[teacher], rows.cell_weights, rows.kinds, chains)


def refit(rows: EditRows, arrangement: Arrangement, scale: EditScale, teacher: int) -> Refit:
    """Return the points of an arrangement that are nearest to a teacher: 0 is that of all rows."""
    kappa, curvature = scale.kappa, rows.curvatures[teacher]
    compression = rows_compression(rows, arrangement, teacher)
    made = compression.fitted(_groups(arrangement), kappa * arrangement.fixed)
    made = made._replace(points=on_grid(made.points))
    mass = np.zeros(rows.atoms.count)
    np.add.at(mass, made.of_atom, curvature.mass)
    weight, fixed = mass[made.groups], made.fixed / kappa
    if isinstance(scale.scale, IntegerPoints):
        printed, _ = compression.whole(made, scale.scale.largest, kappa)
    else:
        values = made.points.copy()
        for block in np.unique(made.block[~made.is_anchored]):  # the mean of a column is zero
            inside = made.block == block
            values[inside] -= float(weight[inside] @ values[inside]) / float(weight[inside].sum())
        values = on_grid(values)
        printed = np.rint(values / kappa) if scale.is_whole else values / kappa
    is_fixed = ~np.isnan(fixed)
    printed[is_fixed] = np.rint(fixed[is_fixed]) if scale.is_whole else fixed[is_fixed]
    if scale.is_whole:
        values = kappa * printed
    intercept = on_grid((curvature.first[-1] - float(weight @ values)) / curvature.total)
    return Refit(compression, made, printed, values, float(intercept))


def _groups(arrangement: Arrangement) -> Groups:
    return Groups(arrangement.group, np.zeros(len(arrangement.group)), 0)


@dataclass(frozen=True, eq=False)
class EditedCard:
    """A card after edits: its points from all rows, and those of the card without each fold."""

    rows: EditRows
    arrangement: Arrangement
    scale: EditScale
    metric: Metric

    @cached_property
    def whole(self) -> Refit:
        """The points of all rows."""
        return refit(self.rows, self.arrangement, self.scale, 0)

    @cached_property
    def held_out(self) -> FloatArray:
        """Log-odds of rows by the card that was made without their fold."""
        scores = np.empty(len(self.rows.rows.positive))
        for fold in range(self.rows.n_folds):
            inside = np.flatnonzero(self.rows.rows.fold == fold)
            made = refit(self.rows, self.arrangement, self.scale, 1 + fold)
            scores[inside] = self._scores(made, self.rows.of_rows[:, inside])
        return scores

    def _scores(self, made: Refit, atoms: IntArray) -> FloatArray:
        place = made.made.place(self.rows.atoms.count)
        part = made.printed if self.scale.is_whole else made.values
        of_atom = np.where(place >= 0, np.append(part, 0.0)[place], 0.0)
        total = of_atom[atoms].sum(axis=0)
        factor = self.scale.kappa if self.scale.is_whole else 1.0
        scores: FloatArray = on_grid(factor * total + made.intercept)
        return scores

    @cached_property
    def sizes(self) -> EffectiveCounts:
        """Effective number of rows of each class."""
        return sizes_of(self.rows.rows)

    @cached_property
    def at(self) -> Metric:
        """The metric by which thresholds are set: its limit is kept in expectation on new rows."""
        metric: Any = self.metric
        if metric.limit is None or not metric.uses_threshold:
            return self.metric
        warn_of(limit_caution(metric, self.sizes))
        stricter: Metric = metric.with_limit(limit_by_order(metric.limit, self.sizes))
        return stricter

    @cached_property
    def curve(self) -> Curve:
        """The curve of held-out scores."""
        rows = self.rows.rows
        return Curve.of(rows.positive, self.held_out, rows.weight)

    @cached_property
    def index(self) -> int:
        """The best threshold of held-out scores, as a position on their curve."""
        return best_index(self.at, self.curve)

    @cached_property
    def threshold(self) -> float:
        """The best threshold of held-out scores."""
        return finite_threshold(self.curve, self.index)

    @cached_property
    def assessment(self) -> OperatingPoint:
        """Rates of held-out rows; those to expect have thresholds from the rows of other folds."""
        metric, curve, rows = self.metric, self.curve, self.rows.rows
        ranks = not metric.uses_threshold
        area = metric.best_value(curve) if ranks else None
        rates = float(curve.tpr[self.index]), float(curve.fpr[self.index])
        empirical = rates_of(metric, *rates, curve.prior, area)
        above, areas = np.zeros(2), []
        for fold in range(self.rows.n_folds):
            inside = rows.fold == fold
            others = Curve.of(rows.positive[~inside], self.held_out[~inside], rows.weight[~inside])
            least = finite_threshold(others, best_index(self.at, others))
            flagged = inside & (self.held_out > least)
            above += [rows.weight[flagged & side].sum() for side in (rows.positive, ~rows.positive)]
            if ranks:
                tested = rows.positive[inside], self.held_out[inside], rows.weight[inside]
                areas.append(metric.best_value(Curve.of(*tested)))
        tpr, fpr = float(above[0]) / curve.positives, float(above[1]) / curve.negatives
        value = float(np.mean(areas)) if ranks else None
        expected = rates_of(metric, tpr, fpr, curve.prior, value)
        sizes = self.sizes.over(OF_LINES.of(metric))
        if ranks:
            ends = on_logit_scale(expected.metric, ranking_variance(curve, sizes, metric))
        else:
            ends = square_and_add(metric, expected, curve, sizes)
        intervals = Intervals(
            wilson(tpr, sizes.n_pos),
            wilson(fpr, sizes.n_neg),
            wilson(expected.precision, tpr * sizes.n_pos + fpr * sizes.n_neg),
            ends,
        )
        return OperatingPoint(
            metric,
            self.threshold,
            empirical=empirical,
            rows=rows.name,
            expected=expected,
            intervals=intervals,
        )

    @cached_property
    def _losses(self) -> FloatArray:
        """Losses at the best thresholds: on all held-out rows, and on those of each fold."""
        rows, sign = self.rows.rows, -1.0 if self.metric.greater_is_better else 1.0
        curves = ScoreCurves(rows.positive, self.held_out, rows.weight, rows.fold)
        values = [self.metric.best_value(each) for each in (curves.whole, *curves.folds)]
        return sign * np.array(values)

    def gap_to(self, other: EditedCard) -> Gap:
        """Return how much better this card is on held-out rows than another of the same rows."""
        mine, before = self._losses, other._losses
        differences = before - mine
        gap = (differences[0] + differences[1:].mean()) / 2.0
        return Gap.of_folds(float(gap), differences[1:], self.metric.largest_gap)

    def card(self) -> Card:
        """Return the card of all rows in printed points, without bins; base points as printed."""
        made, scale, kappa = self.whole, self.scale.scale, self.scale.kappa
        if isinstance(scale, PointsToDoubleOdds):
            base = scale.base_points + (made.intercept + float(np.log(scale.base_odds))) / kappa
            base = float(np.rint(base)) if scale.rounded else base
        elif isinstance(scale, IntegerPoints):
            base = 0.0
        else:
            base = (made.intercept - self.threshold) / kappa
        card = made.compression.card(made.made, made.printed, base)
        return replace(card, higher_is_positive=kappa > 0)

    def line(self, base: float) -> FloatArray:
        """Return log-odds less the threshold as a line of points in favour of the positive class.

        ``base`` are the printed base points.
        """
        kappa = self.scale.kappa
        offset = self.whole.intercept - kappa * base - self.threshold
        return np.array([abs(kappa), offset])


def best_index(metric: Metric, curve: Curve) -> int:
    """Return the position of the best threshold on a curve; among equals the highest threshold."""
    if metric.uses_threshold and metric.fixes_threshold and metric.limit is None:
        return metric.best(curve).index
    by: Metric = metric if metric.uses_threshold else BalancedError()
    values, allowed = by.at_thresholds(curve)
    losses = np.where(allowed, -values if by.greater_is_better else values, np.inf)
    return int(np.rint(losses * _GRID).argmin())


class EditPrice(NamedTuple):
    """What an edit did to the card: lines, the metric on held-out rows, and the gaps.

    ``metric`` is that of held-out rows at the threshold that they set; ``expected`` has thresholds
    from the rows of other folds. ``gap`` is that to the card before the first edit, and ``step``
    that to the card before this one; above zero is better.
    """

    edit: str
    lines: int
    metric: float
    expected: Estimate
    gap: Gap
    step: Gap

    @classmethod
    def of(cls, edit: str, card: EditedCard, before: EditedCard, first: EditedCard) -> EditPrice:
        """Compare a card with the one before it, and with the first."""
        found: Any = card.assessment
        lines = len(card.whole.printed)
        gaps = card.gap_to(first), card.gap_to(before)
        return cls(edit, lines, found.empirical.metric, found.estimate, *gaps)
