"""Tasks that run on the rows of a partition; the only code that is sent to workers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.column_roles import (
    Block,
    ClassTotals,
    ColumnRoles,
    Grouped,
    Partition,
    TableSummary,
)
from directrix.metrics.score_histogram import (
    ScoreHistogram,
    bins_of_lines,
    bins_of_scores,
    empty_histogram,
    histogram_of_bins,
)
from directrix.metrics.segment_scores import SegmentScores
from directrix.rows import labels
from directrix.rows.keys import CopyCounter, content_identity, mix_bits
from directrix.rows.labels import WeightUnit, checked_weight
from directrix.rows.rows import not_finite_error
from directrix.rows.sample import LARGEST_HASH, RowSample, RunningSample, share_of_partition
from directrix.rows.sums import TreeSum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.moments import Moments
    from directrix.tables import Binner, Table

# ── Tasks that run on the rows of a partition; the only code that is sent to workers ──────────────

#: Rows of numbers that are scored at a time, and the largest number of their values. To add a
#: histogram to others costs as much as to count some thousand scores.
_ROWS_AT_A_TIME, _VALUES_AT_A_TIME = 1 << 17, 1 << 22
#: Rows of cells that are coded and scored at a time.
_CODED_AT_A_TIME = 1 << 14


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
        hashes = np.empty(0, dtype=np.uint64)
        if block.hashes is not None:
            hashes = content_identity(block.hashes, block.weight)
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
    asked for. ``samples`` are those of all groups. ``shared`` says whether partitions sent a share
    of their rows, which may be too few.
    """

    summary: Any = None
    samples: Grouped[RowSample] = field(default_factory=lambda: Grouped({}))
    fingerprint: Fingerprint = Fingerprint()
    shared: bool = False

    @property
    def sample(self) -> RowSample | None:
        """The sample of all rows; only for a survey without groups (``by``)."""
        return self.samples.by_group.get(None)

    def with_sample(self, sample: RowSample | None) -> Surveyed:
        """Return a copy with another sample."""
        return self if sample is None else replace(self, samples=Grouped({None: sample}))

    @property
    def moments(self) -> Moments:
        """The moments of all rows; only for a survey without groups (``by``)."""
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
        """Return a copy whose weights are in another unit."""
        sample = self.sample
        if sample is not None:
            sample = replace(sample, weight=unit.relative(sample.weight))
        return replace(self, summary=self.summary.in_units(unit)).with_sample(sample)

    def with_positive(self, label: Any) -> Surveyed:
        """Return a copy whose positive label is this one, last in the classes of the summary."""
        return replace(self, summary=Grouped({None: self.moments.with_positive(label)}))

    def __add__(self, other: Surveyed) -> Surveyed:
        return Surveyed(
            add_present(self.summary, other.summary),
            self.samples + other.samples,
            self.fingerprint + other.fingerprint,
            self.shared or other.shared,
        )


