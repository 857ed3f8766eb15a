"""The order of columns in a fit: by their values, whatever the order in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from directrix.models.card import Card, Cross
from directrix.rows.keys import mix_bits

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.scorecard.fit import CardSettings, FittedCard

Item = TypeVar("Item")

#: Stands for a missing value.
_MISSING = np.uint64(0xA0761D6478BD642F)


def content_order(values: FloatArray, copies: IntArray, names: Sequence[str]) -> list[int]:
    """Return the positions of the columns in an order that follows from the rows alone.

    It depends neither on the order of the columns nor on that of the rows. Each column has a hash:
    the sum over the rows of its value mixed with a hash of the whole row, which is a sum over the
    columns. Columns with the same hash, as equal ones have, are ordered by name.

    Parameters
    ----------
    values : array of shape (n, d)
        NaN is missing.
    copies : array of int of shape (n,)
        How many rows each stands for.
    names : sequence of str
        Of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 5.0, 0.0], [2.0, 3.0, 0.5]])
    >>> for given in (rows, rows[:, [2, 0, 1]]):
    ...     print(given[:, content_order(given, np.ones(2), "abc")].tolist())
    [[5.0, 0.0, 1.0], [3.0, 0.5, 2.0]]
    [[5.0, 0.0, 1.0], [3.0, 0.5, 2.0]]
    """
    bits = np.ascontiguousarray(values.T + 0.0).view(np.uint64)  # minus zero plus zero is zero
    bits[np.isnan(values.T)] = _MISSING
    mixed = mix_bits(bits)
    of_rows = mix_bits(mixed.sum(axis=0, dtype=np.uint64))
    sums = (mix_bits(mixed ^ of_rows) @ copies.astype(np.uint64)).tolist()
    return sorted(range(len(sums)), key=lambda k: (sums[k], names[k]))


@dataclass(frozen=True)
class ColumnOrder:
    """A fit adds, ranks and breaks ties in one order, whatever the order of the columns.

    Parameters
    ----------
    index : tuple of int
        For each column of the fit, its position in the binner, which has the order of the table.
    """

    index: tuple[int, ...]

    @classmethod
    def of(cls, binner: Any, names: Sequence[str]) -> ColumnOrder:
        """Return the order of the columns of a fitted binner, given by their names."""
        position = {bins.name: k for k, bins in enumerate(binner.bins_)}
        return cls(tuple(position[name] for name in names if name in position))

    def sorted(self, items: Sequence[Item]) -> list[Item]:
        """Return something of each column of the binner in the order of the fit."""
        return [items[k] for k in self.index]

    def sorted_settings(self, settings: CardSettings) -> CardSettings:
        """Return settings with directions of the columns of the fit, not of the binner."""
        place = self.index.index
        moved = [each._replace(column=place(each.column)) for each in settings.directions]
        return replace(settings, directions=sorted(moved, key=lambda each: each.column))

    def restored_fit(self, fit: FittedCard, names: Sequence[str]) -> FittedCard:
        """Return a fit with card and report in the order of the binner, whose columns are named."""
        place = {name: k for k, name in enumerate(names)}
        prices = sorted(fit.report.directions, key=lambda each: place.get(each.column, len(names)))
        report = replace(fit.report, directions=tuple(prices))
        return fit._replace(card=self.restored(fit.card), report=report)

    def restored(self, card: Card) -> Card:
        """Return a card of the fit with the columns in the order of the binner."""
        columns = [card.columns[self.index.index(k)] for k in range(len(self.index))]
        crosses = tuple(self._restored_cross(cross) for cross in card.crosses)
        return replace(card, columns=tuple(columns), crosses=crosses)

    def _restored_cross(self, cross: Cross) -> Cross:
        left, right = (self.index[k] for k in cross.columns)
        if left < right:
            return replace(cross, columns=(left, right))
        # The columns of a pair are in the order of the table.
        return Cross((right, left), cross.merged[::-1], cross.points.T.copy())
