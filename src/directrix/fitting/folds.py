"""Folds from the user: a splitter of scikit-learn, or groups of rows that stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import check_cv

from directrix.rows.keys import key_hash, mix_bits, stratified_folds

if TYPE_CHECKING:
    from directrix._typing import AnyArray, IntArray

#: Remedy for splitters that leave rows out, such as TimeSeriesSplit and ShuffleSplit.
_SPLITTERS = (
    "StratifiedKFold, GroupKFold and PredefinedSplit(fold) do: number periods of time as folds in "
    "PredefinedSplit, or give them as groups=, and judge later rows with evaluate()"
)


def folds_given(cv: Any, X: Any, y: AnyArray, groups: Any = None) -> IntArray | None:
    """Return the fold in which a splitter of scikit-learn, or its splits, test each row.

    None if ``cv`` is a number of folds.

    ``groups``: for splitters that need them.
    """
    if isinstance(cv, int | np.integer) and cv >= 2:
        return None
    if cv is None or isinstance(cv, int | float | np.number):
        msg = (
            "cv must be a number of folds, 2 or more, or a splitter of scikit-learn or its "
            f"splits, not {cv!r}"
        )
        raise ValueError(msg)
    splits = list(check_cv(cv).split(X, y, groups))
    fold = np.empty(len(y), dtype=np.int64)
    tested = np.zeros(len(y), dtype=np.int64)
    for number, (train, test) in enumerate(splits):
        fold[test] = number
        tested[test] += 1
        if len(train) + len(test) != len(y) or np.isin(train, test).any():
            msg = (
                "cv must train each split on all rows that it does not test, and "
                f"{type(cv).__name__} does not; {_SPLITTERS}"
            )
            raise ValueError(msg)
    if not (tested == 1).all():
        times = int(tested[tested != 1][0])
        name = type(cv).__name__
        msg = f"cv must test each row once, and {name} tests one {times} times; {_SPLITTERS}"
        raise ValueError(msg)
    return fold


def require_both_classes(fold: IntArray, positive: AnyArray) -> IntArray:
    """Return the folds; refuse a fold without rows of both classes."""
    number = _first_one_class_fold(fold, positive)
    if number is not None:
        msg = f"cv must hold out rows of both classes, of weight above zero, in split {number}"
        raise ValueError(msg)
    return fold


def require_all_folds(fold: AnyArray, positive: AnyArray, n_folds: int) -> None:
    """Refuse so few rows that a fold has none of a class."""
    for number in range(n_folds):
        classes = positive[fold == number]
        if not classes.any() or classes.all():
            msg = (
                f"fold {number} has no rows of one class: there are too few for folds by a hash. "
                "Give fold=HashFolds(2), or read the rows and use fit."
            )
            raise ValueError(msg)


def checked_groups(groups: Any, n_rows: int) -> IntArray:
    """Return the number of each row's group.

    Numbers are in the order of a hash of the names, and so do not depend on the order of rows.
    """
    names = np.asarray(groups)
    if names.shape != (n_rows,):
        msg = f"groups must name one group for each of {n_rows} rows, not {names.shape}"
        raise ValueError(msg)
    _, numbers = np.unique(mix_bits(key_hash([names])), return_inverse=True)
    return numbers.astype(np.int64)


def group_folds(group: IntArray, positive: AnyArray, n_folds: int) -> IntArray:
    """Return folds of whole groups, stratified by the classes that a group contains.

    ``group``: from `checked_groups`. ``n_folds``: number of folds at most; fewer if groups are few.
    """
    names, member = np.unique(group, return_inverse=True)
    has = [np.bincount(member, side, len(names)) > 0 for side in (positive, ~positive)]
    for number in range(n_folds, 1, -1):
        of_groups = stratified_folds(names.astype(np.uint64), has[0] + 2 * has[1], number)
        fold: IntArray = of_groups[member]
        if of_groups.max() == number - 1 and _first_one_class_fold(fold, positive) is None:
            return fold
    msg = (
        f"groups leave no two folds with rows of both classes: {int(has[0].sum())} groups have "
        f"positives and {int(has[1].sum())} have negatives. Give more groups, or finer ones"
    )
    raise ValueError(msg)


def _first_one_class_fold(fold: IntArray, positive: AnyArray) -> int | None:
    """Return the first fold without rows of both classes."""
    for number in range(int(fold.max()) + 1):
        inside = positive[fold == number]
        if not inside.any() or inside.all():
            return number
    return None
