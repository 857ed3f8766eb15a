"""What the passes of a card compute from the rows of a partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.scorecard.source.class_totals import ClassTotals
from directrix.classifiers.scorecard.source.column_kinds import ColumnKinds
from directrix.classifiers.scorecard.source.table_sample import TableSample, table_sample_of_block
from directrix.engines.running_sample import RunningSample
from directrix.engines.tasks import Fingerprint
from directrix.moments.score_histogram import LineHistograms
from directrix.tables import BinCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.designs.card import CardDesign
    from directrix.engines.block import Block, Partition
    from directrix.engines.plan import Plan
    from directrix.fitting.corrections import LossSlopes
    from directrix.tables import Binner

#: Rows that are coded at a time.
_ROWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True, eq=False)
class TableSurveyed:
    """Result of `TableSurvey`; results add up.

    Parameters
    ----------
    totals : ClassTotals
    sample : TableSample, optional
    fingerprint : Fingerprint
    kinds : ColumnKinds
    counts : BinCounts, optional
        If the bins are known.
    """

    totals: ClassTotals
    sample: TableSample | None
    fingerprint: Fingerprint
    kinds: ColumnKinds
    counts: BinCounts | None = None

    def __add__(self, other: TableSurveyed) -> TableSurveyed:
        return TableSurveyed(
            self.totals + other.totals,
            _sum(self.sample, other.sample),
            self.fingerprint + other.fingerprint,
            self.kinds + other.kinds,
            _sum(self.counts, other.counts),
        )


@dataclass(frozen=True)
class TableSurvey:
    """Task of the first pass: totals of the classes, a sample of the rows, their fingerprint.

    Parameters
    ----------
    most : int
        Largest number of rows of each class in the sample.
    apart : int, optional
        A hold-out fold, whose rows are not sampled.
    binner : Binner, optional
        Bins that are known, whose cells are counted in the same pass.
    thresholds : dict, optional
        Largest hash of the sampled rows of each class; by default a partition samples its share.
    """

    most: int
    apart: int | None = None
    binner: Binner | None = None
    thresholds: dict[Any, int] | None = None
    name = "sample"

    def __call__(self, plan: Plan, partition: Partition) -> TableSurveyed:
        """Return what the first pass needs to know of a partition."""
        totals, fingerprint, counts = ClassTotals(), Fingerprint(), None
        kinds = ColumnKinds({}, {})
        n_partitions = partition.count if self.thresholds is None else None
        running = RunningSample(
            table_sample_of_block, self.most, n_partitions, self.apart, self.thresholds
        )
        for block in plan.blocks(partition):
            totals += ClassTotals.of(block)
            fingerprint += Fingerprint.of(block)
            kinds += ColumnKinds.of(block.X)
            running.add(block)
            if self.binner is not None:
                counts = _sum(counts, counted(self.binner, block))
        return TableSurveyed(totals, running.sample(), fingerprint, kinds, counts)


@dataclass(frozen=True, eq=False)
class CardModels:
    """Cards of one design that a pass scores rows with.

    Parameters
    ----------
    design : CardDesign
    lines : array of shape (k, d + 1)
    fold : int
        The fold whose rows are scored.
    """

    design: CardDesign
    lines: FloatArray
    fold: int

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the scores of rows by each card, of shape (k, n)."""
        lines = self.lines.astype(np.float32)  # bins of scores are wider than its rounding
        scores: FloatArray = self.design.rows(cells) @ lines[:, :-1].T + lines[:, -1]
        return scores.T


class CardSlopes(NamedTuple):
    """Losses of cards whose gradients a pass adds up.

    Parameters
    ----------
    design : CardDesign
    losses : LossSlopes
    """

    design: CardDesign
    losses: LossSlopes

    def sums(self, cells: IntArray, positive: AnyArray, weight: Any, fold: AnyArray) -> FloatArray:
        """Return sums of weighted gradients over rows, of shape (k, d + 1)."""
        # A sum over many rows needs no more digits of each than single precision has.
        return self.losses.sums(
            lambda rows: self.design.rows(cells[rows]), positive, weight, fold, np.float32
        )


