"""Plan: which columns of a table are what, and what is kept of a block of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.engines.tables import as_table
from directrix.exceptions import ColumnNotFoundError
from directrix.moments import Moments
from directrix.moments.class_moments import ClassMoments
from directrix.moments.key_hash import key_hash
from directrix.moments.labels import fold_numbers, tidy
from directrix.moments.row_hash import row_hash
from directrix.moments.row_keys import CopyCounter, folds_by_key, labelled
from directrix.moments.rows import Rows, as_rows
from directrix.moments.tree import tree_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.engines.tables import Table


#: Column of keys that an engine puts beside rows which it knows by their position in a file.
POSITION = "__directrix_position__"


@dataclass(frozen=True)
class HashFolds:
    """Folds by a hash: the same whenever the rows are read, by however many workers.

    Parameters
    ----------
    n_folds : int
    key : str, int, or sequence of them, optional
        Columns that say who a row belongs to (a customer, a session): rows of equal key are in
        the same fold, on every engine. By default every row is drawn on its own, known by its
        position in a file; elsewhere by what is in it, how many equal rows come before, and the
        partition it is in. Equal rows are then spread over the folds as independent rows are.
    seed : int
        Another seed makes other folds.
    """

    n_folds: int = 5
    key: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            msg = f"there must be two folds at least, not {self.n_folds}"
            raise ValueError(msg)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The key columns."""
        if self.key is None:
            return ()
        return (self.key,) if isinstance(self.key, str | int) else tuple(self.key)

    def of(self, table: Table, keys: AnyArray | None) -> IntArray:
        """Return the fold of each row of a table, which has these keys."""
        chosen = [keys] if self.key is None else [table.values(name) for name in self.columns]
        return folds_by_key(key_hash(chosen, self.seed), self.n_folds)

    def of_rows(self, X: Any, y: Any) -> IntArray:
        """Return the fold of each row of an array or sparse matrix, without key columns.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of shape (n,)
            Labels.
        """
        keys = CopyCounter().keys(labelled(row_hash(as_rows(X)), tidy(y)))
        return folds_by_key(key_hash([keys], self.seed), self.n_folds)


@dataclass(frozen=True)
class Partition:
    """Tables that one worker reads one after the other.

    Parameters
    ----------
    number : int
        Which partition it is; the same whenever the source is read.
    tables : iterable of tables
    """

    number: int
    tables: Iterable[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tables)


class Block(NamedTuple):
    """Rows of a table, apart by their roles.

    Parameters
    ----------
    X : Rows
    y : array
    weight, fold, group : array, optional
    names : tuple of str, optional
        Of the features.
    hashes, keys : array of uint64, optional
        Of what is in the rows, and what tells copies of equal rows apart; where rows are known.
    """

    X: Rows
    y: AnyArray
    weight: FloatArray | None
    fold: IntArray | None
    group: AnyArray | None
    names: tuple[str, ...] | None
    hashes: AnyArray | None = None
    keys: AnyArray | None = None


