"""Which columns a small card keeps: those that are left when the weakest are dropped in turn."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.scorecard.trainers import Trainer
    from directrix.designs.card import CardDesign
    from directrix.fitting.training_rows import TrainingRows

#: Share of the columns that are kept at each step, before a card is trained again.
_KEPT = 0.8


@dataclass
class Elimination:
    """Backward elimination of columns, which goes only as far as it is asked.

    A card of all columns is trained; those whose points differ least over the rows are dropped, a
    fifth at a time; the rest is trained again.

    Parameters
    ----------
    columns : sequence of int
        Those that can be kept.
    design_of : callable
        From columns to the additive design that has only these.
    rows : TrainingRows
        With cells as their features.
    trainer : Trainer
    ridge : float
    fold : int, optional
        Rows of this fold are not looked at.
    """

    columns: InitVar[Sequence[int]]
    design_of: Callable[[Sequence[int]], CardDesign]
    rows: TrainingRows
    trainer: Trainer
    ridge: float
    fold: int | None
    _kept: list[int] = field(init=False)
    #: In the order in which they were dropped.
    _dropped: list[int] = field(default_factory=list, init=False)

    def __post_init__(self, columns: Sequence[int]) -> None:
        self._kept = list(columns)

    def best(self, n_columns: int) -> list[int]:
        """Return the columns that are left when all but so many are dropped."""
        while len(self._kept) > n_columns:
            self._drop()
        return self._kept + self._dropped[::-1][: n_columns - len(self._kept)]

    def _drop(self) -> None:
        rows, kept, fold, ridge = self.rows, self._kept, self.fold, self.ridge
        used = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
        design = self.design_of(kept)
        coded = design.rows(rows.X)
        line = self.trainer.solve(coded, [ridge], [fold], in_any_case=True)[ridge, fold]
        points = design.coding.block_points(line[:-1])
        weight = rows.weight[used]
        effects = [_spread(points[k][rows.X[used, k]], weight) for k in kept]
        order = np.argsort(effects, kind="stable")
        going = [kept[k] for k in order[: len(kept) - int(_KEPT * len(kept))]]
        self._dropped += going
        self._kept = [k for k in kept if k not in going]


def numbers_to_try(n_columns: int, most: int) -> list[int]:
    """Return numbers of columns to compare, from the largest on.

    Parameters
    ----------
    n_columns : int
        Columns that there are.
    most : int
        Columns of a card at most.
    """
    numbers, number = list[int](), min(n_columns, most)
    while number >= 1:
        numbers.append(number)
        number = min(number - 1, int(_KEPT * number))
    return numbers


def _spread(points: FloatArray, weight: FloatArray) -> float:
    """Return the standard deviation of the points of rows."""
    share = weight / weight.sum()
    return float(np.sqrt(share @ np.square(points - share @ points)))
