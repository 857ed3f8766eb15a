"""The roles of the columns of a table, of numbers or raw, and the blocks of rows that they read."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from types import NoneType
from typing import Any, Generic, Self, TypeVar

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.engines.tables import SourceTable, as_table
from directrix.exceptions import find_stacklevel
from directrix.exceptions.columns import (
    PANDAS_INDEX,
    TAKE_AS_IT_IS,
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    PandasIndexWarning,
)
from directrix.moments import ClassMoments, FeatureMap, Moments
from directrix.rows.keys import (
    CopyCounter,
    content_identity,
    copy_keys,
    first_copies,
    folds_by_key,
    hash_with_label,
    key_hash,
    row_hash,
)
from directrix.rows.labels import (
    WeightUnit,
    as_labels,
    fold_numbers,
    missing_in,
    numbered_names,
)
from directrix.rows.rows import Matrix, as_rows
from directrix.rows.sample import named_segments
from directrix.rows.sums import TreeSum, tree_sum
from directrix.tables import Column, Table
from directrix.tables.table import ColumnKinds

# ── Partition and Block: rows as an engine reads them, and separated by the roles of columns ──────

#: Largest number of parts that the driver adds itself, because another level would take longer.
MOST_PARTS = 4


@dataclass(frozen=True)
class Partition:
    """Tables that one worker reads in sequence.

    ``number`` is the same whenever the source is read; ``count`` is the number of partitions, if
    the engine knows it before it reads them.
    """

    number: int
    tables: Iterable[Any]
    count: int | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tables)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a table, separated into features, labels, weights, folds and groups.

    ``X`` is whatever `ColumnRoles.read_features` returns, ``group`` has the values of the ``by``
    column, ``names`` are feature names that a transformer gives. If the plan needs them, ``hashes``
    are hashes of the content of rows, ``copy`` counts the equal rows before each in its partition,
    and ``keys`` are row keys, different for copies of equal rows.
    ``segment`` has the values of the column of segments. ``unit`` is that of the weights, if an
    earlier pass has found it. ``identity`` is a hash of the columns that identify a row, if they
    are named.
    """

    X: Any
    y: AnyArray
    weight: FloatArray | None
    fold: IntArray | None
    group: AnyArray | None
    names: tuple[str, ...] | None
    hashes: AnyArray | None = None
    keys: AnyArray | None = None
    segment: AnyArray | None = None
    unit: WeightUnit | None = None
    identity: AnyArray | None = None
    copy: IntArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @cached_property
    def labels(self) -> AnyArray:
        """Labels as booleans, numbers or texts."""
        return as_labels(self.y)

    @cached_property
    def row_weight(self) -> FloatArray:
        """Sample weights as float64, in their unit if it is known; ones if there are none."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return np.asarray(weight, np.float64) if self.unit is None else self.unit.relative(weight)

    @cached_property
    def row_fold(self) -> AnyArray:
        """Fold numbers; zeros if there are no folds."""
        return np.zeros(self.n_rows, dtype=np.int32) if self.fold is None else np.asarray(self.fold)

    @cached_property
    def row_keys(self) -> AnyArray:
        """Row keys; zeros if the plan does not identify rows."""
        return np.zeros(self.n_rows, dtype=np.uint64) if self.keys is None else self.keys

    @property
    def roles(self) -> tuple[AnyArray, FloatArray, AnyArray]:
        """Labels, weights and folds of all rows."""
        return self.labels, self.row_weight, self.row_fold

    def groups(self) -> Iterator[tuple[Any, AnyArray | None]]:
        """Yield the groups, each with a mask of its rows; None and all rows if there is no `by`."""
        if self.group is None:
            yield None, None
            return
        for group in np.unique(self.group).tolist():
            yield group, np.asarray(self.group) == group

    @cached_property
    def named_segments(self) -> AnyArray | None:
        """Name of the segment of each row; None if they have none."""
        return None if self.segment is None else named_segments(*self.segments)

    @cached_property
    def segments(self) -> tuple[tuple[Any, ...], IntArray]:
        """Names of the segments of these rows, and the position of each row's among them."""
        return numbered_names(self.segment, self.n_rows)


