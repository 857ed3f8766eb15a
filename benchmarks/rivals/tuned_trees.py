"""Boosted trees on tables, their leaves and learning rate by inner folds."""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import INNER_FOLDS
from benchmarks.rivals.table_rival import (
    LogOdds,
    TableRival,
    frame_folds,
    mean_auc,
    with_categories,
)
from directrix._typing import FloatArray

LEAVES, RATES = (7, 31), (0.1, 0.03)
#: No more trees than this; early stopping ends most fits long before.
MOST_TREES = 2000


class Settings(NamedTuple):
    """What the inner folds choose."""

    leaves: int
    rate: float
    trees: int = MOST_TREES


class TunedTrees(TableRival):
    """Four settings, each stopped early on the inner fold; the best by mean AUC is fitted to all.

    It has as many trees as the inner folds had in the mean.
    """

    #: How many levels of a text the library can take; None: any number.
    most_levels: int | None = None

    @abstractmethod
    def grow(
        self, train: Rows, other: Rows, settings: Settings, *, stop: bool
    ) -> tuple[FloatArray, int]:
        """Return the log-odds of the other rows, and the number of trees.

        ``stop``: whether the other rows end the growth early.
        """

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Choose, then fit to all rows."""
        every = [Settings(*values) for values in product(LEAVES, RATES)]
        held_out = {settings: np.zeros(len(train.y)) for settings in every}
        trees: dict[Settings, list[int]] = {settings: [] for settings in every}
        parts = []
        for part, fitted, other in frame_folds(train, INNER_FOLDS):
            parts.append(part)
            typed = self._typed(fitted, other)
            for settings in every:
                scores, count = self.grow(*typed, settings, stop=True)
                held_out[settings][part] = scores
                trees[settings].append(count)
        best = max(every, key=lambda settings: mean_auc(train.y, held_out[settings], parts))
        final = best._replace(trees=max(1, round(float(np.mean(trees[best])))))
        scores, _ = self.grow(*self._typed(train, test), final, stop=False)
        return LogOdds(scores, held_out[best])

    def _typed(self, train: Rows, other: Rows) -> tuple[Rows, Rows]:
        first, second = with_categories(train.X, other.X, self.most_levels)
        return Rows(first, train.y), Rows(second, other.y)
