"""Tasks: what is made of the rows of a partition. The only code that goes to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.plan import Grouped, Plan
from directrix.moments.labels import tidy
from directrix.moments.row_hash import row_hash
from directrix.moments.row_sample import RowSample
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
class Surveyed:
    """The summaries of rows, and a sample of them."""

    grouped: Grouped
    sample: RowSample | None = None

    def __add__(self, other: Surveyed) -> Surveyed:
        samples = [own for own in (self.sample, other.sample) if own is not None]
        return Surveyed(self.grouped + other.grouped, tree_sum(samples) if samples else None)


@dataclass(frozen=True)
class Survey:
    """The summaries, and with them a sample of the rows: one pass.

    Parameters
    ----------
    most : int
        Rows of each class that a partition may keep.
    """

    most: int
    name = "summarize"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> Surveyed:
        """Return what is kept of the rows of a partition."""
        grouped, sample = [Grouped({})], None
        for table in tables:
            block = plan.block(table)
            grouped.append(plan.summary_of(block))
            hashes, labels = row_hash(block.X), tidy(block.y)
            for start in range(0, block.X.shape[0], _ROWS):
                own = slice(start, min(start + _ROWS, block.X.shape[0]))
                n = own.stop - own.start
                part = RowSample.of(
                    np.asarray(block.X.block(own.start, own.stop), dtype=np.float64),
                    labels[own],
                    np.ones(n) if block.weight is None else np.asarray(block.weight[own], float),
                    np.zeros(n, dtype=np.int32) if block.fold is None else block.fold[own],
                    hashes[own],
                ).at_most(self.most)
                sample = part if sample is None else (sample + part).at_most(self.most)
        return Surveyed(tree_sum(grouped), sample)


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
