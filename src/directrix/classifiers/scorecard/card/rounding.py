"""Cards of small whole numbers: plain rounding, and a search on the exact metric.

A rounded card is made from a card and its training rows alone, so that it can be made without each
fold, and tested on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.metrics import AUC, Curve

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.classifiers.scorecard.card.card import Card
    from directrix.classifiers.scorecard.directions import Direction
    from directrix.metrics import Metric

#: Factors of the plain unit that are tried. In a larger one rare bins at the ends are cut off, and
#: the others have finer points.
_FACTORS = tuple(np.geomspace(0.5, 16.0, 21).tolist())
#: Rounds of single changes, and rows that judge them.
_ROUNDS, _MOST_ROWS = 3, 20_000
#: A change must be worth so many rows of the smaller class: less is what chance gives.
_WORTH = 3.0


def rounded_card(card: Card, unit: float) -> Card:
    """Return the card in units, rounded: the lowest bin of every column and cross has none.

    Parameters
    ----------
    card : Card
        With more points for the positive class, and a cutoff of zero.
    unit : float
        Points of the rounded card for one of the card.
    """
    columns = tuple(_rounded(points, unit) for points in card.columns)
    crosses = tuple(replace(cross, points=_rounded(cross.points, unit)) for cross in card.crosses)
    return replace(card, intercept=0.0, columns=columns, crosses=crosses)


def largest_unit(card: Card, largest: int) -> float:
    """Return the unit in which the widest column or cross has so many points."""
    widest = max((float(np.ptp(points)) for points in card.blocks if points.size), default=0.0)
    return largest / widest if widest > 0 else 1.0


def cut_off(card: Card, reach: float, cells: IntArray, weight: FloatArray) -> Card:
    """Return the card with the points of each column and cross cut off at both ends of a range.

    The range is where it changes the points of rows least.

    Parameters
    ----------
    card : Card
    reach : float
        Difference of points in a column at most.
    cells : array of int of shape (n, columns)
    weight : array of shape (n,)
    """
    columns = tuple(
        _within(points, reach, np.bincount(cells[:, k], weight, len(points)).astype(np.float64))
        for k, points in enumerate(card.columns)
    )
    crosses = tuple(
        replace(cross, points=_within(cross.points, reach, cross.weights(cells, weight)))
        for cross in card.crosses
    )
    return replace(card, columns=columns, crosses=crosses)


@dataclass(frozen=True)
class RoundingSearch:
    """Rounds cards so that the exact metric and the AUC of their training rows are best.

    Parameters
    ----------
    metric : Metric
    largest : int
        Points of any bin at most.
    directions : sequence of Direction
        Of columns whose points may only rise.
    """

    metric: Metric
    largest: int
    directions: Sequence[Direction] = ()

    def plain(self, card: Card, *_: Any) -> Card:
        """Return the card, rounded in the largest unit."""
        return rounded_card(card, largest_unit(card, self.largest))

    def nearest(self, card: Card, cells: IntArray, positive: AnyArray, weight: FloatArray) -> Card:
        """Return the card, rounded in the unit in which the sums of rows are nearest to its own."""
        del positive  # labels would choose what fits these rows by chance
        plain, scores = largest_unit(card, self.largest), card.points(cells)
        share = weight / weight.sum()
        cards, errors = [], []
        for factor in _FACTORS:
            unit = factor * plain
            cards.append(rounded_card(cut_off(card, self.largest / unit, cells, weight), unit))
            off = cards[-1].points(cells) / unit - scores
            # Not squares: rare rows at the end of a range, which keep their place, would decide.
            errors.append(float(share @ np.abs(off - np.median(off))))
        return cards[int(np.argmin(errors))]

    def searched(self, card: Card, cells: IntArray, positive: AnyArray, weight: FloatArray) -> Card:
        """Return a rounded card in which no change of one bin by one point is much better.

        Neighbouring bins with equal points change together. Columns without points stay without.
        """
        made = self.nearest(card, cells, positive, weight)
        columns = [points.copy() for points in made.columns]
        rows = slice(None, _MOST_ROWS)  # in the order of their keys, which is random
        totals = _Totals.of(made.points(cells[rows]), positive[rows], weight[rows])
        best = self._value(totals)
        few = int(min(positive[rows].sum(), (~positive[rows]).sum()))
        worth = _WORTH / max(few, 1)
        for _ in range(_ROUNDS):
            before = best
            for number, points in enumerate(columns):
                if not np.ptp(card.columns[number]):
                    continue  # dropped columns stay dropped
                for group in _groups(points, made.bins[number].n_ordered if made.bins else 0):
                    changed = np.isin(cells[rows, number], group)
                    for step in (1.0, -1.0):
                        trial = points.copy()
                        trial[group] += step
                        if not self._allowed(number, trial):
                            continue
                        moved = totals.moved(changed, step)
                        value = self._value(moved)
                        if value > best + worth:
                            best, totals, points[:] = value, moved, trial
                            break
            if best <= before:
                break
        return replace(made, columns=tuple(columns))

    def _value(self, totals: _Totals) -> float:
        """Return the metric and the area under the curve, which holds the other rows in order."""
        curve = totals.curve()
        value = float(self.metric.best_value(curve))
        area = float(AUC().best_value(curve))
        return area + (value if self.metric.greater_is_better else -value)

    def _allowed(self, column: int, points: FloatArray) -> bool:
        """Whether points are on the scale, and keep the direction of their column."""
        if points.min() < 0 or points.max() > self.largest:
            return False
        return all(
            (np.diff(points[direction.rising]) >= 0).all()
            for direction in self.directions
            if direction.column == column
        )


@dataclass(frozen=True)
class _Totals:
    """Whole points of rows, and the weight of each class at every number of points."""

    points: IntArray
    positive: AnyArray
    weight: FloatArray
    start: int

    @classmethod
    def of(cls, points: FloatArray, positive: AnyArray, weight: FloatArray) -> _Totals:
        whole = points.astype(np.int64)
        return cls(whole, positive, weight, int(whole.min(initial=0)))

    def moved(self, changed: AnyArray, step: float) -> _Totals:
        points = self.points + np.where(changed, int(step), 0)
        return replace(self, points=points, start=int(points.min(initial=0)))

    def curve(self) -> Curve:
        place = self.points - self.start
        size = int(place.max(initial=0)) + 1
        above, below = (
            np.bincount(place[side], self.weight[side], size)[::-1]
            for side in (self.positive, ~self.positive)
        )
        filled = np.flatnonzero(above + below)
        levels = (self.start + size - 1.0 - filled).astype(np.float64)
        counts = [np.append(0.0, np.cumsum(side[filled])) for side in (above, below)]
        return Curve(levels, counts[0], counts[1])


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
