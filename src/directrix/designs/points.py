"""The points of a fitted card on a scale, with the cutoff and probabilities that go with them.

Points that are rounded score rows differently. So they are rounded in the cards of all folds, and
held-out rows set the cutoff, the probabilities and the price of rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fitting.finalize import Lines, finalize
from directrix.fitting.finish import FitResult
from directrix.fitting.fit_rows import BestFit, Draft
from directrix.fitting.training_rows import Rows
from directrix.frontier.compare import FoldDesigns, centre_and_scale, compare, curve_maker
from directrix.frontier.curves import Curves
from directrix.metrics import AUC
from directrix.metrics.base import CurveStack, Metric
from directrix.models.card import Card, PointsToDoubleOdds, Scale
from directrix.models.gap import Gap
from directrix.models.money import stated_metric
from directrix.models.report import Estimate, TiesSplit
from directrix.tables.coding.card_coding import Direction
from directrix.tables.coding.prior import CellKinds

#: From the card made without a fold, and that fold, to its points.
Restate = Callable[[Card, int | None], Card]

# ── Cards of small whole numbers: plain rounding, and a search on the exact metric ────────────────
#
# A rounded card is made from a card and its training rows alone, so that it can be made without
# each fold, and tested on it.

#: Factors of the plain unit that are tried. In a larger one rare bins at the ends are cut off, and
#: the others have finer points.
_FACTORS = tuple(np.geomspace(0.5, 16.0, 21).tolist())
#: Changes of the points of a bin that are tried.
_STEPS = (1, -1)
#: Groups of bins whose changes are judged together, which bounds the memory.
_TOGETHER = 256
#: Rounds of single changes, and rows that judge them.
_ROUNDS, _MOST_ROWS = 3, 20_000
#: A change must be worth so many rows of the smaller class: less is what chance gives.
_WORTH = 3.0


def rounded_card(card: Card, unit: float) -> Card:
    """Return the card in units, rounded: the lowest bin of every column and cross has none.

    ``card`` has more points for the positive class, and a cutoff of zero. ``unit`` is the number of
    points of the rounded card for one point of the card.
    """
    columns = tuple(_rounded(points, unit) for points in card.columns)
    crosses = tuple(replace(cross, points=_rounded(cross.points, unit)) for cross in card.crosses)
    return replace(card, intercept=0.0, columns=columns, crosses=crosses)


def largest_unit(card: Card, largest: int) -> float:
    """Return the unit in which the widest column or cross has so many points."""
    widest = max((float(np.ptp(points)) for points in card.blocks if points.size), default=0.0)
    return largest / widest if widest > 0 else 1.0


@dataclass(frozen=True)
class RoundingSearch:
    """Rounds cards so that the exact metric and the AUC of their training rows are best.

    ``largest`` is the largest number of points of any bin. ``directions`` are those of columns
    whose points may only rise. ``kinds`` say what the cells of each column are; by default all are
    levels.
    """

    metric: Metric
    largest: int
    directions: Sequence[Direction] = ()
    kinds: Sequence[CellKinds] = ()

    def plain(self, card: Card, *_: Any) -> Card:
        """Return the card, rounded in the largest unit."""
        return rounded_card(card, largest_unit(card, self.largest))

    def nearest(self, card: Card, cells: IntArray, positive: AnyArray, weight: FloatArray) -> Card:
        """Return the card, rounded in the unit in which the sums of rows are nearest to its own."""
        del positive  # labels would choose what fits these rows by chance
        plain, scores = largest_unit(card, self.largest), card.points(cells)
        share = weight / weight.sum()
        held = _cell_weights(card, cells, weight)
        cards, errors = [], []
        for factor in _FACTORS:
            unit = factor * plain
            cards.append(rounded_card(_cut_off(card, self.largest / unit, held), unit))
            off = cards[-1].points(cells) / unit - scores
            # Not squares: rare rows at the end of a range, which keep their place, would decide.
            errors.append(float(share @ np.abs(off - np.median(off))))
        return cards[int(np.argmin(errors))]

    def searched(
        self,
        card: Card,
        cells: IntArray,
        positive: AnyArray,
        weight: FloatArray,
        start: Card | None = None,
    ) -> Card:
        """Return a rounded card in which no change of one bin by one point is much better.

        Neighbouring bins with equal points change together. Columns without points stay without.

        ``cells`` has the shape (n, columns). ``start`` is the rounded card that the search begins
        with; by default the nearest.
        """
        made = self.nearest(card, cells, positive, weight) if start is None else start
        columns = [points.copy() for points in made.columns]
        rows = slice(None, _MOST_ROWS)  # in the order of their keys, which is random
        sums = _Sums(made.points(cells[rows]).astype(np.int64), positive[rows], weight[rows])
        best = float(self._values(sums.counts()[None])[0])
        few = int(min(positive[rows].sum(), (~positive[rows]).sum()))
        worth = _WORTH / max(few, 1)
        for _ in range(_ROUNDS):
            before = best
            for number, points in enumerate(columns):
                if not np.ptp(card.columns[number]):
                    continue  # dropped columns stay dropped
                groups = _groups(points, self.kinds[number].n_ordered if self.kinds else 0)
                best = self._change(number, points, groups, cells[rows, number], sums, best, worth)
            if best <= before:
                break
        return replace(made, columns=tuple(columns))

    def _change(
        self,
        number: int,
        points: FloatArray,
        groups: list[IntArray],
        cells: IntArray,
        sums: _Sums,
        best: float,
        worth: float,
    ) -> float:
        """Change the points of one column in place where it is worth it; return the best value."""
        done = 0
        while done < len(groups):
            left = groups[done : done + _TOGETHER]
            allowed = self._allowed_steps(number, points, left)
            counts = sums.counts_after_steps(cells, len(points), left)[allowed]
            values = self._values(counts)
            better = np.flatnonzero(values > best + worth)
            if not better.size:
                done += len(left)
                continue
            best = float(values[better[0]])
            index, step = divmod(int(np.flatnonzero(allowed)[better[0]]), len(_STEPS))
            points[left[index]] += _STEPS[step]
            sums.move(np.isin(cells, left[index]), _STEPS[step])
            done += index + 1
        return best

    def _values(self, counts: FloatArray) -> FloatArray:
        """Return the metric and the area under the curve, which holds the other rows in order.

        ``counts`` of shape (k, 2, m) are the weights of the positives and of the negatives at each
        sum, the highest sum first.
        """
        above = np.concatenate([np.zeros((*counts.shape[:2], 1)), np.cumsum(counts, axis=-1)], -1)
        curves = CurveStack(above[:, 0], above[:, 1])
        values = self.metric.best_values(curves)
        areas = AUC().best_values(curves)
        return np.asarray(areas + (values if self.metric.greater_is_better else -values))

    def _allowed_steps(self, column: int, points: FloatArray, groups: list[IntArray]) -> AnyArray:
        """Return for each step of each group whether points stay on the scale, in direction."""
        moved = points[[group[0] for group in groups]][:, None] + np.array(_STEPS)
        allowed: AnyArray = (moved >= 0) & (moved <= self.largest)
        for direction in self.directions:
            if direction.column != column:
                continue
            for (index, step), fine in np.ndenumerate(allowed):
                trial = points.copy()
                trial[groups[index]] += _STEPS[step]
                allowed[index, step] = fine and (np.diff(trial[direction.rising]) >= 0).all()
        return allowed.ravel()


@dataclass
class _Sums:
    """Whole points of rows, summed, and the weight of each class at every sum."""

    points: IntArray
    positive: AnyArray
    weight: FloatArray

    def counts(self) -> FloatArray:
        """Return the weight of positives and negatives at each sum, the highest sum first."""
        return self._by_cell(np.zeros(len(self.points), dtype=np.int64), 1)[:, 0]

    def counts_after_steps(
        self, cells: IntArray, n_cells: int, groups: Sequence[IntArray]
    ) -> FloatArray:
        """Return the counts if all rows of a group of cells had one point more, or one less.

        All are made from the counts by cell and sum, which are one pass over the rows.

        The result has the shape (2 * groups, 2, sums + 2): for each group as in `counts`, one point
        up first, then one point down.
        """
        by_cell = self._by_cell(cells, n_cells)
        held = np.stack([by_cell[:, group].sum(axis=1) for group in groups])
        size = held.shape[-1]
        after = np.zeros((len(groups), len(_STEPS), 2, size + 2))
        after[..., 1 : 1 + size] = (by_cell.sum(axis=1) - held)[:, None]
        for index, step in enumerate(_STEPS):
            after[:, index, :, 1 - step : 1 - step + size] += held
        return after.reshape(-1, 2, size + 2)

    def move(self, changed: AnyArray, step: int) -> None:
        """Add points to some rows."""
        self.points = self.points + np.where(changed, step, 0)

    def _by_cell(self, cells: IntArray, n_cells: int) -> FloatArray:
        top = int(self.points.max(initial=0))
        size = top - int(self.points.min(initial=0)) + 1
        key = (np.where(self.positive, 0, n_cells) + cells) * size + (top - self.points)
        counts = np.bincount(key, self.weight, 2 * n_cells * size).astype(np.float64)
        return counts.reshape(2, n_cells, size)


def _cell_weights(card: Card, cells: IntArray, weight: FloatArray) -> list[FloatArray]:
    """Return the weight of the rows of each cell of each column, then of each cross."""
    columns = [
        np.bincount(cells[:, k], weight, len(points)).astype(np.float64)
        for k, points in enumerate(card.columns)
    ]
    return columns + [cross.weights(cells, weight) for cross in card.crosses]


def _cut_off(card: Card, reach: float, weights: Sequence[FloatArray]) -> Card:
    """Return the card with the points of each column and cross cut off at both ends of a range.

    ``reach`` is the width of the range, which is where it changes the points of rows least;
    ``weights`` are those of the cells.
    """
    blocks = [
        _within(points, reach, weight) for points, weight in zip(card.blocks, weights, strict=True)
    ]
    crosses = tuple(
        replace(cross, points=points)
        for cross, points in zip(card.crosses, blocks[len(card.columns) :], strict=True)
    )
    return replace(card, columns=tuple(blocks[: len(card.columns)]), crosses=crosses)


def _rounded(points: FloatArray, unit: float) -> FloatArray:
    if not points.size:
        return points
    whole: FloatArray = np.rint(unit * (points - points.min()))
    return whole


def _within(points: FloatArray, reach: float, weight: FloatArray) -> FloatArray:
    """Return points cut off to the range of a width that changes their weighted sum least."""
    if not points.size or np.ptp(points) <= reach:
        return points
    lowest = np.unique(np.concatenate([points.ravel(), points.ravel() - reach]))
    lowest = lowest[(lowest >= points.min()) & (lowest <= points.max() - reach)]
    cut = np.clip(points.ravel(), lowest[:, None], lowest[:, None] + reach)
    change = np.square(cut - points.ravel()) @ weight.ravel()
    best: FloatArray = cut[int(np.argmin(change))].reshape(points.shape)
    return best


def _groups(points: FloatArray, n_ordered: int) -> list[IntArray]:
    """Return cells that change together: neighbouring ordered bins of equal points."""
    groups: list[list[int]] = [[0]] if len(points) else []
    for cell in range(1, len(points)):
        neighbours = 1 < cell <= n_ordered
        if neighbours and points[cell] == points[cell - 1]:
            groups[-1].append(cell)
        else:
            groups.append([cell])
    return [np.array(group) for group in groups]


# ── The points of a fitted card on a scale ────────────────────────────────────────────────────────

#: Ridge of the regression from scores to log-odds, for scores that separate the classes.
_SLIGHT = 1e-6


@dataclass(frozen=True)
class PointsFit:
    """Puts a card on a scale.

    ``seen`` are the rows that the candidates were compared on, with cells as their features.
    ``directions`` are those of columns whose points may only rise. ``kinds`` say what the cells of
    each column are: neighbouring bins of equal points stay equal.
    """

    scale: Scale
    metric: Metric
    seen: Rows
    directions: Sequence[Direction] = ()
    kinds: Sequence[CellKinds] = ()

    def run(self, best: BestFit, cards: Mapping[int | None, Card]) -> tuple[Card, Draft]:
        """Return the best card on the scale, whose cutoff is that of its draft.

        ``cards`` are the fitted card (None), and those made without each fold. The line of the
        draft has one coefficient, that of the points in favour of the positive class.
        """
        aligned = {fold: self._aligned(card, fold) for fold, card in cards.items()}
        aligned[None] = cards[None]  # with the threshold of the fit at zero
        tried = [
            self._designs({fold: restate(card, fold) for fold, card in aligned.items()})
            for restate in self._ways(best)
        ]
        lines = Lines(np.array([1.0, 0.0]), [np.array([1.0, 0.0])] * (len(cards) - 1))
        held_out = [lines.on_one_scale(rows).held_out for _, rows in tried]
        rows = self.seen
        curves = [
            Curves.of_scores(rows.positive, scores, rows.weight, rows.fold)
            for scores in (best.scores, *held_out)
        ]
        comparison = compare(self.metric, curves)
        losses, areas = comparison.losses[1:], compare(AUC(), curves).losses[1:]
        # The best by metric and AUC of those that are not behind the plain rounding.
        chosen = int(np.argmin(np.where(losses <= losses[0], losses + areas, np.inf)))
        card, design = tried[chosen]
        selection = replace(best.selection, rows=design)
        final = finalize(self.metric, selection, lines)
        folds = comparison.fold_losses
        gap = float(comparison.losses[0] - comparison.losses[1 + chosen])
        assessment = final.assessment
        report = replace(
            best.report,
            expected=Estimate(assessment.expected.metric, *assessment.intervals.metric),
            rounding=Gap.of_folds(gap, folds[0] - folds[1 + chosen]) if self._rounds else None,
            ties=ties_split(self.metric, curves[1 + chosen]) if self._rounds else None,
        )
        curve = curve_maker(rows.positive, rows.weight)(final.scores)
        features, card_of = partial(points_as_rows, card), partial(finished, card)
        return card, Draft(final.fitted, report, curve, features, card_of)

    @property
    def _rounds(self) -> bool:
        return not isinstance(self.scale, PointsToDoubleOdds) or self.scale.rounded

    def _ways(self, best: BestFit) -> list[Restate]:
        """Return the ways to restate cards, the plainest first."""
        scale, rows = self.scale, self.seen
        if isinstance(scale, PointsToDoubleOdds):
            slope, offset = log_odds_line(best.scores, rows)
            return [lambda card, _: to_double_odds(card, scale, slope, offset)]
        search = RoundingSearch(self.metric, scale.largest, self.directions, self.kinds)
        nearest: dict[int | None, Card] = {}

        def plain(card: Card, fold: int | None) -> Card:
            return search.plain(card, *self._training_rows(fold))

        def near(card: Card, fold: int | None) -> Card:
            nearest[fold] = search.nearest(card, *self._training_rows(fold))
            return nearest[fold]

        def searched(card: Card, fold: int | None) -> Card:
            return search.searched(card, *self._training_rows(fold), start=nearest[fold])

        return [plain, near, searched]

    def _training_rows(self, fold: int | None) -> tuple[IntArray, AnyArray, FloatArray]:
        """Return the cells, labels and weights of the rows outside a fold."""
        rows = self.seen
        kept = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
        return rows.X[kept], rows.positive[kept], rows.weight[kept]

    def _aligned(self, card: Card, fold: int | None) -> Card:
        """Return a card whose scores on its training rows have the scale of all others."""
        cells, positive, weight = self._training_rows(fold)
        centre, scale = centre_and_scale(card.scores(cells), positive, weight)
        return card.affine(1.0 / scale, -centre / scale)

    def _designs(self, cards: Mapping[int | None, Card]) -> tuple[Card, Rows]:
        """Return the card of all rows, and rows whose one feature are their points."""
        rows: dict[Any, FloatArray] = {
            fold: points_as_rows(card, self.seen.X) for fold, card in cards.items()
        }
        whole = rows.pop(None)
        X = FoldDesigns(whole, rows) if rows else whole
        return cards[None], self.seen._replace(X=X)


def ties_split(metric: Metric, held_out: Curves) -> TiesSplit | None:
    """Return the metric of held-out folds with ties as they are, and split at random."""
    if metric.limit is None or not held_out.folds:
        return None
    values = [(metric.best_value(curve), metric.ties_split(curve)) for curve in held_out.folds]
    strict, split = np.mean(values, axis=0)
    return TiesSplit(float(strict), float(split))


def points_as_rows(card: Card, cells: IntArray) -> FloatArray:
    """Return points in favour of the positive class as the one feature of rows."""
    points = card.points(cells)
    return (points if card.higher_is_positive else -points)[:, None]


def finished(card: Card, fitted: FitResult) -> tuple[Card, FitResult]:
    """Return a card with its cutoff, and probabilities of its scores.

    ``fitted`` has the coefficient of points in favour of the positive class, and the intercept.
    """
    slope, intercept = fitted.line.tolist()
    cutoff = -intercept / slope
    if card.is_whole:  # between two whole numbers, so that no sum is on it
        cutoff = float(np.floor(cutoff)) + 0.5
    calibration = fitted.calibration
    shift = float(calibration.log_odds(slope * cutoff + intercept))
    calibration = replace(
        calibration,
        offset=shift,
        below=slope * calibration.below,
        above=slope * calibration.above,
    )
    stated = cutoff if card.higher_is_positive else -cutoff
    point = fitted.operating_point
    kept = point.budget
    if kept is not None and not getattr(stated_metric(point.metric), "by_row", False):
        kept = kept.moved(slope * cutoff + intercept, slope)
    point = replace(point, threshold=stated, budget=kept)
    made = replace(card, cutoff=stated)
    held_out = fitted.held_out
    if held_out is not None:
        held_out = held_out.restated(slope * cutoff + intercept, slope)
    return made, replace(
        fitted,
        line=np.array([1.0, -cutoff]),
        operating_point=point,
        calibration=calibration,
        held_out=held_out,
    )


def scaled_without_rows(scale: Scale, card: Card, fitted: FitResult) -> tuple[Card, FitResult]:
    """Return a card on a scale, plainly rounded, with the cutoff where the card had zero.

    ``card`` has more points for the positive class, and a cutoff of zero. ``fitted`` is that of the
    card, whose log-odds are a straight line.
    """
    if isinstance(scale, PointsToDoubleOdds):
        slope, offset = fitted.calibration.above, fitted.calibration.offset
        made = to_double_odds(card, scale, slope, offset)
        exact = to_double_odds(card, replace(scale, rounded=False), slope, offset)
        unit = scale.pdo / np.log(2.0) * slope
        at_zero = -(exact.intercept + unit * card.intercept)
    else:
        unit = largest_unit(card, scale.largest)
        made = rounded_card(card, unit)
        lowest = sum(float(points.min()) for points in card.blocks if points.size)
        at_zero = -unit * (card.intercept + lowest)
    line = np.array([1.0, -at_zero]) / unit
    return finished(made, replace(fitted, line=line))


def to_double_odds(card: Card, scale: PointsToDoubleOdds, slope: float, offset: float) -> Card:
    """Return a card whose points double the odds of the negative class.

    ``card`` has more points for the positive class, and a cutoff of zero. The log-odds of the
    positive class are ``slope`` times the points of the card, plus ``offset``.
    """
    unit = scale.pdo / np.log(2.0)
    base = scale.base_points - unit * (offset + np.log(scale.base_odds))
    made = replace(card.affine(-unit * slope, base), higher_is_positive=False)
    return made.rounded() if scale.rounded else made


def log_odds_line(scores: FloatArray, rows: Rows) -> tuple[float, float]:
    """Return slope and offset of the log-odds of the positive class as a line of the scores."""
    spread = float(scores.std()) or 1.0
    model = LogisticRegression(C=1.0 / (_SLIGHT * len(scores)))
    weight = rows.weight / rows.weight.mean()
    model.fit(scores[:, None] / spread, rows.positive, weight)
    return float(model.coef_[0, 0]) / spread, float(model.intercept_[0])
