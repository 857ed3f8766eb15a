"""Directions that coefficients and points keep: what users ask for, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.exceptions import FewRowsWarning, find_stacklevel
from directrix.exceptions.columns import ColumnNotFoundError, suggest_names
from directrix.fit.compare import compare
from directrix.fit.curves import Curves
from directrix.fit.gap import Gap
from directrix.fit.report import DirectionEffect
from directrix.metrics.base import Metric
from directrix.tables import LevelBins
from directrix.tables.bins import Bins

# ── Signs that users ask coefficients to keep ─────────────────────────────────────────────────────

_SIGNS = {"increasing": 1, "decreasing": -1}


@dataclass(frozen=True)
class Signs:
    """Signs of some coefficients.

    ``positions`` has the name and the position of each feature whose coefficient keeps a sign.
    ``signs`` are 1 where it may not be negative, −1 where it may not be positive.
    """

    n_features: int
    positions: tuple[tuple[str, int], ...]
    signs: tuple[int, ...]

    @classmethod
    def of(cls, monotone: Any, names: Sequence[str] | None, n_features: int) -> Signs | None:
        """Return the signs of the directions that a user gave; None if there are none.

        ``monotone`` maps names or positions of features to "increasing" or "decreasing". ``names``
        are those of the features, if they have some.
        """
        known = [""] * n_features if names is None else list(names)
        found = _by_position(monotone, known)
        for position, direction in found.items():
            if not (isinstance(direction, str) and direction in _SIGNS):
                name = known[position] or position
                msg = (
                    f"the direction of feature {name!r} must be 'increasing' or 'decreasing', not "
                    f"{direction!r}"
                )
                raise ValueError(msg)
        if not found:
            return None
        labels = tuple((known[k] or f"feature {k}", k) for k in found)
        return cls(n_features, labels, tuple(_SIGNS[direction] for direction in found.values()))

    @property
    def array(self) -> IntArray:
        """The sign of each coefficient, and a zero for the intercept last."""
        return self.only(range(len(self.signs)))

    @property
    def requested(self) -> list[tuple[str, str]]:
        """Name and direction of each feature."""
        words = {sign: direction for direction, sign in _SIGNS.items()}
        pairs = zip(self.positions, self.signs, strict=True)
        return [(name, words[sign]) for (name, _), sign in pairs]

    def only(self, kept: Iterable[int]) -> IntArray:
        """Return the array of some of the signs, by their numbers."""
        array = np.zeros(self.n_features + 1, dtype=np.int64)
        for number in kept:
            array[self.positions[number][1]] = self.signs[number]
        return array


def _by_position(monotone: Any, names: Sequence[str]) -> dict[int, Any]:
    if monotone is None:
        return {}
    if not isinstance(monotone, Mapping):
        msg = f"monotone must be a dict from columns to directions, not {monotone!r}"
        raise TypeError(msg)
    found: dict[int, Any] = {}
    for key, value in monotone.items():
        position = column_position(key, names)
        if position in found:
            name = names[position] or position
            msg = f"monotone names column {name!r} twice: give it one direction"
            raise ValueError(msg)
        found[position] = value
    return dict(sorted(found.items()))


def column_position(key: Any, names: Sequence[str]) -> int:
    """Return the position of a column that is given by its name or by its position.

    ``names`` are those of all columns; columns without names have empty texts.
    """
    if isinstance(key, str) and key and key in names:
        return list(names).index(key)
    whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if whole and 0 <= key < len(names):
        return int(key)
    raise ColumnNotFoundError(key, [name for name in names if name])


# ── What directions of points or coefficients do to the metric on held-out rows ───────────────────

#: Directions up to which the effect of each is known.
_MOST = 20


@dataclass(frozen=True)
class DirectionPrices:
    """The metric of plain models with all directions, without each, and without any.

    Of more than twenty directions only the effect of all together is known: each takes a fit of
    its own.

    ``requested`` has the column and the direction of each. ``held_out`` maps the indices of the
    directions that are kept to held-out curves.
    """

    requested: Sequence[tuple[str, str]]
    held_out: Callable[[Sequence[int]], Curves]

    def of(self, metric: Metric, flat: Sequence[str]) -> tuple[DirectionEffect, ...]:
        """Return the effect of each direction, and of all together last if there are several.

        ``flat`` are the columns that are left without effect.
        """
        if not self.requested:
            return ()
        comparison = compare(metric, self._curves)
        losses, folds = comparison.losses, comparison.fold_losses
        gaps: list[Gap | None] = [
            Gap.of_folds(float(losses[k] - losses[0]), folds[k] - folds[0], metric.largest_gap)
            for k in range(1, len(losses))
        ]
        known = gaps if len(self.requested) <= _MOST else [None] * len(self.requested)
        effects = tuple(
            DirectionEffect(column, requested, effect, column in flat)
            for (column, requested), effect in zip(self.requested, known, strict=False)
        )
        if len(self.requested) > 1:
            effects += (DirectionEffect("all columns", "together", gaps[-1]),)
        return effects

    @cached_property
    def _curves(self) -> list[Curves]:
        every = list(range(len(self.requested)))
        without = [[k for k in every if k != one] for one in every if len(every) <= _MOST]
        kept = [every, *without, *([[]] if len(every) > 1 else [])]
        return [self.held_out(some) for some in kept]


# ── Directions that users ask the points of columns to keep ───────────────────────────────────────


_DIRECTIONS = ("increasing", "decreasing")
#: Points that differ by less than this share of the card's range are the same.
_FLAT = 1e-9
#: Levels between which there is a direction.
_LEAST_LEVELS = 2


class Direction(NamedTuple):
    """A direction that the points of a column keep.

    ``requested`` is what was asked for, as text, and ``rising`` the cells of the column in the
    order in which points of the positive class may not fall.
    """

    column: int
    name: str
    requested: str
    rising: IntArray


def directions_of(monotone: Any, bins: Sequence[Bins]) -> list[Direction]:
    """Return directions by what the user gave, in the order of the columns.

    ``monotone`` maps names or positions of columns to "increasing", "decreasing" or, for texts, a
    list of levels whose points may not fall in this order. ``bins`` are those of every column.
    """
    names = [each.name for each in bins]
    found = _by_position(monotone, names)
    return [
        Direction(column, names[column], *_rising(bins[column], requested))
        for column, requested in found.items()
    ]


def flat_columns(directions: Sequence[Direction], columns: Sequence[FloatArray]) -> list[str]:
    """Return the names of columns whose direction the rows contradict: all points are equal.

    ``columns`` are the points of the cells of each column of a card.
    """
    largest = max((float(np.ptp(points)) for points in columns if points.size), default=0.0)
    return [
        direction.name
        for direction in directions
        if np.ptp(columns[direction.column][direction.rising]) <= _FLAT * largest
    ]


def _rising(bins: Bins, requested: Any) -> tuple[str, IntArray]:
    """Return a direction as text, and the cells of a column in the order that may not fall."""
    if isinstance(bins, LevelBins):
        return _rising_levels(bins, requested)
    if not (isinstance(requested, str) and requested in _DIRECTIONS):
        msg = (
            f"the direction of column {bins.name!r} must be 'increasing' or 'decreasing', not "
            f"{requested!r}{'' if isinstance(requested, str) else ': it holds no texts'}"
        )
        raise ValueError(msg)
    ordered = np.arange(1, 1 + bins.n_ordered)
    return requested, ordered if requested == "increasing" else ordered[::-1]


def _rising_levels(bins: LevelBins, requested: Any) -> tuple[str, IntArray]:
    if isinstance(requested, str) or not isinstance(requested, Sequence):
        msg = (
            f"column {bins.name!r} holds texts, which have no order: give its levels in the order "
            f"in which points may not fall, such as {list(bins.levels[:3])!r}, not {requested!r}"
        )
        raise ValueError(msg)  # noqa: TRY004 - a wrong value of a parameter
    cells = dict(zip(bins.levels, bins.level_cells, strict=True))
    unknown = [level for level in requested if level not in cells]
    known = [level for level in requested if level in cells]
    if len(known) >= _LEAST_LEVELS and unknown:
        asked = "".join(suggest_names(level, bins.levels) for level in unknown)
        warn(
            f"levels {', '.join(map(repr, unknown))} of column {bins.name!r} have too few rows for "
            "points of their own, and no direction: rows with them are scored like all others of "
            f"few rows{asked}",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )
    elif unknown:
        asked = suggest_names(unknown[0], bins.levels)
        msg = (
            f"column {bins.name!r} has no level {unknown[0]!r} with enough rows for points of its "
            f"own{asked}{' There' if asked else '; there'} are {', '.join(map(repr, bins.levels))}"
        )
        raise ValueError(msg)
    rising = np.array([cells[level] for level in known], dtype=np.int64)
    if len(np.unique(rising)) < max(len(rising), _LEAST_LEVELS):
        msg = f"the direction of column {bins.name!r} needs two or more different levels"
        raise ValueError(msg)
    return " <= ".join(map(str, known)), rising
