"""Directions that the points of a column keep: what users ask for, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np

from directrix.designs.structure import Structure
from directrix.exceptions import FewRowsWarning, find_stacklevel
from directrix.fitting.directions import DirectionPrices, column_position
from directrix.frontier.compare import Curves, design_without
from directrix.tables import LevelBins
from directrix.tables.coding.card_coding import Direction

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.designs.structure import StructureSearch
    from directrix.tables.bins import Bins

_WISHES = ("increasing", "decreasing")
#: Points that differ by less than this share of the card's range are the same.
_FLAT = 1e-9
#: Levels between which there is a direction.
_LEAST_LEVELS = 2


def directions_of(monotone: Any, bins: Sequence[Bins]) -> list[Direction]:
    """Return directions by what the user gave, in the order of the columns.

    ``monotone``: from names or positions of columns to "increasing", "decreasing" or, for texts, a
    list of levels whose points may not fall in this order. ``bins``: of every column.
    """
    if monotone is None:
        return []
    if not isinstance(monotone, Mapping):
        msg = f"monotone must be a dict from columns to directions, not {monotone!r}"
        raise TypeError(msg)
    names = [each.name for each in bins]
    found: dict[int, Direction] = {}
    for key, wish in monotone.items():
        column = column_position(key, names)
        if column in found:
            msg = f"monotone names column {names[column]!r} twice: give it one direction"
            raise ValueError(msg)
        text, rising = _rising(bins[column], wish)
        found[column] = Direction(column, names[column], text, rising)
    return [found[column] for column in sorted(found)]


def flat_columns(directions: Sequence[Direction], columns: Sequence[FloatArray]) -> list[str]:
    """Return the names of columns whose direction the rows contradict: all points are equal.

    ``columns``: points of the cells of each column of a card.
    """
    largest = max((float(np.ptp(points)) for points in columns if points.size), default=0.0)
    return [
        direction.name
        for direction in directions
        if np.ptp(columns[direction.column][direction.rising]) <= _FLAT * largest
    ]


def _rising(bins: Bins, wish: Any) -> tuple[str, IntArray]:
    """Return a direction as text, and the cells of a column in the order that may not fall."""
    if isinstance(bins, LevelBins):
        return _rising_levels(bins, wish)
    if not (isinstance(wish, str) and wish in _WISHES):
        msg = (
            f"the direction of column {bins.name!r} must be 'increasing' or 'decreasing', not "
            f"{wish!r}: it holds no texts"
        )
        raise ValueError(msg)
    ordered = np.arange(1, 1 + bins.n_ordered)
    return wish, ordered if wish == "increasing" else ordered[::-1]


def _rising_levels(bins: LevelBins, wish: Any) -> tuple[str, IntArray]:
    if isinstance(wish, str) or not isinstance(wish, Sequence):
        msg = (
            f"column {bins.name!r} holds texts, which have no order: give its levels in the order "
            f"in which points may not fall, such as {list(bins.levels[:3])!r}, not {wish!r}"
        )
        raise ValueError(msg)  # noqa: TRY004 - a wrong value of a parameter
    cells = dict(zip(bins.levels, bins.level_cells, strict=True))
    unknown = [level for level in wish if level not in cells]
    known = [level for level in wish if level in cells]
    if len(known) >= _LEAST_LEVELS and unknown:
        warn(
            f"levels {', '.join(map(repr, unknown))} of column {bins.name!r} have too few rows for "
            "points of their own, and no direction: rows with them are scored like all others of "
            "few rows",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )
    elif unknown:
        msg = (
            f"column {bins.name!r} has no level {unknown[0]!r} with enough rows for points of its "
            f"own; there are {', '.join(map(repr, bins.levels))}"
        )
        raise ValueError(msg)
    rising = np.array([cells[level] for level in known], dtype=np.int64)
    if len(np.unique(rising)) < max(len(rising), _LEAST_LEVELS):
        msg = f"the direction of column {bins.name!r} needs two or more different levels"
        raise ValueError(msg)
    return " <= ".join(map(str, known)), rising


def direction_prices(search: StructureSearch, ridge: float) -> DirectionPrices:
    """Return what the directions of a search cost.

    The cards are additive, and trained by the likelihood or in closed form: they tell what a
    direction takes away, whatever is trained on top.

    ``search``: with all directions. ``ridge``: of all cards.
    """
    rows, every = search.rows, search.directions
    fold = rows.fold
    if fold is None:
        every = ()
    folds = [] if fold is None else range(int(fold.max()) + 1)

    def held_out(kept: Sequence[int]) -> Curves:
        X = replace(search, directions=[every[k] for k in kept]).designs(Structure(ridge), folds)
        lines = search.trainer.solve(X, [ridge], folds, in_any_case=True)
        scores = np.empty(len(rows.positive))
        for number in folds:
            tested, line = np.flatnonzero(fold == number), lines[ridge, number]
            scores[tested] = design_without(X, number)[tested] @ line[:-1] + line[-1]
        return Curves(rows.positive, scores, rows.weight, fold)

    wishes = [(each.name, each.wish) for each in every]
    return DirectionPrices(wishes, held_out, search.out_of_time)
