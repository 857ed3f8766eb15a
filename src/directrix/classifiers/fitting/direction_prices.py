"""What directions of points or coefficients do to the metric on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from directrix.classifiers.direct.gap import DirectionEffect, Gap
from directrix.frontier.compare import compare

if TYPE_CHECKING:
    from directrix.frontier.compare import Curves
    from directrix.metrics.base import Metric


#: Directions up to which the effect of each is known.
_MOST = 20


@dataclass(frozen=True)
class DirectionPrices:
    """The metric of plain models with all directions, without each, and without any.

    Of more than twenty directions only the effect of all together is known: each takes a fit of
    its own. Without time for these fits no effect is known.

    Parameters
    ----------
    wishes : sequence of pairs of str
        The column and the direction of each.
    held_out : callable
        From the indices of the directions that are kept to held-out curves.
    out_of_time : callable, optional
        Asked before each fit.
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

        Parameters
        ----------
        metric : Metric
        flat : sequence of str
            Columns that are left without effect.
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
