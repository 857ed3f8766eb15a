"""Tasks that run on the rows of a partition; the only code that is sent to workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.block import Block, Partition
from directrix.engines.plan import Grouped, Plan
from directrix.engines.running_sample import RunningSample, sample_of_block
from directrix.moments.score_histogram import LineHistograms
from directrix.rows import labels
from directrix.rows.keys import key_hash, mix_bits
from directrix.rows.labels import checked_weight
from directrix.rows.rows import not_finite_error
from directrix.rows.sample import LARGEST_HASH, RowSample
from directrix.rows.sums import TreeSum, tree_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from directrix._typing import FloatArray
    from directrix.moments import Moments

#: Rows that are sampled at a time.
_ROWS_AT_A_TIME = 1 << 16
#: Rows whose scores are counted at a time, and the largest number of their values. To add a
#: histogram to others costs as much as to count some thousand scores.
_COUNTED_AT_A_TIME, _VALUES_AT_A_TIME = 1 << 17, 1 << 22


@dataclass(frozen=True)
class Summaries:
    """Task of `summarize`: the summaries of all groups."""

    name = "summarize"

    def __call__(self, plan: Plan, partition: Partition) -> Grouped:
        """Return the summaries of the rows of a partition."""
        return tree_sum(self._block_summaries(plan, partition))

    def _block_summaries(self, plan: Plan, partition: Partition) -> Iterator[Grouped]:
        yield Grouped({})
        for block in plan.blocks(partition):
            yield plan.summary_of(block)


@dataclass(frozen=True)
class Fingerprint:
    """Sum of row hashes, by which two passes can verify that they saw the same rows.

    The hashes cover features, labels, weights and folds. The sum does not depend on the order of
    the rows. Rows that are missing, replaced or in another fold change it, and so does another
    order of the columns.

    Parameters
    ----------
    rows : int
        Number of rows.
    total : int
        Sum of the hashes modulo 2⁶⁴.
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
    """Result of `Survey` and `Sampling`: summaries, a sample of the rows, and their fingerprint."""

    grouped: Grouped
    sample: RowSample | None = None
    fingerprint: Fingerprint = Fingerprint()

    @property
    def moments(self) -> Moments:
        """The summary of all rows, where no column divides them into groups."""
        return self.grouped.by_group[None]

    def with_positive(self, label: Any) -> Surveyed:
        """Return the same with this label as the positive one, last in the summary's classes."""
        return replace(self, grouped=Grouped({None: self.moments.with_positive(label)}))

    def __add__(self, other: Surveyed) -> Surveyed:
        samples = [sample for sample in (self.sample, other.sample) if sample is not None]
        return Surveyed(
            self.grouped + other.grouped,
            tree_sum(samples) if samples else None,
            self.fingerprint + other.fingerprint,
        )


@dataclass(frozen=True)
class Survey:
    """Task of the first of two passes: summaries, a sample of the rows, and their fingerprint.

    A partition sends its share of the sample, twice as many rows as if all partitions were equal
    and a margin for chance. If one has many more rows of a class than others, the sum is too small
    (the lowest threshold is that of the largest partition), and `Sampling` takes another sample.

    Parameters
    ----------
    most : int
        Largest number of rows of each class in the sample; 0 for no sample.
    apart : int, optional
        A hold-out fold, whose rows are not sampled.
    """

    most: int
    apart: int | None = None
    name = "summarize"

    def __call__(self, plan: Plan, partition: Partition) -> Surveyed:
        """Return summaries, sample and fingerprint of a partition."""
        grouped: TreeSum[Grouped] = TreeSum()
        grouped.add(0, Grouped({}))
        running = RunningSample(sample_of_block, self.most, partition.count, self.apart)
        fingerprint = Fingerprint()
        for number, block in enumerate(plan.blocks(partition), start=1):
            grouped.add(number, plan.summary_of(block))
            fingerprint += Fingerprint.of(block)
            if self.most:
                running.add(block)
        return Surveyed(grouped.total(), running.sample(), fingerprint)


