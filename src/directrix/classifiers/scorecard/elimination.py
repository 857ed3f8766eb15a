"""Which columns a small card keeps: those that are left when the weakest are dropped in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.classifiers.scorecard.design import CardDesign
    from directrix.classifiers.scorecard.trainers import Trainer

#: Share of the columns that are kept at each step, before a card is trained again.
_KEPT = 0.8


def columns_by_effect(
    columns: Sequence[int],
    design_of: Callable[[Sequence[int]], CardDesign],
    rows: TrainingRows,
    trainer: Trainer,
    ridge: float,
    fold: int | None,
) -> list[int]:
    """Return columns in the order in which they are dropped, the last to go first.

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
    kept, dropped = list(columns), list[int]()
    used = np.ones(len(rows.positive), dtype=bool) if fold is None else rows.fold != fold
    while len(kept) > 1:
        design = design_of(kept)
        line = trainer.solve(design.rows(rows.X), [ridge], [fold], in_any_case=True)[ridge, fold]
        points = design.coding.block_points(line[:-1])
        effects = [_spread(points[k][rows.X[used, k]], rows.weight[used]) for k in kept]
        order = np.argsort(effects, kind="stable")
        going = [kept[k] for k in order[: len(kept) - int(_KEPT * len(kept))]]
        dropped += going
        kept = [k for k in kept if k not in going]
    return kept + dropped[::-1]


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
