"""RowSample: a random sample of the rows of each class, which adds and subtracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any, TypeAlias

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.rows.keys import copy_numbers, first_copies, mix_bits, row_hash
from directrix.rows.rows import as_rows
from directrix.rows.sums import tree_sum

Thresholds: TypeAlias = dict[Any, int]

#: Makes the sample independent of the folds, which are drawn by the same keys.
_SALT = np.uint64(0xD1B54A32D192ED03)
#: Largest number of values of a class in a sample, so samples of wide rows have fewer rows.
_MOST_VALUES = 25_000_000
LARGEST_HASH = int(np.iinfo(np.uint64).max)

# ── RowSample: rows of each class with the least hashes ───────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class RowSample:
    r"""Rows of each class whose hash is at most a threshold θ, which bounds the sample size.

    .. math:: S_c = \{i : y_i = c,\ h_i \le \theta_c\}, \qquad
              \theta_c(A + B) \le \min(\theta_c(A), \theta_c(B))

    A row is in the merged sample if and only if it is in the sample of its part and its hash is at
    most θ of the sum, which is lowered until the sum too has at most ``most`` rows of the class. So
    all rows are equally likely to be sampled, however the data are split, and a sum is never larger
    than a sample.

    ``a - b`` removes the rows of a part: for each row of ``b`` below both thresholds a row of
    ``a`` with the same identity. Rows are sorted by their hashes, so equal samples are equal to the
    last bit, however they were made.

    ``X`` (features, or a raw table that can be indexed and joined and knows the hashes of its
    rows), ``y``, ``weight`` and ``fold`` are the rows, ``hashes`` the hash of each row key,
    ``identity`` a hash of what identifies a row, equal for copies of it (zero if a database has
    drawn the row), ``thresholds`` θ by label,
    for the labels that have occurred, and ``most`` the largest number of rows of each class in a
    sum with another sample. ``segment`` has the name of the segment of each row, if they have any.
    """

    X: Any
    y: AnyArray
    weight: FloatArray
    fold: IntArray
    hashes: AnyArray
    identity: AnyArray
    thresholds: Thresholds
    most: int
    segment: AnyArray | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        fold: IntArray,
        keys: AnyArray,
        most: int,
        identity: AnyArray | None = None,
        segment: AnyArray | None = None,
    ) -> RowSample:
        """Return the sample that holds all of these rows; only sums with others are cut.

        Row keys must be different for copies of equal rows (`directrix.rows.keys`): a sample by the
        values alone would hold all copies of some rows and none of others. Rows are identified by
        their keys if no ``identity`` is given. Wide rows reduce ``most`` further.
        """
        thresholds = dict.fromkeys(np.unique(y).tolist(), LARGEST_HASH)
        most = most_rows(most, X.shape[1])
        known = keys if identity is None else identity
        whole = cls(X, y, weight, fold, _drawn(keys), known, thresholds, most, segment)
        return whole.take(whole._order())

    def sorted(self) -> RowSample:
        """Return the sample in an order of its rows' values, however the data were split."""
        return self.take(np.lexsort((self.weight, self.y, self._row_hashes())))

    def take(self, rows: AnyArray | slice) -> RowSample:
        """Return some of the rows, given by index, mask or slice, or in another order."""
        names = ("X", "y", "weight", "fold", "hashes", "identity")
        segment = None if self.segment is None else self.segment[rows]
        return replace(self, **{name: getattr(self, name)[rows] for name in names}, segment=segment)

    def of_fold(self, number: int) -> RowSample:
        """Return the rows of a fold, without their fold."""
        return self.take(self.fold == number).unfolded()

    def without_fold(self, number: int) -> RowSample:
        """Return the sample without the rows of a fold."""
        return self.take(self.fold != number)

    def unfolded(self) -> RowSample:
        """Return the sample with all rows in fold zero."""
        return replace(self, fold=np.zeros_like(self.fold))

    def one_vs_rest(self, label: Any) -> RowSample:
        """Return the sample with the labels True for ``label`` and False for all others."""
        others = [theta for other, theta in self.thresholds.items() if other != label]
        # Rows of all other classes must be equally likely.
        least = min(others, default=LARGEST_HASH)
        thresholds = {other: min(theta, least) for other, theta in self.thresholds.items()}
        if label in self.thresholds:
            thresholds[label] = self.thresholds[label]
        kept = self.below(thresholds)
        of_rest = {label == other: theta for other, theta in thresholds.items()}
        return replace(kept, y=kept.y == label, thresholds=of_rest)

    def at_most(self, n_per_class: int) -> RowSample:
        """Return a sample of at most ``n_per_class`` rows of each class, those of lowest hash.

        Nor are there more than ``most``. Rows of equal hash are kept or dropped together.
        """
        fewest = min(n_per_class, self.most)
        return self.below(_lowered(self.thresholds, self.y, self.hashes, fewest))

    def below(self, thresholds: Thresholds) -> RowSample:
        """Return the rows whose hash is at most a threshold, given by label."""
        keep = _at_or_below(thresholds, self.y, self.hashes)
        kept = self if keep.all() else self.take(keep)
        return replace(kept, thresholds=thresholds)

    def is_too_small(self, counts: Mapping[Any, int]) -> bool:
        """Return whether it lacks rows of a class that has these numbers of rows."""
        return any(self.count(label) < min(n, self.most) for label, n in counts.items())

    def count(self, label: object) -> int:
        """Return the number of rows of a class."""
        return int(np.count_nonzero(self.y == label))

    def __len__(self) -> int:
        return len(self.y)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowSample):
            return NotImplemented
        names = ("X", "y", "weight", "fold", "hashes", "identity", "segment")
        lowered = (
            {label: theta for label, theta in each.thresholds.items() if theta < LARGEST_HASH}
            for each in (self, other)
        )
        same = self.most == other.most and next(lowered) == next(lowered)
        return same and all(np.array_equal(getattr(self, k), getattr(other, k)) for k in names)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: RowSample) -> RowSample:
        most = min(self.most, other.most)
        names = ["y", "weight", "fold", "hashes", "identity"]
        if self.segment is not None or other.segment is not None:
            _require_segments(self, other)
            names.append("segment")
        both = {k: np.concatenate([getattr(self, k), getattr(other, k)]) for k in names}
        y, hashes = both["y"], both["hashes"]
        thresholds = _lowered(self._least(other), y, hashes, most)
        # Rows that are dropped are not copied: they may be most of the values.
        keep = _at_or_below(thresholds, y, hashes)
        kept, other_kept = np.split(keep, [len(self)])
        parts = self.X[kept], other.X[other_kept]
        X = parts[0].joined(parts[1]) if hasattr(parts[0], "joined") else np.concatenate(parts)
        both = {name: values[keep] for name, values in both.items()}
        total = RowSample(X=X, **both, thresholds=thresholds, most=most)
        return total.take(total._order())

    def __sub__(self, other: RowSample) -> RowSample:
        thresholds = self._least(other)
        left, removed = self.below(thresholds), other.below(thresholds)
        keep = np.ones(len(left), dtype=bool)
        for label in thresholds:
            mine, theirs = (np.flatnonzero(each.y == label) for each in (left, removed))
            keep[mine[_matching(left.take(mine), removed.take(theirs))]] = False
        return left.take(keep)

    def _least(self, other: RowSample) -> Thresholds:
        """Return the lower of the thresholds of each class."""
        thresholds = dict(self.thresholds)
        for label, threshold in other.thresholds.items():
            thresholds[label] = min(threshold, thresholds.get(label, LARGEST_HASH))
        return thresholds

    def _order(self) -> AnyArray:
        """Return the order of the rows by hash; rows of equal hash in the order of their values."""
        order = np.argsort(self.hashes)
        ranked = self.hashes[order]
        if (ranked[1:] == ranked[:-1]).any():
            by = (self._row_hashes(), self.fold, self.weight, self.y, self.hashes)
            order = np.lexsort(by)
        return order

    def _row_hashes(self) -> AnyArray:
        of_table = getattr(self.X, "row_hashes", None)
        hashes: AnyArray = row_hash(as_rows(self.X)) if of_table is None else of_table()
        return hashes


