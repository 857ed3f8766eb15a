"""Training rows in an order of their own, with folds: where every fit to rows begins.

Rows are known by keys (`directrix.moments.row_keys`) and put in the order of these, so that nothing
that comes after can depend on the order in which they were given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.fitting.class_weights import weights_by_class
from directrix.classifiers.fitting.folds import checked_groups, group_folds, require_both_classes
from directrix.classifiers.fitting.standardization import Standardization
from directrix.frontier.compare import first_of_classes, standing_for
from directrix.moments.row_hash import row_hash
from directrix.moments.row_keys import copy_keys, copy_numbers, hash_with_label, stratified_folds
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

#: Copies that rows of whole weights are split into, in all.
_MOST_COPIES = 1 << 20
#: Rows of a class from which on equal whole weights are no frequencies.
_MANY = 50


class TrainingRows(NamedTuple):
    """Rows of two classes that candidates are made and compared on.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    positive : array of bool of shape (n,)
    weight : array of shape (n,)
    fold : array of int of shape (n,), optional
        None where rows are too few to hold some out.
    group : array of int of shape (n,), optional
        Rows of one group are dependent, and always in the same fold.
    copies : array of int of shape (n,), optional
        How many rows each stands for, where its weight is a frequency.
    """

    X: Any
    positive: AnyArray
    weight: FloatArray
    fold: IntArray | None = None
    group: IntArray | None = None
    copies: IntArray | None = None

    @property
    def name(self) -> str:
        """What to call the rows that rates are measured on."""
        return "the training rows" if self.fold is None else "held-out rows"

    def first(self, most: int) -> TrainingRows:
        """Return the first rows of each class, with weights that stand for all; without folds.

        Rows are in the order of their keys, so the first are drawn as by chance.
        """
        index = first_of_classes(self.positive, most)
        weight = standing_for(self.positive, self.weight, index)
        return TrainingRows(self.X[index], self.positive[index], weight)


@dataclass(frozen=True)
class KeyedRows:
    """Rows of weight above zero in the order of their keys, not yet copied.

    A whole weight of k, where weights are frequencies, stands for k entries.

    Parameters
    ----------
    X : array or sparse matrix of shape (m, d)
        As given, without rows of weight zero.
    y : array of shape (m,)
    weight : array of shape (m,)
    index : array of int of shape (n,)
        The row of each entry.
    keys : array of uint64 of shape (n,)
    entry_weight : array of shape (n,)
    factor : array of shape (m,)
        Class weight of each row.
    fold : array of int of shape (m,), optional
        Folds that the user gave.
    group : array of int of shape (m,), optional
    """

    X: Any
    y: AnyArray
    weight: FloatArray
    index: IntArray
    keys: AnyArray
    entry_weight: FloatArray
    factor: FloatArray
    fold: IntArray | None = None
    group: IntArray | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        fold: IntArray | None = None,
        groups: Any = None,
    ) -> KeyedRows:
        """Give keys to rows, and drop those of weight zero.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of shape (n,)
            Labels.
        weight : array of shape (n,)
            Sample weights, not yet multiplied by class weights.
        fold : array of int of shape (n,), optional
        groups : array of shape (n,), optional
        """
        group = None if groups is None else checked_groups(groups, len(y))
        if (weight == 0).any():
            kept = np.flatnonzero(weight > 0)
            X, y, weight = X[kept], y[kept], weight[kept]
            fold = None if fold is None else fold[kept]
            group = None if group is None else group[kept]
        copies = copies_of(weight, y)
        index = np.repeat(np.arange(len(y)), copies)
        entry_weight = (weight / copies)[index]
        # By the number of the class, so that what labels are called does not matter.
        code = np.unique(y, return_inverse=True)[1]
        hashes = hash_with_label(row_hash(as_rows(X)), code)[index]
        keys = copy_keys(hashes, copy_numbers(hashes, entry_weight))
        order = np.argsort(keys, kind="stable")
        entries = index[order], keys[order], entry_weight[order]
        return cls(X, y, weight, *entries, np.ones(len(y)), fold, group)

    def weighted(self, class_weight: Any, classes: AnyArray) -> KeyedRows:
        """Return the rows with class weights, as scikit-learn has them."""
        code = np.searchsorted(classes, self.y)
        weight = weights_by_class(class_weight, classes, code, self.weight)
        return replace(self, factor=weight / self.weight)

    def only(self, chosen: IntArray) -> KeyedRows:
        """Return some of the entries; their rows are then all the rows there are."""
        rows, index = np.unique(self.index[chosen], return_inverse=True)
        weight: FloatArray = np.bincount(index, self.entry_weight[chosen]).astype(np.float64)
        return KeyedRows(
            self.X[rows],
            self.y[rows],
            weight,
            index,
            self.keys[chosen],
            self.entry_weight[chosen],
            self.factor[rows],
            None if self.fold is None else self.fold[rows],
            None if self.group is None else self.group[rows],
        )

    def all_rows(self, label: Any) -> TrainingRows:
        """Return all rows as they were given, without folds; `label` is the positive class."""
        copies = np.bincount(self.index, minlength=len(self.y))
        weight = self.weight * self.factor
        return TrainingRows(self.X, self.y == label, weight, group=self.group, copies=copies)

    def training_rows(self, label: Any, n_folds: int, most: int | None = None) -> TrainingRows:
        """Return the entries, or the first of each class, with folds.

        Parameters
        ----------
        label : label
            The positive class.
        n_folds : int
            How many folds there are to be, where none were given; fewer where a class is small.
        most : int, optional
            Entries of each class.
        """
        entry_positive = self.y[self.index] == label
        weight = self.entry_weight * self.factor[self.index]
        most = len(entry_positive) if most is None else most
        chosen = first_of_classes(entry_positive, most)
        weight = standing_for(entry_positive, weight, chosen)
        rows, entry_positive = self.index[chosen], entry_positive[chosen]
        group = None if self.group is None else self.group[rows]
        if self.fold is not None:
            fold: IntArray | None = require_both_classes(self.fold[rows], entry_positive)
        elif group is not None:
            fold = group_folds(group, entry_positive, n_folds)
        else:
            fold = class_folds(self.keys[chosen], entry_positive, n_folds)
        return TrainingRows(self.X[rows], entry_positive, weight, fold, group)

    def set_apart(self, label: Any, share: int) -> tuple[KeyedRows, KeyedRows]:
        """Return all entries but one in `share` of each class, and those set apart.

        Parameters
        ----------
        label : label
            The positive class.
        share : int
        """
        fold = class_folds(self.keys, self.y[self.index] == label, share)
        if fold is None or fold.max() < share - 1:
            msg = (
                f"guarantee= sets one in {share} of the rows of each class apart: give {share} "
                "rows of each class or more"
            )
            raise ValueError(msg)
        return self.only(np.flatnonzero(fold != 0)), self.only(np.flatnonzero(fold == 0))


class Prepared(NamedTuple):
    """Rows in standardised units: all of them, and those that candidates are compared on.

    Parameters
    ----------
    units : Standardization
    rows : TrainingRows
        All rows, for the last fit.
    seen : TrainingRows
        With folds; the same where they are not too many.
    """

    units: Standardization
    rows: TrainingRows
    seen: TrainingRows


def prepare(keyed: KeyedRows, label: Any, n_folds: int, most: int) -> Prepared:
    """Standardise rows and share them out to folds; see `KeyedRows.training_rows`."""
    seen = keyed.training_rows(label, n_folds, most)
    if len(seen.positive) == len(keyed.index):
        units = Standardization.of(seen.X, seen.weight)
        seen = seen._replace(X=units.rows(seen.X))
        return Prepared(units, seen, seen)
    rows = keyed.all_rows(label)
    units = Standardization.of(rows.X, rows.weight)
    return Prepared(units, rows._replace(X=units.rows(rows.X)), seen._replace(X=units.rows(seen.X)))


def class_folds(keys: AnyArray, positive: AnyArray, n_folds: int) -> IntArray | None:
    """Return folds that share out each class; None where a class has one row only."""
    n_pos = int(np.count_nonzero(positive))
    n_folds = min(n_folds, n_pos, len(positive) - n_pos)
    return stratified_folds(keys, positive, n_folds) if n_folds > 1 else None


def copies_of(weight: FloatArray, y: AnyArray) -> IntArray:
    """Return how many copies each row stands for, which may be in different folds.

    Whole weights are frequencies: a row of weight k stands for k rows. Where weights are not
    whole, each row is one. So it is where all rows of a class of fifty or more weigh the same (ten
    for each negative, of which one in ten was kept): that says how much a row counts, not that it
    was seen ten times. Beyond a million copies in all, rows are split into fewer, heavier ones.

    Parameters
    ----------
    weight : array of shape (n,)
        Above zero.
    y : array of shape (n,)
        Labels.
    """
    if (weight != np.rint(weight)).any():
        return np.ones(len(weight), dtype=np.int64)
    most = max(_MOST_COPIES // max(len(weight), 1), 1)
    copies = np.minimum(weight, most).astype(np.int64)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        if len(rows) >= _MANY and np.ptp(weight[rows]) == 0:
            copies[rows] = 1
    return copies