def group_counts(n_parts: int, fan_in: int) -> list[int]:
    """Return the number of groups on each level of the tree; no level if there are few parts.

    A group has ``fan_in`` parts, a power of two.
    """
    counts: list[int] = []
    while n_parts > (1 if counts else MOST_PARTS):
        n_parts = -(-n_parts // fan_in)
        counts.append(n_parts)
    return counts


def group_sums(parts: Iterable[tuple[int, bytes]], fan_in: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each group and the sum of its parts, with few parts in memory.

    ``parts`` are numbers and pickled parts of whole groups, in the order of the numbers. A number
    that comes twice counts once.
    """
    for group, members in groupby(parts, key=lambda part: part[0] // fan_in):
        running: TreeSum[Any] = TreeSum()
        for number, part in members:
            running.add(number, unpacked(part))
        yield group, packed(running.total())


def packed(part: Any) -> bytes:
    """Return a result of a task as it is sent between workers."""
    return pickle.dumps(part, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(part: bytes) -> Any:
    """Return a result that `packed` has written."""
    return pickle.loads(part)  # noqa: S301 - sent by a worker of the same job


# ── ColumnRoles: the roles of columns, and how a block of rows is summarised ──────────────────────

#: Name of the column of row keys that an engine adds when it knows the positions of rows in files.
POSITION = "__directrix_position__"

#: Roles that may be given as values of rows in memory.
_ROLES = ("target", "weight", "fold", "by", "segment")

#: Remedy for text in a source of rows.
ENCODE = (
    f"{TAKE_AS_IT_IS}, or encode such columns (transform= takes a fitted transformer), or drop them"
)


@dataclass(frozen=True)
class HashFolds:
    """Folds by a hash of row keys, reproducible on any number of workers.

    Parameters
    ----------
    n_folds : int
        Number of folds, at least two.
    key : str, int, or sequence of them, optional
        Columns that identify a group of rows (a customer, a session): rows of equal key are in the
        same fold, on every engine. By default every row is assigned independently: in files by its
        position, elsewhere by its content, the number of equal rows before it, and its partition.
        Equal rows are then spread over the folds as independent rows are.
    seed : int
        A different seed gives different folds.
    """

    n_folds: int = 5
    key: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            msg = f"there must be at least two folds, not {self.n_folds}"
            raise ValueError(msg)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The key columns as a tuple."""
        if self.key is None:
            return ()
        return (self.key,) if isinstance(self.key, str | int) else tuple(self.key)

    def of(self, table: SourceTable, keys: AnyArray | None) -> IntArray:
        """Return the fold of each row of a table; ``keys`` are used if there are no key columns."""
        chosen = [keys] if self.key is None else [table.values(name) for name in self.columns]
        return folds_by_key(key_hash(chosen, self.seed), self.n_folds)

    def of_rows(self, X: Any, y: Any) -> IntArray:
        """Return the fold of each row of an array or sparse matrix, without key columns."""
        keys = CopyCounter().keys(hash_with_label(row_hash(as_rows(X)), as_labels(y)))
        return folds_by_key(key_hash([keys], self.seed), self.n_folds)


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns. It is sent to workers, so it holds only names and settings.

    The roles are those of `directrix.summarize`, and the segment of rows of a fit. With
    ``identified``, blocks have row hashes and row keys even if the folds do not need them.
    ``key`` are the columns that identify a row. ``unit`` is that of the weights, known after the
    first pass.

    Features are rows of numbers, or of a ``raw`` table: blocks are then `Table`. ``columns`` are
    the names and kinds of its columns, if an earlier pass has read them: every block is then read
    as the same kinds.
    """

    target: Any
    features: tuple[Any, ...] | None = None
    weight: Any = None
    fold: Any = None
    by: Any = None
    classes: Any = field(default=None, compare=False)
    transform: Any = field(default=None, compare=False)
    identified: Any = False
    segment: Any = None
    key: Any = None
    unit: Any = field(default=None, kw_only=True)
    raw: bool = field(default=False, kw_only=True)
    columns: tuple[Column, ...] | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, *, features: Any = None, key: Any = None, **roles: Any) -> Self:
        """Return the roles; a single column of features, or of a key, may be given as it is."""
        features, key = (
            names if names is None else (names,) if isinstance(names, str | int) else tuple(names)
            for names in (features, key)
        )
        made = cls(features=features, key=key, **roles)
        made._refuse_other_roles(lambda name: name)
        return made

    def _refuse_other_roles(self, canonical: Callable[[Any], Any]) -> None:
        """Raise ValueError if a feature has another role; keys of folds and segments may be."""
        features = {canonical(name) for name in self.features or ()}
        for role in ("target", "weight", "fold", "by"):
            name = getattr(self, role)
            if isinstance(name, str | int | np.integer) and canonical(name) in features:
                msg = f"column {name!r} is both {role}= and a feature: leave it out of the features"
                raise ValueError(msg)

    def require_target(self) -> None:
        """Raise ValueError if it is not said which labels rows have."""
        if self.target is None:
            msg = "target= is missing: it takes the name or index of a column, or the labels"
            raise ValueError(msg)

    def roles(self) -> list[Any]:
        """Return the columns that have a role other than feature."""
        given = [self.target, self.weight, self.by, self.segment]
        given += list(self.fold.columns) if isinstance(self.fold, HashFolds) else [self.fold]
        given += list(self.key or ())
        return [name for name in given if name is not None]

    def given_roles(self) -> dict[str, Any]:
        """Return the roles that were given as arrays of values instead of column names."""
        roles = {role: getattr(self, role) for role in _ROLES}
        return {role: values for role, values in roles.items() if not _names_a_column(values)}

    def with_columns_for(self, roles: Iterable[str]) -> Self:
        """Return these with roles that are extra columns of its tables, (role, "given")."""
        given: dict[str, Any] = {role: (role, "given") for role in roles}
        return replace(self, **given)

    def feature_columns(self, names: Any, index: Iterable[Any] = ()) -> tuple[Any, ...]:
        """Return the features among columns, by default without the index of a pandas frame."""
        if self.features is not None:
            return self.features
        used = set(self.roles())
        others = [name for name in names if name not in used]
        left_out = tuple(n for n in others if n in index or PANDAS_INDEX.fullmatch(str(n)))
        if left_out:
            warnings.warn(PandasIndexWarning(left_out), stacklevel=find_stacklevel())
        return tuple(name for name in others if name not in left_out)

    def needed(self, names: Any, index: Iterable[Any] = ()) -> list[Any]:
        """Return the columns to read; raise KeyError if one is missing."""
        self.require_target()
        for role in self.given_roles():
            msg = f"the rows are read as a stream, so {role}= must name a column"
            raise ValueError(msg)
        needed_columns = list(dict.fromkeys([*self.feature_columns(names, index), *self.roles()]))
        missing = [name for name in needed_columns if name not in set(names)]
        if missing:
            raise ColumnNotFoundError(missing[0], names)
        return needed_columns

    @property
    def needs_row_keys(self) -> bool:
        """Whether row keys are needed, to assign folds or to identify rows in a second pass."""
        drawn = isinstance(self.fold, HashFolds) and self.fold.key is None
        return (drawn and self.key is None) or self.identified

    def blocks(self, partition: Partition) -> Iterator[Block]:
        """Yield a block for each table of a partition."""
        copies = CopyCounter(partition.number)
        for data in partition:
            yield self.block(data, copies)

    def block(self, data: Any, copies: CopyCounter | None = None) -> Block:
        """Return a table as a block; ``copies`` counts earlier rows of the same partition."""
        table = as_table(data)
        y = table.values(self.target)
        weight, group, segment = (
            None if role is None else table.values(role)
            for role in (self.weight, self.by, self.segment)
        )
        fold = self.fold
        if fold is not None and not isinstance(fold, HashFolds):
            values, is_column = table.values(fold), fold in table.columns
            # All columns of an array have one dtype, which may be that of floats.
            if is_column and values.dtype.kind == "f" and np.array_equal(np.floor(values), values):
                values = values.astype(np.int64)
            fold = values
        X, names = self.read_features(table, self.columns_of(table))
        hashes = keys = identity = copy = None
        if self.key is not None:
            identity = key_hash([table.values(name) for name in self.key])
            keys = first_copies(identity)
        elif self.needs_row_keys:
            positioned = POSITION in table.columns
            if self.identified or not positioned:
                hashes = hash_with_label(self.content_hashes(X), as_labels(y))
            if positioned:
                keys = table.values(POSITION)
            elif hashes is not None:
                copies = CopyCounter() if copies is None else copies
                copy = copies.numbers(hashes)
                keys = copies.keys(hashes, copy)
        if isinstance(fold, HashFolds):
            fold = fold.of(table, keys)
        unit = None if weight is None else self.unit
        content = hashes, keys, segment, unit, identity, copy
        return Block(X, y, weight, fold, group, names, *content)

    def sample_keys(self, block: Block, copies: CopyCounter) -> tuple[AnyArray, AnyArray | None]:
        """Return the keys by which rows of a block are sampled, and what identifies the rows.

        ``copies`` counts earlier rows of the same partition.
        """
        if self.identified or block.identity is not None:
            return block.row_keys, block.identity
        hashes = block.hashes
        if hashes is None:
            hashes = hash_with_label(self.content_hashes(block.X), block.labels)
        identity = content_identity(hashes, block.weight, block.named_segments)
        # Without weights and segments equal rows are those that were counted for the folds.
        counted = block.copy if block.weight is None and block.segment is None else None
        number = copies.numbers(identity) if counted is None else counted
        return copy_keys(identity, number), identity

    def columns_of(self, table: SourceTable) -> tuple[Any, ...]:
        """Return the feature columns of a table in memory."""
        self._refuse_other_roles(table.canonical)
        used = {POSITION, *(table.canonical(name) for name in self.roles())}
        return self.feature_columns([name for name in table.columns if name not in used])

    @property
    def takes_texts(self) -> bool:
        """Whether feature columns may hold other values than numbers."""
        return self.raw or self.transform is not None

    def read_features(
        self, table: SourceTable, columns: tuple[Any, ...]
    ) -> tuple[Any, tuple[str, ...] | None]:
        """Return the features of a table, and their names if a transformer gives them."""
        if self.raw:
            return Table.of(table.raw(columns), self.columns), None
        if self.transform is None:
            return _features(table, columns), None
        chosen = table.raw(columns)
        if isinstance(self.transform, FeatureMap):
            known = [Column(column.name, column.kind) for column in self.transform.columns]
            X = as_rows(self.transform.transform(Table.of(chosen, known)))
            return X, self.transform.feature_names
        chosen = chosen.to_pandas() if hasattr(chosen, "to_pandas") else chosen
        X, names = as_rows(self.transform.transform(chosen)), None
        if X.names is None and hasattr(self.transform, "get_feature_names_out"):
            names = tuple(str(name) for name in self.transform.get_feature_names_out())
        return X, names

    def content_hashes(self, X: Any) -> AnyArray:
        """Return a hash of the features of each row."""
        return X.row_hashes() if self.raw else row_hash(X)

    def summary_of(self, block: Block) -> Any:
        """Return the summary of a block: moments by group, or totals and kinds of a raw table."""
        if self.raw:
            return TableSummary(ClassTotals.of(block), ColumnKinds.of(block.X))
        if block.group is None:
            return Grouped({None: self._moments(block, block.fold)})
        # Groups are summarised as folds, so that the rows are read once however many there are.
        group_labels, codes = np.unique(_require_present(block.group), return_inverse=True)
        fold = np.zeros_like(codes) if block.fold is None else fold_numbers(block.fold, len(codes))
        n_folds = int(np.max(fold, initial=0)) + 1
        whole = self._moments(block, codes * n_folds + fold)
        return Grouped(
            {
                label: replace(
                    whole,
                    parts=whole.parts[k * n_folds : (k + 1) * n_folds],
                    folded=block.fold is not None,
                )
                for k, label in enumerate(group_labels.tolist())
            }
        )

    def _moments(self, block: Block, fold: Any) -> Moments:
        try:
            return Moments.of(
                block.X,
                block.y,
                block.weight,
                classes=self.classes,
                feature_names=block.names,
                fold=fold,
                sample=0,
            )
        except (MissingValuesError, InfiniteValuesError) as error:
            raise type(error)(error.columns, error.rows, partial=True) from None


S = TypeVar("S")


@dataclass(frozen=True)
class Grouped(Generic[S]):
    """Summaries or samples by group, which add up; a group may be missing on either side."""

    by_group: dict[Any, S]

    def __add__(self, other: Grouped[S]) -> Grouped[S]:
        merged: dict[Any, Any] = dict(self.by_group)
        for group, part in other.by_group.items():
            merged[group] = merged[group] + part if group in merged else part
        return Grouped(merged)

    def in_units(self: Grouped[Moments], unit: WeightUnit) -> Grouped[Moments]:
        """Return the summaries of weights in another unit."""
        factor = 1.0 / unit.mean
        return Grouped({group: each.scaled(factor) for group, each in self.by_group.items()})

    def aligned(self: Grouped[Moments]) -> dict[Any, Moments]:
        """Return the summaries, extended to the union of their classes and folds."""
        if len(self.by_group) < 2:
            return self.by_group
        blanks = []
        for moments in self.by_group.values():
            part = (ClassMoments.empty(moments.n_features),) * len(moments.classes)
            blanks.append(replace(moments, parts=(part,) * len(moments.parts)))
        blank = tree_sum(blanks)
        return {group: moments + blank for group, moments in self.by_group.items()}


def _names_a_column(role: Any) -> bool:
    """Return whether a role is given by column name (or not at all), not as values."""
    return isinstance(role, str | HashFolds | tuple | NoneType) or (
        isinstance(role, int | np.integer) and not isinstance(role, bool)
    )


def _features(table: SourceTable, columns: tuple[Any, ...]) -> Matrix:
    """Return feature columns; the error for text recommends what every source has."""
    try:
        return table.features(columns)
    except NotNumericError as error:
        raise NotNumericError(error.columns, error.dtypes, ENCODE) from None


def _require_present(group: Any) -> AnyArray:
    """Return groups as an array; raise ValueError if any is missing."""
    array: AnyArray = np.asarray(group)
    if missing_in(array).any():
        msg = "the column of by= is missing in some rows: fill it, or drop those rows"
        raise ValueError(msg)
    return array


# ── Totals of the classes ─────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class ClassTotals:
    """Number of rows and sum of their weights, by fold and label; totals add up.

    Rows of weight zero do not count. ``by_group`` maps fold and label to number and weight.
    """

    by_group: dict[tuple[int, Any], tuple[int, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, block: Block) -> ClassTotals:
        """Return the totals of a block."""
        labels, codes = np.unique(block.labels, return_inverse=True)
        weight = block.row_weight
        if not (np.isfinite(weight).all() and (weight >= 0.0).all()):
            msg = "weight= must be finite and not negative in all rows"
            raise ValueError(msg)
        group = block.row_fold.astype(np.int64) * len(labels) + codes
        counts, weights = np.bincount(group, weight > 0.0), np.bincount(group, weight)
        by_group = {}
        for k in np.flatnonzero(counts).tolist():
            number, code = divmod(k, len(labels))
            by_group[number, labels[code].item()] = int(counts[k]), float(weights[k])
        return cls(by_group)

    @classmethod
    def of_moments(cls, moments: Moments) -> ClassTotals:
        """Return the totals of a summary."""
        return cls(
            {
                (fold, label): (part[k].count, part[k].weight)
                for fold, part in enumerate(moments.parts)
                for k, label in enumerate(moments.classes.tolist())
                if part[k].count
            }
        )

    def __add__(self, other: ClassTotals) -> ClassTotals:
        total = dict(self.by_group)
        for group, (count, weight) in other.by_group.items():
            before = total.get(group, (0, 0.0))
            total[group] = before[0] + count, before[1] + weight
        return ClassTotals(total)

    def in_units(self, unit: WeightUnit) -> ClassTotals:
        """Return the totals of weights in another unit."""
        groups = self.by_group.items()
        return ClassTotals({k: (n, float(unit.relative(weight))) for k, (n, weight) in groups})

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return np.unique(np.array([label for _, label in self.by_group]))

    def counts(self, *, without_fold: int | None = None) -> dict[Any, int]:
        """Return the number of rows of each class, without those of a fold."""
        counts = dict.fromkeys(self.classes.tolist(), 0)
        for (fold, label), (count, _) in self.by_group.items():
            counts[label] += count if fold != without_fold else 0
        return counts

    def weights(self, label: Any, without_folds: tuple[int | None, ...] = ()) -> FloatArray:
        """Return the weight of the rows of other classes, and that of a class."""
        total = np.zeros(2)
        for (fold, other), (_, weight) in self.by_group.items():
            if fold not in without_folds:
                total[int(other == label)] += weight
        return total


@dataclass(frozen=True, eq=False)
class TableSummary:
    """Totals of the classes of a raw table, and kinds of its columns; summaries add up."""

    totals: ClassTotals
    kinds: ColumnKinds

    def __add__(self, other: TableSummary) -> TableSummary:
        return TableSummary(self.totals + other.totals, self.kinds + other.kinds)

    def in_units(self, unit: WeightUnit) -> TableSummary:
        """Return the summary of weights in another unit."""
        return TableSummary(self.totals.in_units(unit), self.kinds)
