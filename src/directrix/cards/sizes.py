r"""The sizes of a grown card, and the smallest that is good enough.

The full card and the card grown without each fold are compressed to the same numbers of lines
(`directrix.cards.compression`), so that held-out rows are scored by cards of the printed size. With
the area :math:`A_s` of size s and :math:`A` of the full card, means over folds, the size is the
smallest with

.. math:: A - A_s \le 0.001

after isotonic regression: a small card is better than a larger one of the same path by chance
alone. It has at most a hundred lines, and at most two for each row of the rarer class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card
from directrix.cards.compression import RowCompression, Teacher
from directrix.cards.points import largest_unit, rounded_card
from directrix.cards.prior import CellKinds, cell_weights
from directrix.fit.directions import Direction
from directrix.fit.training_rows import Rows

#: Lines of the sizes that are made, beside that which is asked for.
SIZES = (10, 20, 30, 40, 60, 80, 100)
#: Lines of a card of which nobody said how many, at most; and if no rows can be held out.
MOST_LINES, CAUTIOUS_LINES = 100, 40
_LINES_PER_ROW = 2.0
#: Loss of area that nobody misses.
_SMALL_LOSS = 1e-3
#: A card is compressed from so many columns, those of largest deviation; or from more if all of
#: them have few cells, so that each has a line or two.
_COLUMNS, _BINARY_COLUMNS, _FEW_CELLS = 50, 100, 4
#: Rows that a card is compressed by; they are in the order of their keys, which is random.
_ROWS = 12_000
#: Rows and columns of a cross in a size.
_GRID = 4
#: Largest deviation of a teacher's log-odds: classes that are separated have no curvature.
_SPREAD = 4.0
#: From so many points on, those of a full card are rounded as they are. With fewer, a unit is
#: searched for: rounded alike, totals would be too few for a limit to fall between them.
_PLAINLY_ROUNDED = 50
#: Stands for a size without a limit.
_ALL_LINES = 10**6


class ScaledCard(NamedTuple):
    """A card, and the log-odds of its points: ``unit * points + shift``."""

    card: Card
    unit: float = 1.0
    shift: float = 0.0

    def log_odds(self, cells: IntArray) -> FloatArray:
        """Return the log-odds of rows with these cells."""
        return self.unit * self.card.points(cells) + self.shift

    def with_means(self, weights: Sequence[FloatArray], kinds: Sequence[CellKinds]) -> ScaledCard:
        """Return the card with mean points for what no row had; see `Card.with_means`."""
        return self._replace(card=self.card.with_means(weights, kinds))


@dataclass(frozen=True, eq=False)
class Size:
    """A card of one size, and the log-odds of all rows by cards of this size without their fold.

    The card of the None fold is made from all rows. The last size is the full card.
    """

    cards: Mapping[int | None, ScaledCard]
    held_out: FloatArray
    lines: int
    is_full: bool = False

    @classmethod
    def of(
        cls,
        cards: Mapping[int | None, ScaledCard],
        rows: Rows,
        kinds: Sequence[CellKinds],
        *,
        is_full: bool = False,
    ) -> Size:
        """Make a size; each row is scored by the card that was made without its fold."""
        scores = cards[None].log_odds(rows.X)
        for fold, made in cards.items():
            if fold is not None:
                tested = np.flatnonzero(rows.fold == fold)
                scores[tested] = made.log_odds(rows.X[tested])
        return cls(cards, scores, cards[None].card.count_lines(kinds), is_full)


def sizes_of_card(
    cards: Mapping[int | None, Card],
    rows: Rows,
    kinds: Sequence[CellKinds],
    directions: Sequence[Direction],
    max_lines: int | str | None,
    largest: int | None,
) -> list[Size]:
    """Return the sizes of a card, the full one last.

    Rows have cells as their features. With ``largest`` points are whole, from zero to this.
    """
    searched = largest is not None and largest < _PLAINLY_ROUNDED
    scale = None if searched else largest
    means = {fold: weights_without(fold, rows, kinds) for fold in cards}
    full = {
        k: _full(card, _training_rows(rows, k), scale).with_means(means[k], kinds)
        for k, card in cards.items()
    }
    full_lines = full[None].card.count_lines(kinds)
    asked = [] if max_lines is None else list(SIZES)
    if max_lines is not None and rows.fold is None:
        asked = [CAUTIOUS_LINES]
    if isinstance(max_lines, int):
        asked = sorted({max_lines, *(asked if rows.fold is not None else [])})
    lines = [size for size in asked if size < full_lines]
    every = [*lines, _ALL_LINES] if searched else lines
    made: dict[int, dict[int | None, ScaledCard]] = {size: {} for size in every}
    for fold, card in cards.items() if every else ():
        of_sizes = _compressed(card, _training_rows(rows, fold), kinds, directions, every, largest)
        for size, scaled in of_sizes.items():
            made[size][fold] = scaled.with_means(means[fold], kinds)
    full = made.pop(_ALL_LINES, full)
    sizes = [Size.of(made[size], rows, kinds) for size in lines]
    return [*sizes, Size.of(full, rows, kinds, is_full=True)]


def good_size(
    sizes: Sequence[Size], areas: FloatArray, rows: Rows, max_lines: int | str | None
) -> int:
    """Return the index of the size to deliver; ``areas`` are the mean areas of all sizes."""
    if max_lines is None:
        return len(sizes) - 1
    most = np.inf
    if isinstance(max_lines, int):
        index = [k for k, size in enumerate(sizes) if size.lines <= max_lines]
        return index[-1] if index else 0
    rarer = min(float(rows.positive.sum()), float((~rows.positive).sum()))
    most = min(MOST_LINES, _LINES_PER_ROW * rarer)
    allowed = [k for k, size in enumerate(sizes) if size.lines <= most] or [0]
    if rows.fold is None:
        return allowed[-1]
    return smallest(areas, allowed)


def smallest(areas: FloatArray, allowed: Sequence[int]) -> int:
    """Return the smallest allowed size that is as good as the full card, or the largest."""
    behind = isotonic_regression(areas[-1] - areas, increasing=False).x
    good = [k for k in allowed if behind[k] <= _SMALL_LOSS]
    return good[0] if good else allowed[-1]


def weights_without(fold: int | None, rows: Rows, kinds: Sequence[CellKinds]) -> list[FloatArray]:
    """Return the weight of the rows that are not in a fold in each cell of each column."""
    weight = rows.unpriced.weight
    weight = weight if fold is None else np.where(rows.fold != fold, weight, 0.0)
    return [cell_weights(each, cells, weight) for each, cells in zip(kinds, rows.X.T, strict=True)]


def _training_rows(rows: Rows, fold: int | None) -> tuple[IntArray, FloatArray]:
    kept = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
    cells, weight = rows.X[kept][:_ROWS], rows.weight[kept][:_ROWS]
    return cells, weight / weight.mean()


def _full(card: Card, rows: tuple[IntArray, FloatArray], largest: int | None) -> ScaledCard:
    """Return a full card; if points are whole, it is rounded, and keeps its mean log-odds."""
    cells, weight = rows
    if largest is None:
        return ScaledCard(card)
    unit = 1.0 / largest_unit(card, largest)
    made = rounded_card(card, 1.0 / unit)
    off = card.points(cells) - unit * made.points(cells)
    return ScaledCard(made, unit, float(weight @ off / weight.sum()))


def _compressed(
    card: Card,
    rows: tuple[IntArray, FloatArray],
    kinds: Sequence[CellKinds],
    directions: Sequence[Direction],
    lines: Sequence[int],
    largest: int | None,
) -> dict[int, ScaledCard]:
    """Return a card in several numbers of lines, fitted to its own log-odds."""
    cells, weight = rows
    spread = float(card.points(cells).std())
    factor = min(1.0, _SPREAD / max(spread, 1e-12))
    teacher = card.affine(factor, 0.0)
    columns = widest_columns(teacher, cells, weight, kinds)
    place = {int(column): k for k, column in enumerate(columns)}
    narrow = replace(
        teacher,
        columns=tuple(teacher.columns[k] for k in columns),
        crosses=tuple(
            replace(cross, columns=(place[cross.columns[0]], place[cross.columns[1]]))
            for cross in teacher.crosses
        ),
    )
    kept = [each._replace(column=place[each.column]) for each in directions if each.column in place]
    own = np.ascontiguousarray(cells[:, columns])
    of_rows = Teacher(narrow, own, narrow.points(own), weight)
    compression = RowCompression(of_rows, [kinds[k] for k in columns], kept, grid=_GRID)
    made = {}
    for size, groups in compression.path(lines).items():
        if largest is None:
            card_of = compression.compact(groups).affine(1.0 / factor, 0.0)
            unit, shift = 1.0, 0.0
        else:
            fitted = compression.fitted(groups)
            points, unit = compression.whole(fitted, largest)
            card_of = compression.card(fitted, points, 0.0)
            off = of_rows.log_odds - unit * card_of.points(own)
            shift, unit = float(weight @ off / weight.sum()) / factor, unit / factor
        made[size] = ScaledCard(widened(card_of, columns, kinds), unit, shift)
    return made


def widest_columns(
    card: Card, cells: IntArray, weight: FloatArray, kinds: Sequence[CellKinds]
) -> IntArray:
    """Return the sorted positions of the columns whose points move most, and of all crosses."""
    few = all(of_column.n_cells <= _FEW_CELLS for of_column in kinds)
    most = _BINARY_COLUMNS if few else _COLUMNS
    if len(kinds) <= most:
        return np.arange(len(kinds))
    first = np.argsort(-deviations(card.columns, cells, weight), kind="stable")[:most]
    return np.unique([*first, *(k for cross in card.crosses for k in cross.columns)])


def deviations(columns: Sequence[FloatArray], cells: IntArray, weight: FloatArray) -> FloatArray:
    """Return the standard deviation of the points of each column over the rows."""
    share = weight / weight.sum()
    found = []
    for points, of_column in zip(columns, cells.T, strict=True):
        if not points.any():
            found.append(0.0)
            continue
        held = np.bincount(of_column, share, len(points))
        found.append(float(np.sqrt(held @ (points - held @ points) ** 2)))
    return np.array(found)


def widened(card: Card, columns: IntArray, kinds: Sequence[CellKinds]) -> Card:
    """Return a card of some of the columns as one of all of them."""
    points: list[AnyArray] = [np.zeros(of_column.n_cells) for of_column in kinds]
    for k, column in enumerate(columns):
        points[column] = card.columns[k]
    crosses = tuple(
        replace(cross, columns=(int(columns[cross.columns[0]]), int(columns[cross.columns[1]])))
        for cross in card.crosses
    )
    return replace(card, columns=tuple(points), crosses=crosses)
