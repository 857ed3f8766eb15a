"""Tasks that run on the rows of a partition; the only code that is sent to workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.column_roles import Block, ClassTotals, ColumnRoles, Grouped, Partition
from directrix.moments.score_histogram import (
    ScoreHistogram,
    bins_of_lines,
    bins_of_scores,
    empty_histogram,
    histogram_of_bins,
)
from directrix.moments.segment_scores import SegmentScores
from directrix.rows import labels
from directrix.rows.keys import LARGEST_HASH, RowSample, key_hash, mix_bits
from directrix.rows.labels import WeightUnit, checked_weight
from directrix.rows.rows import not_finite_error
from directrix.rows.sums import TreeSum, tree_sum
from directrix.tables import BinCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.engines.column_roles import Block, TableSummary
    from directrix.moments import Moments
    from directrix.tables import Binner
    from directrix.tables.coding.card_coding import CardCoding

# ── RunningSample: the sample of a partition while its blocks are read ────────────────────────────

_SAMPLED_AT_A_TIME = 1 << 16


class RunningSample:
    """The sample of a partition while its blocks are read.

    Only rows at or below the thresholds of the sample so far are copied, which soon are hardly any.
    Rows of weight zero are not sampled.

    ``most`` is the largest number of rows of each class in the sample of all partitions. With
    ``n_partitions``, a partition sends its share of the rows, with a margin; with None, all that
    may be sampled. ``apart`` is a hold-out fold, whose rows are not sampled. ``thresholds`` are the
    largest hashes of the rows of each class.
    """

    def __init__(
        self,
        most: int,
        n_partitions: int | None,
        apart: int | None = None,
        thresholds: dict[Any, int] | None = None,
    ) -> None:
        self._most = most
        self._share = share_of_partition(most, n_partitions)
        self._apart = apart
        self._thresholds = thresholds
        self._parts: list[RowSample] = []

    def add(self, block: Block) -> None:
        """Sample the rows of one more block."""
        y, keys, parts = block.labels, block.row_keys, self._parts
        present = block.row_weight > 0.0
        if self._apart is not None:
            present &= block.row_fold != self._apart
        for start in range(0, block.n_rows, _SAMPLED_AT_A_TIME):
            chunk = slice(start, start + _SAMPLED_AT_A_TIME)
            kept = present[chunk]
            if parts:
                kept = kept & parts[0].may_hold(y[chunk], keys[chunk])
            rows = start + np.flatnonzero(kept)
            if not len(rows):
                continue
            part = sample_of_block(block, rows, self._most)
            parts.append(part if self._thresholds is None else part.below(self._thresholds))
            if sum(map(len, parts[1:])) >= self._share or len(parts) == 1:
                self._add_up()

    def sample(self) -> RowSample | None:
        """Return the sample; None if there were no rows."""
        if not self._parts:
            return None
        self._add_up()
        return self._parts[0]

    def _add_up(self) -> None:
        self._parts[:] = [tree_sum(self._parts).at_most(self._share)]


def sample_of_block(block: Block, rows: AnyArray, most: int) -> RowSample:
    """Return some rows of a block, of numbers or of a raw table, as a sample."""
    X = block.X.take(rows)
    return RowSample.of(
        X if hasattr(X, "row_hashes") else np.asarray(X, dtype=np.float64),
        block.labels[rows],
        block.row_weight[rows],
        block.row_fold[rows],
        block.row_keys[rows],
        most,
    )


def share_of_partition(most: int, n_partitions: int | None) -> int:
    """Return the largest number of rows of a class that a partition sends.

    As many as there may be in all, if the number of partitions is not known.
    """
    twice = 2.0 * most / (n_partitions or 1)
    return min(most, ceil(twice + 5.0 * sqrt(twice) + 10.0))


# ── Tasks that run on the rows of a partition; the only code that is sent to workers ──────────────

#: Rows of numbers that are scored at a time, and the largest number of their values. To add a
#: histogram to others costs as much as to count some thousand scores.
_ROWS_AT_A_TIME, _VALUES_AT_A_TIME = 1 << 17, 1 << 22
#: Rows of cells that are coded and scored at a time.
_CODED_AT_A_TIME = 1 << 14


@dataclass(frozen=True)
class Summaries:
    """Task of `summarize`: the summaries of all groups."""

    name = "summarize"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> Grouped:
        """Return the summaries of the rows of a partition."""
        return tree_sum(self._block_summaries(plan, partition))

    def _block_summaries(self, plan: ColumnRoles, partition: Partition) -> Iterator[Grouped]:
        yield Grouped({})
        for block in plan.blocks(partition):
            yield plan.summary_of(block)


@dataclass(frozen=True)
class Fingerprint:
    """Sum of row hashes, by which two passes can verify that they saw the same rows.

    The hashes cover features, labels, weights and folds. The sum does not depend on the order of
    the rows. Rows that are missing, replaced or in another fold change it, and so does another
    order of the columns.

    ``rows`` is their number. ``total`` is the sum of the hashes modulo 2⁶⁴.
    """

    rows: int = 0
    total: int = 0

    @classmethod
    def of(cls, block: Block) -> Fingerprint:
        """Return the fingerprint of a block that has row hashes."""
        hashes = block.hashes if block.hashes is not None else np.empty(0, dtype=np.uint64)
        if block.weight is not None and len(hashes):
            hashes = mix_bits(hashes ^ key_hash([np.asarray(block.weight)]))
        if block.fold is not None and len(hashes):
            # The multipliers are odd, so that no row is lost, and pseudorandom.
            numbers = np.arange(int(block.fold.max()) + 1, dtype=np.uint64)
            hashes = hashes * (mix_bits(numbers + np.uint64(1)) | np.uint64(1))[block.fold]
        return cls(len(hashes), int(np.add.reduce(hashes, dtype=np.uint64)))

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint(self.rows + other.rows, (self.total + other.total) % (1 << 64))


@dataclass(frozen=True)
class Surveyed:
    """Result of `Survey`: a summary of the rows, a sample of them, and their fingerprint.

    The summary is what the plan makes of a block: `Grouped` moments of numbers, or the
    `TableSummary` of a raw table. It is None where there are no rows, or nothing but a sample was
    asked for.
    """

    summary: Any = None
    sample: RowSample | None = None
    fingerprint: Fingerprint = Fingerprint()

    @property
    def moments(self) -> Moments:
        """The moments of all rows, where no column divides them into groups."""
        moments: Moments = self.summary.by_group[None]
        return moments

    @property
    def table(self) -> TableSummary:
        """The summary of a raw table."""
        table: TableSummary = self.summary
        return table

    @property
    def totals(self) -> ClassTotals:
        """Number and weight of the rows of each class and fold."""
        if isinstance(self.summary, Grouped):
            return ClassTotals.of_moments(self.moments)
        return self.table.totals

    def in_units(self, unit: WeightUnit) -> Surveyed:
        """Return the same rows with weights in another unit."""
        sample = self.sample
        if sample is not None:
            sample = replace(sample, weight=unit.relative(sample.weight))
        return replace(self, summary=self.summary.in_units(unit), sample=sample)

    def with_positive(self, label: Any) -> Surveyed:
        """Return the same with this label as the positive one, last in the summary's classes."""
        return replace(self, summary=Grouped({None: self.moments.with_positive(label)}))

    def __add__(self, other: Surveyed) -> Surveyed:
        return Surveyed(
            add_present(self.summary, other.summary),
            add_present(self.sample, other.sample),
            self.fingerprint + other.fingerprint,
        )


