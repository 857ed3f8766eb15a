"""ColumnRoles: the roles of the columns of a table, and how a block of its rows is summarised."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from directrix.engines.block import Block, Partition
from directrix.engines.tables import as_table
from directrix.exceptions.columns import (
    USE_SCORECARD,
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
)
from directrix.moments import ClassMoments, Moments
from directrix.rows.keys import CopyCounter, folds_by_key, hash_with_label, key_hash, row_hash
from directrix.rows.labels import as_labels, fold_numbers
from directrix.rows.rows import Rows, as_rows
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from directrix._typing import AnyArray, IntArray
    from directrix.engines.tables import SourceTable


#: Name of the column of row keys that an engine adds when it knows the positions of rows in files.
POSITION = "__directrix_position__"

#: Remedy for text in a source of rows.
ENCODE = (
    f"{USE_SCORECARD}, or encode such columns (transform= takes a fitted transformer), or drop them"
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

    The roles are those of `directrix.summarize`. With ``identified``, blocks have row hashes and
    row keys even if the folds do not need them.
    """

    target: Any
    features: tuple[Any, ...] | None = None
    weight: Any = None
    fold: Any = None
    by: Any = None
    classes: Any = field(default=None, compare=False)
    transform: Any = field(default=None, compare=False)
    identified: Any = False

    @classmethod
    def of(cls, *, features: Any = None, **roles: Any) -> Self:
        """Return the roles; a single feature column may be given as text."""
        if features is not None:
            features = (features,) if isinstance(features, str) else tuple(features)
        return cls(features=features, **roles)

    def roles(self) -> list[Any]:
        """Return the columns that have a role other than feature."""
        given = [self.target, self.weight, self.by]
        given += list(self.fold.columns) if isinstance(self.fold, HashFolds) else [self.fold]
        return [name for name in given if name is not None]

    def given_roles(self) -> dict[str, Any]:
        """Return the roles that are given as values, not by the name of a column."""
        roles = {role: getattr(self, role) for role in ("target", "weight", "fold", "by")}
        return {role: values for role, values in roles.items() if not _names_a_column(values)}

    def with_columns_for(self, roles: Iterable[str]) -> Self:
        """Return these with roles that are extra columns of its tables, (role, "given")."""
        return replace(self, **{role: (role, "given") for role in roles})

    def feature_columns(self, names: Any) -> tuple[Any, ...]:
        """Return the feature columns of a table with these columns."""
        if self.features is not None:
            return self.features
        used = set(self.roles())
        return tuple(name for name in names if name not in used)

    def needed(self, names: Any) -> list[Any]:
        """Return the columns to read; raise KeyError if one is missing."""
        if self.target is None:
            msg = "target= is missing: it takes the name of the column of labels"
            raise ValueError(msg)
        for role in self.given_roles():
            msg = f"the rows are read as a stream, so {role}= must name a column"
            raise ValueError(msg)
        needed_columns = list(dict.fromkeys([*self.feature_columns(names), *self.roles()]))
        missing = [name for name in needed_columns if name not in set(names)]
        if missing:
            raise ColumnNotFoundError(missing[0], names)
        return needed_columns

    @property
    def needs_row_keys(self) -> bool:
        """Whether row keys are needed, to assign folds or to identify rows in a second pass."""
        drawn = isinstance(self.fold, HashFolds) and self.fold.key is None
        return drawn or self.identified

    def blocks(self, partition: Partition) -> Iterator[Block]:
        """Yield a block for each table of a partition."""
        copies = CopyCounter(partition.number)
        for data in partition:
            yield self.block(data, copies)

    def block(self, data: Any, copies: CopyCounter | None = None) -> Block:
        """Return a table as a block; ``copies`` counts earlier rows of the same partition."""
        table = as_table(data)
        y = table.values(self.target)
        weight, group = (
            None if role is None else table.values(role) for role in (self.weight, self.by)
        )
        fold = self.fold
        if fold is not None and not isinstance(fold, HashFolds):
            fold = _as_integers(table.values(fold)) if fold in table.columns else table.values(fold)
        X, names = self.read_features(table, self.columns_of(table))
        hashes = keys = None
        if self.needs_row_keys:
            positioned = POSITION in table.columns
            if self.identified or not positioned:
                hashes = hash_with_label(self.content_hashes(X), as_labels(y))
            if positioned:
                keys = table.values(POSITION)
            elif hashes is not None:
                keys = (CopyCounter() if copies is None else copies).keys(hashes)
        if isinstance(fold, HashFolds):
            fold = fold.of(table, keys)
        return Block(X, y, weight, fold, group, names, hashes, keys)

    def columns_of(self, table: SourceTable) -> tuple[Any, ...]:
        """Return the feature columns of a table in memory."""
        if self.features is not None:
            return self.features
        used = {POSITION, *(table.canonical(name) for name in self.roles())}
        return tuple(name for name in table.columns if name not in used)

    @property
    def takes_texts(self) -> bool:
        """Whether feature columns may hold other values than numbers."""
        return self.transform is not None

    def read_features(
        self, table: SourceTable, columns: tuple[Any, ...]
    ) -> tuple[Any, tuple[str, ...] | None]:
        """Return the features of a table, and their names if a transformer gives them."""
        if self.transform is None:
            return _features(table, columns), None
        X, names = as_rows(self.transform.transform(table.in_pandas(columns))), None
        if X.names is None and hasattr(self.transform, "get_feature_names_out"):
            names = tuple(str(name) for name in self.transform.get_feature_names_out())
        return X, names

    def content_hashes(self, X: Any) -> AnyArray:
        """Return a hash of the features of each row."""
        return row_hash(X)

    def summary_of(self, block: Block) -> Grouped:
        """Return the summary of a block, by group."""
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
            )
        except (MissingValuesError, InfiniteValuesError) as error:
            raise type(error)(error.columns, error.rows, partial=True) from None