@dataclass(frozen=True, eq=False)
class Scored:
    """Result of `ScoreCards`; results add up.

    Parameters
    ----------
    fingerprint : Fingerprint
    histograms : tuple of LineHistograms
    gradients : tuple of arrays of shape (k, d + 1)
    cells : tuple of arrays of shape (2, cells)
        For each column the weight of the negatives and of the positives in its cells; empty unless
        cards are scored.
    counts : BinCounts, optional
    """

    fingerprint: Fingerprint
    histograms: tuple[LineHistograms, ...] = ()
    gradients: tuple[FloatArray, ...] = ()
    cells: tuple[FloatArray, ...] = ()
    counts: BinCounts | None = None

    def __add__(self, other: Scored) -> Scored:
        return Scored(
            self.fingerprint + other.fingerprint,
            _sums(self.histograms, other.histograms),
            _sums(self.gradients, other.gradients),
            _sums(self.cells, other.cells),
            _sum(self.counts, other.counts),
        )


@dataclass(frozen=True, eq=False)
class ScoreCards:
    """Task of the later passes: score histograms, gradients and counts of cells.

    Parameters
    ----------
    binner : Binner
    positive : label
        The positive class.
    models : sequence of CardModels
        Cards whose scores are counted in histograms.
    slopes : sequence of CardSlopes
        Cards whose gradients are added up.
    count : bool
        Whether cells and pairs of cells are counted.
    """

    binner: Binner
    positive: Any
    models: Sequence[CardModels] = ()
    slopes: Sequence[CardSlopes] = ()
    count: bool = False
    name = "score"

    def __call__(self, plan: Plan, partition: Partition) -> Scored:
        """Return histograms, gradients and counts of the rows of a partition."""
        sizes = [bins.n_cells for bins in self.binner.bins_] if self.models else []
        histograms = [LineHistograms.empty(len(model.lines)) for model in self.models]
        gradients = [np.zeros(slope.losses.coefs.shape) for slope in self.slopes]
        by_cell = [np.zeros((2, size)) for size in sizes]
        fingerprint, counts = Fingerprint(), None
        for block in plan.blocks(partition):
            fingerprint += Fingerprint.of(block)
            counts = _sum(counts, counted(self.binner, block) if self.count else None)
            for cells, positive, weight, fold in self._parts(block):
                for k, size in enumerate(sizes):
                    codes = cells[:, k] + size * positive
                    by_cell[k] += np.bincount(codes, weight, 2 * size).reshape(2, size)
                for k, model in enumerate(self.models):
                    rows = np.flatnonzero(fold == model.fold)
                    scores = model.scores(cells[rows])
                    histograms[k] += LineHistograms.of_scores(scores, positive[rows], weight[rows])
                for k, slope in enumerate(self.slopes):
                    gradients[k] += slope.sums(cells, positive, weight, fold)
        return Scored(fingerprint, tuple(histograms), tuple(gradients), tuple(by_cell), counts)

    def _parts(self, block: Block) -> Iterator[tuple[IntArray, AnyArray, FloatArray, AnyArray]]:
        """Yield cells, classes, weights and folds of some thousands of rows at a time."""
        if not self.models and not self.slopes:
            return
        cells, positive = self.binner.cells(block.X), block.labels == self.positive
        weight, fold = block.row_weight, block.row_fold
        for start in range(0, block.n_rows, _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            yield cells[rows], positive[rows], weight[rows], fold[rows]


def counted(binner: Binner, block: Block) -> BinCounts:
    """Return the counts of the cells of a block, by fold."""
    return BinCounts.of(binner, block.X, block.y, block.weight, fold=block.fold)


def _sum(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _sums(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(first, second, strict=True))