@dataclass(frozen=True)
class Survey:
    """Task of the first pass: a summary of the rows, a sample of them, and their fingerprint.

    A partition sends its share of the sample, twice as many rows as if all partitions were equal
    and a margin for chance. If one has many more rows of a class than others, the sum is too small
    (the lowest threshold is that of the largest partition). A survey with `thresholds` then takes
    nothing but another sample: all rows below them, however they are spread over partitions.

    ``most`` is the largest number of rows of each class in the sample; 0 for no sample. ``apart``
    is a hold-out fold, whose rows are not sampled. ``thresholds`` are the largest hashes of the
    sampled rows of each class.
    """

    most: int
    apart: int | None = None
    thresholds: dict[Any, int] | None = None

    @classmethod
    def of_counts(cls, most: int, counts: dict[Any, int], apart: int | None = None) -> Survey:
        """Return the task that samples ``most`` rows of each class, in expectation a few more.

        ``counts`` are the numbers of all rows of each class.
        """
        wanted = most + 5.0 * most**0.5  # fewer than ``most`` once in millions
        thresholds = {
            label: LARGEST_HASH if count <= wanted else int(wanted / count * LARGEST_HASH)
            for label, count in counts.items()
        }
        return cls(most, apart, thresholds)

    @property
    def name(self) -> str:
        """What a progress bar calls the pass."""
        return "summarize" if self.thresholds is None else "sample"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> Surveyed:
        """Return summary, sample and fingerprint of a partition."""
        summary: TreeSum[Any] = TreeSum()
        n_partitions = partition.count if self.thresholds is None else None
        running = RunningSample(self.most, n_partitions, self.apart, self.thresholds)
        fingerprint, n_blocks = Fingerprint(), 0
        for block in plan.blocks(partition):
            if self.thresholds is None:
                summary.add(n_blocks, plan.summary_of(block))  # first: it checks labels and weights
                n_blocks += 1
            fingerprint += Fingerprint.of(block)
            if self.most:
                running.add(block)
        return Surveyed(summary.total() if n_blocks else None, running.sample(), fingerprint)


