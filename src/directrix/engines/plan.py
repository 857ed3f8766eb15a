"""Plan: which columns of a table are what, and what is kept of a block of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.engines.tables import as_table
from directrix.moments import Moments
from directrix.moments.class_moments import ClassMoments
from directrix.moments.key_hash import key_hash
from directrix.moments.labels import fold_numbers
from directrix.moments.row_hash import row_hash
from directrix.moments.rows import Rows, as_rows
from directrix.moments.tree import tree_sum

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.engines.tables import Table


@dataclass(frozen=True)
class HashFolds:
    """Folds by a hash of key columns: the same for a row on every engine, whatever comes before.

    Parameters
    ----------
    n_folds : int
    key : str, int, or sequence of them, optional
        Columns that say who a row belongs to (a customer, a session): rows of equal key are in
        the same fold. By default all features, so that equal rows are.
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

    def of(self, table: Table | None, features: Rows) -> IntArray:
        """Return the fold of each row."""
        if self.key is None or table is None:
            keys = [row_hash(features)]
        else:
            keys = [table.values(name) for name in self.columns]
        hashes = key_hash(keys, self.seed)
        # The upper half of the hash as a share of one, times the folds: a division takes longer.
        half = np.uint64(32)
        folds: IntArray = ((hashes >> half) * np.uint64(self.n_folds) >> half).astype(np.int32)
        return folds


class Block(NamedTuple):
    """Rows of a table, apart by their roles."""

    X: Rows
    y: AnyArray
    weight: FloatArray | None
    fold: IntArray | None
    group: AnyArray | None
    names: tuple[str, ...] | None


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
    """

    target: Any
    features: tuple[Any, ...] | None = None
    weight: Any = None
    fold: Any = None
    by: Any = None
    classes: Any = field(default=None, compare=False)
    transform: Any = field(default=None, compare=False)

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
            msg = f"no column named {missing[0]!r}; the columns are {list(names)}"
            raise KeyError(msg)
        return wanted

    def block(self, data: Any) -> Block:
        """Take a table apart."""
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
            taken = {table.canonical(name) for name in self.roles()}
            columns = tuple(name for name in table.columns if name not in taken)
        names = None
        if self.transform is None:
            X = table.features(columns)
        else:
            X = as_rows(self.transform.transform(table.in_pandas(columns)))
            if X.names is None and hasattr(self.transform, "get_feature_names_out"):
                names = tuple(str(name) for name in self.transform.get_feature_names_out())
        if isinstance(fold, HashFolds):
            fold = fold.of(table, X)
        return Block(X, y, weight, fold, group, names)

    def summary(self, data: Any) -> Grouped:
        """Summarise a table, one Moments for each group (None where there are no groups)."""
        return self.summary_of(self.block(data))

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