@dataclass(frozen=True)
class Sampling:
    """Task that samples all rows below given thresholds, however they are spread over partitions.

    Parameters
    ----------
    most : int
        Largest number of rows of each class in the sample.
    thresholds : dict
        Largest hash of the rows of each class.
    apart : int, optional
        A hold-out fold, whose rows are not sampled.
    """

    most: int
    thresholds: dict[Any, int]
    apart: int | None = None
    name = "sample"

    @classmethod
    def of_counts(cls, most: int, counts: dict[Any, int], apart: int | None = None) -> Sampling:
        """Return the task that samples ``most`` rows of each class, in expectation a few more.

        Parameters
        ----------
        most, apart
            As in the constructor.
        counts : dict
            Number of rows of each class.
        """
        wanted = most + 5.0 * most**0.5  # fewer than ``most`` once in millions
        thresholds = {
            label: LARGEST_HASH if count <= wanted else int(wanted / count * LARGEST_HASH)
            for label, count in counts.items()
        }
        return cls(most, thresholds, apart)

    def __call__(self, plan: Plan, partition: Partition) -> Surveyed:
        """Return sample and fingerprint of a partition."""
        running = RunningSample(sample_of_block, self.most, None, self.apart, self.thresholds)
        fingerprint = Fingerprint()
        for block in plan.blocks(partition):
            fingerprint += Fingerprint.of(block)
            running.add(block)
        return Surveyed(Grouped({}), running.sample(), fingerprint)


@dataclass(frozen=True)
class Counted:
    """Result of `Histograms`: score histograms of each fold, and the fingerprint of the rows."""

    folds: tuple[LineHistograms, ...]
    fingerprint: Fingerprint = Fingerprint()

    def __add__(self, other: Counted) -> Counted:
        both = zip(self.folds, other.folds, strict=True)
        return Counted(tuple(a + b for a, b in both), self.fingerprint + other.fingerprint)


@dataclass(frozen=True)
class Histograms:
    """Task of the second of two passes: score histograms of the candidates, fold by fold.

    Parameters
    ----------
    lines : array of shape (n_folds, k, d + 1)
        For each fold, the coefficients of the candidates that were trained without it.
    positive : label
        The positive class.
    classes : array, optional
        Both labels, where no earlier pass has checked the rows: labels, weights and features are
        then checked here.
    """

    lines: FloatArray
    positive: Any
    classes: Any = None
    name = "score"

    def __call__(self, plan: Plan, partition: Partition) -> Counted:
        """Return the histograms of the rows of a partition."""
        totals = [LineHistograms.empty(self.lines.shape[1]) for _ in self.lines]
        fingerprint = Fingerprint()
        for block in plan.blocks(partition):
            fingerprint += Fingerprint.of(block)
            for number, histograms in self._of_block(block):
                totals[number] += histograms
        return Counted(tuple(totals), fingerprint)

    def _of_block(self, block: Block) -> Iterator[tuple[int, LineHistograms]]:
        """Yield fold numbers, and histograms of some rows of the fold."""
        n, d = block.X.shape
        if d != self.lines.shape[2] - 1:
            msg = (
                f"the rows have {d} features, and the model has {self.lines.shape[2] - 1}: name "
                "those of the model with features="
            )
            raise ValueError(msg)
        if self.classes is not None:
            labels.encode(block.labels, self.classes)
            if block.weight is not None:
                checked_weight(block.weight, n)
        positive = block.labels == self.positive
        weight = None if block.weight is None else block.row_weight  # counts need no ones
        # NumPy sorts integers of 8 bits fastest.
        n_folds = int(block.row_fold.max(initial=0)) + 1
        fold = block.row_fold.astype(labels.code_dtype(n_folds))
        size = max(min(_COUNTED_AT_A_TIME, _VALUES_AT_A_TIME // max(d, 1)), 1)
        for start in range(0, n, size):
            chunk = slice(start, min(start + size, n))
            # Column by column: rows of a fold are then read nearly in sequence.
            columns = block.X.block(chunk.start, chunk.stop).T
            if self.classes is not None and not np.isfinite(columns).all():
                raise not_finite_error(block.X, partial=True) or ValueError
            order = np.argsort(fold[chunk], kind="stable")
            ends = np.cumsum(np.bincount(fold[chunk], minlength=len(self.lines)))
            # Rows that changed since the first pass may be in other folds: the fingerprint tells.
            groups = zip(self.lines, np.split(order, ends[:-1]), strict=False)
            for number, (lines, rows) in enumerate(groups):
                if len(rows):
                    X, all_rows = np.take(columns, rows, axis=1).T, start + rows
                    row_weight = None if weight is None else weight[all_rows]
                    yield number, LineHistograms.of(X, positive[all_rows], lines, row_weight)