# ── Later passes: score histograms and counts of cells ────────────────────────────────────────────


@dataclass(frozen=True)
class NumberFeatures:
    """Numbers as they are.

    ``classes`` are both labels, where no earlier pass has checked the rows: labels, weights and
    features are then checked here.
    """

    n_features: int
    classes: Any = None
    n_cells = ()

    def parts(self, block: Block) -> Iterator[tuple[slice, AnyArray]]:
        """Yield slices of the rows, and their features."""
        n, d = block.X.shape
        if d != self.n_features:
            msg = (
                f"the rows have {d} features, and the model has {self.n_features}: name those of "
                "the model with features="
            )
            raise ValueError(msg)
        if self.classes is not None:
            labels.encode(block.labels, self.classes)
            if block.weight is not None:
                checked_weight(block.weight, n)
        size = max(min(_ROWS_AT_A_TIME, _VALUES_AT_A_TIME // max(d, 1)), 1)
        for start in range(0, n, size):
            part = slice(start, min(start + size, n))
            X = block.X.block(part.start, part.stop)
            if self.classes is not None and not np.isfinite(X).all():
                raise not_finite_error(block.X, partial=True) or ValueError
            yield part, X


@dataclass(frozen=True, eq=False)
class CellFeatures:
    """Cells of the columns of a raw table."""

    binner: Binner

    @property
    def n_cells(self) -> list[int]:
        """Number of cells of each column."""
        return [bins.n_cells for bins in self.binner.bins_]

    def parts(self, block: Block) -> Iterator[tuple[slice, AnyArray]]:
        """Yield slices of the rows, and their cells."""
        cells = self.binner.cells(block.X)
        for start in range(0, block.n_rows, _CODED_AT_A_TIME):
            part = slice(start, min(start + _CODED_AT_A_TIME, block.n_rows))
            yield part, cells[part]

    def counts(self, block: Block) -> BinCounts:
        """Return the counts of the cells of a block, by fold."""
        weight = None if block.weight is None else block.row_weight
        return BinCounts.of(self.binner, block.X, block.y, weight, fold=block.fold)


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Lines that score the rows of a fold: of numbers or, with a coding, of cells.

    ``lines`` have the shape (k, d + 1), intercepts last. ``first`` is the number of the first of
    them among all candidates, for scores by segment.
    """

    fold: int
    lines: FloatArray
    coding: CardCoding | None = None
    first: int = 0

    def bins(self, X: AnyArray, positive: AnyArray) -> IntArray:
        """Return the bins of the scores of rows, of shape (k, n)."""
        if self.coding is None:
            return bins_of_lines(X, positive, self.lines)
        lines = self.lines.astype(np.float32)  # bins of scores are wider than its rounding
        scores = self.coding.rows(X) @ lines[:, :-1].T + lines[:, -1]
        return bins_of_scores(scores.T, positive)


@dataclass(frozen=True, eq=False)
class PassSums:
    """Result of `Score`; results add up.

    ``cells`` has for each column the weight of the negatives and of the positives in its cells, of
    shape (2, cells); it is empty unless cards are scored. ``segments`` are the scores by segment,
    if a column has that role.
    """

    fingerprint: Fingerprint
    histograms: tuple[ScoreHistogram, ...] = ()
    cells: tuple[FloatArray, ...] = ()
    counts: BinCounts | None = None
    segments: SegmentScores | None = None

    def __add__(self, other: PassSums) -> PassSums:
        histograms, cells = (
            tuple(a + b for a, b in zip(getattr(self, name), getattr(other, name), strict=True))
            for name in ("histograms", "cells")
        )
        counts, segments = (
            add_present(getattr(self, name), getattr(other, name))
            for name in ("counts", "segments")
        )
        fingerprint = self.fingerprint + other.fingerprint
        return PassSums(fingerprint, histograms, cells, counts, segments)


@dataclass(frozen=True, eq=False)
class Score:
    """Task of the later passes: score histograms, and counts of cells.

    ``positive`` is the positive class. ``models`` are the lines whose scores are counted in
    histograms. ``count`` says whether cells and pairs of cells are counted.
    """

    features: NumberFeatures | CellFeatures
    positive: Any
    models: Sequence[FoldModels] = ()
    count: bool = False
    name = "score"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> PassSums:
        """Return histograms and counts of the rows of a partition."""
        histograms = [empty_histogram(len(model.lines)) for model in self.models]
        by_cell = [np.zeros((2, size)) for size in (self.features.n_cells if self.models else ())]
        fingerprint, counts = Fingerprint(), None
        segments = RunningSegments()
        for block in plan.blocks(partition):
            fingerprint += Fingerprint.of(block)
            if self.count and isinstance(self.features, CellFeatures):
                counts = add_present(counts, self.features.counts(block))
            if not self.models:
                continue
            positive = block.labels == self.positive
            for part, X in self.features.parts(block):
                fold = block.row_fold[part]
                weight = None if block.weight is None else block.row_weight[part]
                for k, counted in enumerate(by_cell):
                    codes = X[:, k] + counted.shape[1] * positive[part]
                    by_cell[k] += np.bincount(codes, weight, counted.size).reshape(2, -1)
                for k, rows, bins in self._bins(X, positive[part], fold):
                    row_weight = None if weight is None else weight[rows]
                    histograms[k] += histogram_of_bins(bins, positive[part][rows], row_weight)
                    segments.add(block, self.models[k], part.start + rows, bins)
        sums = tuple(histograms), tuple(by_cell)
        return PassSums(fingerprint, *sums, counts, segments.total())

    def _bins(
        self, X: AnyArray, positive: AnyArray, fold: AnyArray
    ) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Yield numbers of models, the rows of their fold, and the bins of the scores of these."""
        # NumPy sorts integers of 8 bits fastest.
        n_folds = 1 + max(int(fold.max(initial=0)), *(model.fold for model in self.models))
        order = np.argsort(fold.astype(labels.code_dtype(n_folds)), kind="stable")
        ends = np.cumsum(np.bincount(fold, minlength=n_folds))
        by_fold = np.split(order, ends[:-1])
        # Column by column: rows of a fold are then read nearly in sequence.
        columns = X.T
        for k, model in enumerate(self.models):
            rows = by_fold[model.fold]
            if len(rows):
                features = np.take(columns, rows, axis=1).T
                yield k, rows, model.bins(features, positive[rows])


class RunningSegments:
    """Scores by segment while the blocks of a partition are read; see `Score`."""

    def __init__(self) -> None:
        self._sums: TreeSum[SegmentScores] = TreeSum()
        self._n_parts = 0

    def add(self, block: Block, models: FoldModels, rows: IntArray, bins: IntArray) -> None:
        """Count the scores of some rows of a block, if it has segments."""
        if block.segment is None:
            return
        names, number = block.segments
        weight = None if block.weight is None else block.row_weight[rows]
        scores = SegmentScores.of_bins(bins, names, number[rows], weight, models.first)
        self._sums.add(self._n_parts, scores)
        self._n_parts += 1

    def total(self) -> SegmentScores | None:
        """Return the sum; None if nothing was counted."""
        return self._sums.total() if self._n_parts else None


def add_present(first: Any, second: Any) -> Any:
    """Return the sum of two summaries, either of which may be None."""
    if first is None or second is None:
        return second if first is None else first
    return first + second