def _require_segments(*samples: RowSample) -> None:
    if any(rows.segment is None for rows in samples):
        msg = "one summary has segments of its sampled rows and the other none: give both segment="
        raise ValueError(msg)


def named_segments(names: Sequence[Any], number: IntArray) -> AnyArray:
    """Return the name of the segment of each row, from `labels.numbered_names`."""
    for name in names:
        if not isinstance(name, str | int | float):
            msg = f"segments must be named by texts or numbers, not {type(name).__name__}"
            raise TypeError(msg)
    known = np.empty(len(names), dtype=object)
    known[:] = names
    of_rows: AnyArray = known[number]
    return of_rows


def require_sample(most: int, segment: Any) -> None:
    """Raise ValueError for segments without a sample of rows that could have them."""
    if segment is not None and not most:
        msg = "the sampled rows have the segments: give segment= a sample, sample=10_000"
        raise ValueError(msg)


def most_rows(most: int, n_columns: int) -> int:
    """Return the largest number of rows of each class in a sample of so many columns."""
    return max(1, min(most, _MOST_VALUES // max(n_columns, 1)))


def _drawn(keys: AnyArray) -> AnyArray:
    drawn: AnyArray = mix_bits(keys ^ _SALT)
    return drawn


def _matching(rows: RowSample, removed: RowSample) -> IntArray:
    """Return the rows of a class to remove: as many as ``removed`` has of each identity.

    Of copies of a row, those of the same hash and fold go first.
    """
    if not (rows.identity.all() and removed.identity.all()):
        msg = (
            "a database has drawn a sample anew, so it is not known which of its rows to subtract: "
            "leave the sample out (`without_sample`)"
        )
        raise ValueError(msg)
    identities, counts = np.unique(removed.identity, return_counts=True)
    # The first copy of a row has the same hash wherever it is summarised.
    first = removed.hashes == _drawn(first_copies(removed.identity))
    # By sorting: the tables of NumPy 2.0 overflow for hashes.
    unknown = first & ~np.isin(removed.identity, rows.identity, kind="sort")
    if unknown.any():
        msg = (
            f"{np.count_nonzero(unknown):,} rows of the sample to subtract are not in the sample "
            "to subtract from: give both summaries the same key=, and rows as they were "
            "summarised, or leave the sample out (`without_sample`)"
        )
        raise ValueError(msg)
    mine, theirs = (each.hashes + each.fold.astype(np.uint64) for each in (rows, removed))
    other = ~np.isin(mine, theirs, kind="sort")
    index = np.searchsorted(identities, rows.identity)
    wanted = np.append(counts, 0)[index]
    wanted[np.append(identities, np.uint64(0))[index] != rows.identity] = 0
    return np.flatnonzero(copy_numbers(rows.identity, other.astype(float)) < wanted)


def _lowered(thresholds: Thresholds, y: AnyArray, hashes: AnyArray, most: int) -> Thresholds:
    """Return thresholds that leave at most ``most`` rows of each class."""
    lowered = dict(thresholds)
    for label, threshold in thresholds.items():
        among = (y == label) & (hashes <= np.uint64(threshold))
        count = int(np.count_nonzero(among))
        if count > most:
            # Only the hashes near the new threshold are copied: more than enough if there are no
            # copies of rows, whose keys are as good as random.
            near = among & (
                hashes <= np.uint64(min(threshold * _with_margin(most) // count, threshold))
            )
            least = hashes[near if np.count_nonzero(near) > most else among]
            # Just below the first hash that is left out, whatever rows were left out before: rows
            # that share a hash are either all sampled or none.
            lowered[label] = max(int(np.partition(least, most)[most]) - 1, 0)
    return lowered


def _at_or_below(thresholds: Thresholds, y: AnyArray, hashes: AnyArray) -> AnyArray:
    """Return which rows have a hash of at most the threshold of their class."""
    keep = np.zeros(len(y), dtype=bool)
    for label, threshold in thresholds.items():
        keep |= (y == label) & (hashes <= np.uint64(threshold))
    return keep


# ── RunningSample: the sample of a partition while its blocks are read ────────────────────────────

#: How many times as many rows a partition sends as if all partitions were equal.
_SHARES = 4.0


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
        n_partitions: int | None = None,
        apart: int | None = None,
        thresholds: Thresholds | None = None,
    ) -> None:
        self._most = most
        self._share = share_of_partition(most, n_partitions)
        self._apart = apart
        self._thresholds = thresholds
        self._parts: list[RowSample] = []

    def add(
        self,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        fold: IntArray,
        keys: AnyArray,
        identity: AnyArray | None = None,
        among: AnyArray | None = None,
        segment: AnyArray | None = None,
    ) -> None:
        """Sample more rows of a `Matrix` or a raw table; only those of a mask ``among``."""
        parts, hashes = self._parts, _drawn(keys)
        present = weight > 0.0
        if among is not None:
            present &= among
        if self._apart is not None:
            present &= fold != self._apart
        for bounds in (self._thresholds, parts[0].thresholds if parts else None):
            for label, threshold in (bounds or {}).items():
                present &= (y != label) | (hashes <= np.uint64(threshold))
        rows = np.flatnonzero(present)
        if not len(rows):
            return
        # Cut by their hashes first, so that few rows are copied.
        whole = dict.fromkeys(np.unique(y[rows]).tolist(), LARGEST_HASH)
        share = min(self._share, most_rows(self._most, X.shape[1]))
        thresholds = _lowered(whole, y[rows], hashes[rows], share)
        rows = rows[_at_or_below(thresholds, y[rows], hashes[rows])]
        X = X.take(rows)
        part = RowSample.of(
            X if hasattr(X, "row_hashes") else np.asarray(X, dtype=np.float64),
            *(y[rows], weight[rows], fold[rows], keys[rows], self._most),
            identity=None if identity is None else identity[rows],
            segment=None if segment is None else segment[rows],
        )
        bounds = thresholds if self._thresholds is None else {**thresholds, **self._thresholds}
        least = {k: min(theta, thresholds.get(k, LARGEST_HASH)) for k, theta in bounds.items()}
        parts.append(part.below(least))
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


def share_of_partition(most: int, n_partitions: int | None) -> int:
    """Return the largest number of rows of a class that a partition sends.

    As many as there may be in all, if the number of partitions is not known.
    """
    return min(most, _with_margin(_SHARES * most / (n_partitions or 1)))


def _with_margin(expected: float) -> int:
    """Return a number of rows that a random number of this expectation hardly ever exceeds."""
    return ceil(expected + 5.0 * sqrt(expected) + 10.0)
