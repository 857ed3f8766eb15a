"""Tasks: what is made of the rows of a partition. The only code that goes to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.plan import Block, Grouped, Partition, Plan
from directrix.moments.key_hash import key_hash
from directrix.moments.labels import as_labels
from directrix.moments.row_hash import mix_bits
from directrix.moments.row_sample import RowSample
from directrix.moments.score_histogram import ScoreHistogram
from directrix.moments.tree import tree_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from directrix._typing import FloatArray

_ROWS = 1 << 16


@dataclass(frozen=True)
class Summaries:
    """The summaries of all groups: one pass."""

    name = "summarize"

    def __call__(self, plan: Plan, partition: Partition) -> Grouped:
        """Return the summaries of the rows of a partition."""
        return tree_sum(self._each(plan, partition))

    def _each(self, plan: Plan, partition: Partition) -> Iterator[Grouped]:
        yield Grouped({})
        for block in plan.blocks(partition):
            yield plan.summary_of(block)


@dataclass(frozen=True)
class Fingerprint:
    """Sum of hashes of rows, labels, weights and folds: tells whether two passes saw the same.

    It does not depend on the order of the rows. Rows that are missing, replaced or drawn into
    another fold change it, and so do columns in another order.

    Parameters
    ----------
    rows : int
    total : int
        Modulo 2⁶⁴.
    """

    rows: int = 0
    total: int = 0

    @classmethod
    def of(cls, block: Block) -> Fingerprint:
        """Take the rows of a block, which has their hashes."""
        hashes = block.hashes if block.hashes is not None else np.empty(0, dtype=np.uint64)
        beside = [given for given in (block.weight, block.fold) if given is not None]
        if beside and len(hashes):
            hashes = mix_bits(hashes ^ key_hash([np.asarray(given) for given in beside]))
        return cls(len(hashes), int(np.add.reduce(hashes, dtype=np.uint64)))

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint(self.rows + other.rows, (self.total + other.total) % (1 << 64))


@dataclass(frozen=True)
class Surveyed:
    """The summaries of rows, a sample of them, and what they are known again by."""

    grouped: Grouped
    sample: RowSample | None = None
    fingerprint: Fingerprint = Fingerprint()

    def __add__(self, other: Surveyed) -> Surveyed:
        samples = [own for own in (self.sample, other.sample) if own is not None]
        return Surveyed(
            self.grouped + other.grouped,
            tree_sum(samples) if samples else None,
            self.fingerprint + other.fingerprint,
        )


@dataclass(frozen=True)
class Survey:
    """The summaries, a sample of the rows and their fingerprint: the first of two passes.

    Parameters
    ----------
    most : int
        Rows of each class that a partition may keep; 0 for no sample.
    apart : int, optional
        A fold whose rows are set apart: no row of it is sampled.
    """

    most: int
    apart: int | None = None
    name = "summarize"

    def __call__(self, plan: Plan, partition: Partition) -> Surveyed:
        """Return what is kept of the rows of a partition."""
        grouped, sample, fingerprint = [Grouped({})], None, Fingerprint()
        for block in plan.blocks(partition):
            grouped.append(plan.summary_of(block))
            fingerprint += Fingerprint.of(block)
            for part in self._sampled(block) if self.most else ():
                sample = part if sample is None else (sample + part).at_most(self.most)
        return Surveyed(tree_sum(grouped), sample, fingerprint)

    def _sampled(self, block: Block) -> Iterator[RowSample]:
        """Give samples of the rows of a block, some thousands of rows at a time."""
        labels, keys = as_labels(block.y), block.keys
        for start in range(0, block.X.shape[0], _ROWS):
            own = slice(start, min(start + _ROWS, block.X.shape[0]))
            n = own.stop - own.start
            part = RowSample.of(
                np.asarray(block.X.block(own.start, own.stop), dtype=np.float64),
                labels[own],
                np.ones(n) if block.weight is None else np.asarray(block.weight[own], float),
                np.zeros(n, dtype=np.int32) if block.fold is None else block.fold[own],
                np.zeros(n, dtype=np.uint64) if keys is None else keys[own],
            )
            yield (part if self.apart is None else part.without_fold(self.apart)).at_most(self.most)


@dataclass(frozen=True)
class Counted:
    """Score histograms of each fold, and what the rows are known again by."""

    folds: tuple[ScoreHistogram, ...]
    fingerprint: Fingerprint = Fingerprint()

    def __add__(self, other: Counted) -> Counted:
        both = zip(self.folds, other.folds, strict=True)
        return Counted(tuple(a + b for a, b in both), self.fingerprint + other.fingerprint)


@dataclass(frozen=True)
class Histograms:
    """The score histograms of candidate lines, fold by fold: the second of two passes.

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

    def __call__(self, plan: Plan, partition: Partition) -> Counted:
        """Return the histograms of the rows of a partition."""
        totals = [ScoreHistogram.empty(self.lines.shape[1]) for _ in self.lines]
        fingerprint = Fingerprint()
        for block in plan.blocks(partition):
            fingerprint += Fingerprint.of(block)
            positive = as_labels(block.y) == self.positive
            n = block.X.shape[0]
            weight = np.ones(n) if block.weight is None else np.asarray(block.weight, np.float64)
            fold = np.zeros(n, dtype=np.int32) if block.fold is None else block.fold
            for start in range(0, n, _ROWS):
                own = slice(start, min(start + _ROWS, n))
                X = np.asarray(block.X.block(own.start, own.stop), dtype=np.float64)
                for number, lines in enumerate(self.lines):
                    rows = np.flatnonzero(fold[own] == number)
                    totals[number] += ScoreHistogram.of(
                        X[rows], positive[own][rows], lines, weight[own][rows]
                    )
        return Counted(tuple(totals), fingerprint)