@dataclass(frozen=True)
class Plan:
    """Which columns are what. It travels to workers, so it holds nothing but names and settings.

    Parameters
    ----------
    target : str or int
    features : tuple, optional
        By default all columns that have no other role.
    weight : str or int, optional
    fold : str, int or HashFolds, optional
    by : str or int, optional
    classes : array, optional
    transform : fitted transformer, optional
        Applied to the feature columns of each block, as a pandas data frame.
    identified : bool
        Whether blocks come with hashes and keys of their rows, folds or not.
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
    def of(cls, *, features: Any = None, **roles: Any) -> Plan:
        """Make a plan of what a user gave: one feature column may stand alone."""
        if features is not None:
            features = (features,) if isinstance(features, str) else tuple(features)
        return cls(features=features, **roles)

    def roles(self) -> list[Any]:
        """Return the columns that are no features."""
        given = [self.target, self.weight, self.by]
        given += list(self.fold.columns) if isinstance(self.fold, HashFolds) else [self.fold]
        return [name for name in given if name is not None]

    def feature_columns(self, names: Any) -> tuple[Any, ...]:
        """Return the feature columns of a table with these columns."""
        if self.features is not None:
            return self.features
        taken = set(self.roles())
        return tuple(name for name in names if name not in taken)

    def needed(self, names: Any) -> list[Any]:
        """Return the columns to read, or say which are missing."""
        if self.target is None:
            msg = "say where the labels are: target= takes a column's name"
            raise ValueError(msg)
        for role in ("target", "weight", "fold", "by"):
            if not names_a_column(getattr(self, role)):
                msg = f"the rows are read as they come, so {role}= must name a column of them"
                raise ValueError(msg)
        wanted = list(dict.fromkeys([*self.feature_columns(names), *self.roles()]))
        missing = [name for name in wanted if name not in set(names)]
        if missing:
            raise ColumnNotFoundError(missing[0], names)
        return wanted

    @property
    def knows_rows(self) -> bool:
        """Whether rows have to be told apart: to draw folds of them, or to know them again."""
        drawn = isinstance(self.fold, HashFolds) and self.fold.key is None
        return drawn or self.identified

    def blocks(self, partition: Partition) -> Iterator[Block]:
        """Take the tables of a partition apart, one after the other."""
        copies = CopyCounter(partition.number)
        for table in partition:
            yield self.block(table, copies)

    def block(self, data: Any, copies: CopyCounter | None = None) -> Block:
        """Take a table apart; ``copies`` knows the rows of the same partition before it."""
        table = as_table(data)
        y = table.values(self.target)
        weight, group = (
            None if role is None else table.values(role) for role in (self.weight, self.by)
        )
        fold = self.fold
        if fold is not None and not isinstance(fold, HashFolds):
            fold = _whole(table.values(fold)) if fold in table.columns else table.values(fold)
        columns = self.features
        if columns is None:
            taken = {POSITION, *(table.canonical(name) for name in self.roles())}
            columns = tuple(name for name in table.columns if name not in taken)
        names = None
        if self.transform is None:
            X = table.features(columns)
        else:
            X = as_rows(self.transform.transform(table.in_pandas(columns)))
            if X.names is None and hasattr(self.transform, "get_feature_names_out"):
                names = tuple(str(name) for name in self.transform.get_feature_names_out())
        hashes = keys = None
        if self.knows_rows:
            positioned = POSITION in table.columns
            if self.identified or not positioned:
                hashes = labelled(row_hash(X), tidy(y))
            if positioned:
                keys = table.values(POSITION)
            elif hashes is not None:
                keys = (CopyCounter() if copies is None else copies).keys(hashes)
        if isinstance(fold, HashFolds):
            fold = fold.of(table, keys)
        return Block(X, y, weight, fold, group, names, hashes, keys)

    def summary_of(self, block: Block) -> Grouped:
        """Summarise rows that have been taken apart."""
        if block.group is None:
            return Grouped({None: self._moments(block, block.fold)})
        # Groups ride along as folds do, so that the rows are read once however many there are.
        group_labels, codes = np.unique(_all_present(block.group), return_inverse=True)
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
        return Moments.of(
            block.X,
            block.y,
            block.weight,
            classes=self.classes,
            feature_names=block.names,
            fold=fold,
        )


@dataclass(frozen=True)
class Grouped:
    """Summaries by group; a group that one side lacks is that of the other."""

    by_group: dict[Any, Moments]

    def __add__(self, other: Grouped) -> Grouped:
        both = dict(self.by_group)
        for group, moments in other.by_group.items():
            both[group] = both[group] + moments if group in both else moments
        return Grouped(both)

    def alike(self) -> dict[Any, Moments]:
        """Return the summaries, all with the classes and folds that any of them has."""
        if len(self.by_group) < 2:
            return self.by_group
        blanks = (
            replace(each, parts=((ClassMoments.empty(each.n_features),) * len(each.classes),) * k)
            for each in self.by_group.values()
            for k in [len(each.parts)]
        )
        blank = tree_sum(blanks)
        return {group: moments + blank for group, moments in self.by_group.items()}


def names_a_column(role: Any) -> bool:
    """Tell whether a role is given by name (or not at all), not as values."""
    return isinstance(role, str | HashFolds | tuple | NoneType) or (
        isinstance(role, int | np.integer) and not isinstance(role, bool)
    )


def _whole(fold: AnyArray) -> AnyArray:
    """Return whole numbers as such: in an array all columns are of one type."""
    is_whole = fold.dtype.kind == "f" and np.array_equal(np.floor(fold), fold)
    return fold.astype(np.int64) if is_whole else fold


def _all_present(group: Any) -> AnyArray:
    """Return groups as an array, or refuse those that are missing."""
    array: AnyArray = np.asarray(group)
    values = array.tolist() if array.dtype.kind == "O" else ()
    absent = {type(value).__name__ for value in values} & {"NoneType", "NAType", "NaTType"}
    if absent or (array != array).any():  # noqa: PLR0124 - NaN and NaT
        msg = "the column of by= is missing in some rows: fill it, or drop those rows"
        raise ValueError(msg)
    return array