@dataclass(frozen=True)
class Grouped:
    """Summaries by group, which add up; a group may be missing on either side."""

    by_group: dict[Any, Moments]

    def __add__(self, other: Grouped) -> Grouped:
        merged = dict(self.by_group)
        for group, moments in other.by_group.items():
            merged[group] = merged[group] + moments if group in merged else moments
        return Grouped(merged)

    def aligned(self) -> dict[Any, Moments]:
        """Return the summaries, extended to the union of their classes and folds."""
        if len(self.by_group) < 2:
            return self.by_group
        blanks = (
            replace(
                moments,
                parts=((ClassMoments.empty(moments.n_features),) * len(moments.classes),) * k,
            )
            for moments in self.by_group.values()
            for k in [len(moments.parts)]
        )
        blank = tree_sum(blanks)
        return {group: moments + blank for group, moments in self.by_group.items()}


def _names_a_column(role: Any) -> bool:
    """Return whether a role is given by column name (or not at all), not as values."""
    return isinstance(role, str | HashFolds | tuple | NoneType) or (
        isinstance(role, int | np.integer) and not isinstance(role, bool)
    )


def _features(table: SourceTable, columns: tuple[Any, ...]) -> Rows:
    """Return feature columns; the error for text recommends what every source has."""
    try:
        return table.features(columns)
    except NotNumericError as error:
        raise NotNumericError(error.columns, error.dtypes, ENCODE) from None


def _as_integers(fold: AnyArray) -> AnyArray:
    """Return whole floats as integers, because all columns of an array have one dtype."""
    is_whole = fold.dtype.kind == "f" and np.array_equal(np.floor(fold), fold)
    return fold.astype(np.int64) if is_whole else fold


def _require_present(group: Any) -> AnyArray:
    """Return groups as an array; raise ValueError if any is missing."""
    array: AnyArray = np.asarray(group)
    values = array.tolist() if array.dtype.kind == "O" else ()
    absent = {type(value).__name__ for value in values} & {"NoneType", "NAType", "NaTType"}
    if absent or (array != array).any():  # noqa: PLR0124 - NaN and NaT
        msg = "the column of by= is missing in some rows: fill it, or drop those rows"
        raise ValueError(msg)
    return array
