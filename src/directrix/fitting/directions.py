"""What directions of points or coefficients do to the metric on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError
from directrix.frontier.compare import compare
from directrix.models.report import DirectionEffect, Gap

if TYPE_CHECKING:
    from directrix._typing import IntArray
    from directrix.frontier.compare import Curves
    from directrix.metrics.base import Metric

# ── Signs that users ask coefficients to keep ─────────────────────────────────────────────────────

_SIGNS = {"increasing": 1, "decreasing": -1}


@dataclass(frozen=True)
class Signs:
    """Signs of some coefficients.

    ``positions``: name and position of each feature whose coefficient keeps a sign. ``signs``: 1
    where it may not be negative, −1 where it may not be positive.
    """

    n_features: int
    positions: tuple[tuple[str, int], ...]
    signs: tuple[int, ...]

    @classmethod
    def of(cls, monotone: Any, names: Sequence[str] | None, n_features: int) -> Signs | None:
        """Return the signs of the directions that a user gave; None if there are none.

        ``monotone``: from names or positions of features to "increasing" or "decreasing".
        ``names``: of the features, if they have some.
        """
        if monotone is None:
            return None
        if not isinstance(monotone, Mapping):
            msg = f"monotone must be a dict from features to directions, not {monotone!r}"
            raise TypeError(msg)
        known = [""] * n_features if names is None else list(names)
        found: dict[int, int] = {}
        for key, direction in monotone.items():
            position = column_position(key, known)
            if not (isinstance(direction, str) and direction in _SIGNS):
                msg = (
                    f"the direction of feature {key!r} must be 'increasing' or 'decreasing', not "
                    f"{direction!r}"
                )
                raise ValueError(msg)
            if position in found:
                msg = f"monotone names feature {key!r} twice: give it one direction"
                raise ValueError(msg)
            found[position] = _SIGNS[direction]
        if not found:
            return None
        labels = tuple((known[k] or f"feature {k}", k) for k in sorted(found))
        return cls(n_features, labels, tuple(found[k] for _, k in labels))

    @property
    def array(self) -> IntArray:
        """The sign of each coefficient, and a zero for the intercept last."""
        return self.only(range(len(self.signs)))

    @property
    def wishes(self) -> list[tuple[str, str]]:
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


def column_position(key: Any, names: Sequence[str]) -> int:
    """Return the position of a column that is given by its name or by its position.

    ``names``: of all columns; empty texts for columns without names.
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
    its own. Without time for these fits no effect is known.

    ``wishes``: the column and the direction of each. ``held_out``: from the indices of the
    directions that are kept to held-out curves. ``out_of_time``: asked before each fit.
    """

    wishes: Sequence[tuple[str, str]]
    held_out: Callable[[Sequence[int]], Curves]
    out_of_time: Callable[[], bool] | None = None

    @property
    def skipped(self) -> tuple[str, ...]:
        """What there was no time for."""
        return ("the effects of directions",) if self.wishes and self._curves is None else ()

    def of(self, metric: Metric, flat: Sequence[str]) -> tuple[DirectionEffect, ...]:
        """Return the effect of each direction, and of all together last if there are several.

        Without time for these fits, no direction has an effect, and there is none of all.

        ``flat``: columns that are left without effect.
        """
        if not self.wishes:
            return ()
        unknown: list[Gap | None] = [None] * len(self.wishes)
        if self._curves is None:
            return self._effects(unknown, flat)
        comparison = compare(metric, self._curves)
        losses, folds = comparison.losses, comparison.fold_losses
        gaps: list[Gap | None] = [
            Gap.of_folds(float(losses[k] - losses[0]), folds[k] - folds[0])
            for k in range(1, len(losses))
        ]
        effects = self._effects(gaps if len(self.wishes) <= _MOST else unknown, flat)
        if len(self.wishes) > 1:
            effects += (DirectionEffect("all columns", "together", gaps[-1]),)
        return effects

    def _effects(
        self, each: Sequence[Gap | None], flat: Sequence[str]
    ) -> tuple[DirectionEffect, ...]:
        return tuple(
            DirectionEffect(column, wish, effect, column in flat)
            for (column, wish), effect in zip(self.wishes, each, strict=False)
        )

    @cached_property
    def _curves(self) -> list[Curves] | None:
        """Curves with all directions, without each, and without any; None if there is no time."""
        every = list(range(len(self.wishes)))
        without = [[k for k in every if k != one] for one in every if len(every) <= _MOST]
        kept = [every, *without, *([[]] if len(every) > 1 else [])]
        curves = []
        for some in kept:
            if self.out_of_time is not None and self.out_of_time():
                return None
            curves.append(self.held_out(some))
        return curves
