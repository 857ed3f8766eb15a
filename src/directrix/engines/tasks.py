"""Tasks: what is made of the rows of a partition. The only code that goes to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.plan import Grouped, Plan
from directrix.moments.labels import tidy
from directrix.moments.score_histogram import ScoreHistogram
from directrix.moments.tree import tree_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from directrix._typing import FloatArray

_ROWS = 1 << 16


@dataclass(frozen=True)
class Summaries:
    """The summaries of all groups: the first pass."""

    name = "summarize"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> Grouped:
        """Return the summaries of the rows of a partition."""
        return tree_sum(self._each(plan, tables))

    def _each(self, plan: Plan, tables: Iterator[Any]) -> Iterator[Grouped]:
        yield Grouped({})
        for table in tables:
            yield plan.summary(table)


@dataclass(frozen=True)
class Histograms:
    """The score histograms of candidate lines: the second pass.

    Parameters
    ----------
    lines : array of shape (folds, k, d + 1)
        For each fold the candidates made without it.
    positive : label
        The positive class.
    """

    lines: FloatArray
    positive: Any
    name = "score"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> ScoreHistogram:
        """Return the histograms of the rows of a partition."""
        total = ScoreHistogram.empty(self.lines.shape[1])
        for table in tables:
            block = plan.block(table)
            positive = tidy(block.y) == self.positive
            weight = None if block.weight is None else np.asarray(block.weight)
            for start in range(0, block.X.shape[0], _ROWS):
                own = slice(start, min(start + _ROWS, block.X.shape[0]))
                total += ScoreHistogram.of(
                    np.asarray(block.X.block(own.start, own.stop), dtype=np.float64),
                    positive[own],
                    self.lines,
                    None if weight is None else weight[own],
                    None if block.fold is None else block.fold[own],
                )
        return total