@dataclass(frozen=True)
class Survey:
    """Task of the first pass: a summary of the rows, a sample of them, and their fingerprint.

    A partition sends its share of the sample, four times as many rows as if all partitions were
    equal and a margin for chance. If one has many more rows of a class than others, the sum is too
    small (the lowest threshold is that of the largest partition). A survey with `thresholds` then
    takes nothing but another sample: all rows below them, however they are spread over partitions.

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
        """Name of the pass in a progress bar."""
        return "summarize" if self.thresholds is None else "sample"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> Surveyed:
        """Return summary, sample and fingerprint of a partition."""
        summary: TreeSum[Any] = TreeSum()
        count = partition.count if self.thresholds is None and plan.by is None else None
        sampling = self.most, count, self.apart, self.thresholds
        samples: dict[Any, RunningSample] = {}
        fingerprint, n_blocks, copies = Fingerprint(), 0, CopyCounter()
        for block in plan.blocks(partition):
            if self.thresholds is None:
                summary.add(n_blocks, plan.summary_of(block))  # first: it checks labels and weights
                n_blocks += 1
            if plan.identified:
                fingerprint += Fingerprint.of(block)
            if not self.most:
                continue
            keys, identity = plan.sample_keys(block, copies)
            for group, rows in block.groups():
                running = samples.setdefault(group, RunningSample(*sampling))
                running.add(block.X, *block.roles, keys, identity, rows, block.named_segments)
        drawn = {group: running.sample() for group, running in samples.items()}
        known = Grouped({group: sample for group, sample in drawn.items() if sample is not None})
        shared = share_of_partition(self.most, count) < self.most
        return Surveyed(summary.total() if n_blocks else None, known, fingerprint, shared)


@dataclass(frozen=True)
class FirstRows:
    """Task that reads the first rows of a raw table, ``most`` of each partition."""

    most: int
    name = "read"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> Grouped[Table]:
        """Return the first rows of a partition."""
        tables: list[Table] = []
        for block in plan.blocks(partition):
            tables.append(block.X[np.arange(min(self.most, block.n_rows))])
            if sum(map(len, tables)) >= self.most:
                break
        return Grouped({None: reduce(add, tables)} if tables else {})


def survey(run: Callable[[Survey], Surveyed], most: int, apart: int | None = None) -> Surveyed:
    """Run a survey, and run it again if its sample came out too small.

    Another pass takes the sample if the rows of a class are spread so unequally over partitions
    that the least threshold of all is too low.

    ``run`` makes a pass.
    """
    surveyed = run(Survey(most, apart))
    sample = surveyed.sample
    if surveyed.summary is None or sample is None or not surveyed.shared:
        return surveyed
    counts = surveyed.totals.counts(without_fold=apart)
    if sample.is_too_small(counts):
        sample = run(Survey.of_counts(sample.most, counts, apart)).sample or sample
    return surveyed.with_sample(sample)


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


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Lines that score the rows of a fold: of numbers or, with a coding, of cells.

    ``lines`` have the shape (k, d + 1), intercepts last. ``first`` is the number of the first of
    them among all candidates, for scores by segment.
    """

    fold: int
    lines: FloatArray
    coding: Any = None
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
    segments: SegmentScores | None = None

    def __add__(self, other: PassSums) -> PassSums:
        histograms, cells = (
            tuple(a + b for a, b in zip(getattr(self, name), getattr(other, name), strict=True))
            for name in ("histograms", "cells")
        )
        segments = add_present(self.segments, other.segments)
        return PassSums(self.fingerprint + other.fingerprint, histograms, cells, segments)


@dataclass(frozen=True, eq=False)
class Score:
    """Task of the later passes: score histograms, and weights of cells.

    ``positive`` is the positive class. ``models`` are the lines whose scores are counted in
    histograms.
    """

    features: NumberFeatures | CellFeatures
    positive: Any
    models: Sequence[FoldModels] = ()
    name = "score"

    def __call__(self, plan: ColumnRoles, partition: Partition) -> PassSums:
        """Return histograms of the rows of a partition, and the weights of their cells."""
        histograms = [empty_histogram(len(model.lines)) for model in self.models]
        by_cell = [np.zeros((2, size)) for size in (self.features.n_cells if self.models else ())]
        fingerprint = Fingerprint()
        segments: SegmentScores | None = None
        for block in plan.blocks(partition):
            fingerprint += Fingerprint.of(block)
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
                    if block.segment is not None:
                        names, number = block.segments
                        of_rows = number[part.start + rows]
                        first = self.models[k].first
                        scores = SegmentScores.of_bins(bins, names, of_rows, row_weight, first)
                        segments = add_present(segments, scores)
        sums = tuple(histograms), tuple(by_cell)
        return PassSums(fingerprint, *sums, segments)

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


def add_present(first: Any, second: Any) -> Any:
    """Return the sum of two summaries, either of which may be None."""
    if first is None or second is None:
        return second if first is None else first
    return first + second
