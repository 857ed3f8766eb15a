"""What directions of points or coefficients cost on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from directrix.classifiers.direct.report import DirectionPrice
from directrix.frontier import compare

if TYPE_CHECKING:
    from directrix.frontier import Curves
    from directrix.metrics import Metric


#: Directions up to which each has a price.
_MOST = 20


@dataclass(frozen=True)
class DirectionPrices:
    """The metric of plain models with all directions, without each, and without any.

    Of more than twenty directions only all together have a price: each takes a fit of its own.

    Parameters
    ----------
    wishes : sequence of pairs of str
        The column and the direction of each.
    held_out : callable
        From the indices of the directions that are kept to held-out curves.
    """

    wishes: Sequence[tuple[str, str]]
    held_out: Callable[[Sequence[int]], Curves]

    def of(self, metric: Metric, flat: Sequence[str]) -> tuple[DirectionPrice, ...]:
        """Return the price of each direction, and of all together last if there are several.

        Parameters
        ----------
        metric : Metric
        flat : sequence of str
            Columns that are left without effect.
        """
        if not self.wishes:
            return ()
        with_all, *without = compare(metric, self._curves).losses.tolist()
        each = without if len(self.wishes) <= _MOST else [float("nan")] * len(self.wishes)
        prices = [
            DirectionPrice(column, wish, with_all - loss, column in flat)
            for (column, wish), loss in zip(self.wishes, each, strict=False)
        ]
        if len(self.wishes) > 1:
            prices.append(DirectionPrice("all columns", "together", with_all - without[-1]))
        return tuple(prices)

    @cached_property
    def _curves(self) -> list[Curves]:
        every = list(range(len(self.wishes)))
        without = [[k for k in every if k != one] for one in every if len(every) <= _MOST]
        kept = [every, *without, *([[]] if len(every) > 1 else [])]
        return [self.held_out(some) for some in kept]
