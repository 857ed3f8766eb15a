"""Copies of rows that one class has far more often than chance: what oversampling leaves behind.

A copy that is held out has its like among the training rows, so that held-out rows seem easy to
tell apart, and rates are too good. Groups of copies, held out together, are the remedy.
"""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray
from directrix.exceptions import CopiedRowsWarning, find_stacklevel, is_inside_search
from directrix.fitting.training_rows import Rows
from directrix.rows.keys import row_hash
from directrix.rows.rows import as_rows

#: Least number of copies of rows of a class, and their least share of its rows.
_FEWEST, _LEAST_SHARE = 10, 0.1
#: How many times as often two rows of the class are equal as two other rows, and as two rows that
#: agree in the halves of their columns by chance.
_LEAST_FACTORS = 10.0, 1.5
#: Upper 95 % bound of the mean of a Poisson variable that is zero.
_NONE_SEEN = 3.0


def warn_about_copies(rows: Rows, labels: AnyArray) -> None:
    """Warn if rows of one class are copied far more often than by chance, and have no groups.

    ``labels`` are the negative and the positive one.
    """
    if rows.group is not None or is_inside_search():
        return
    used = rows.weight > 0
    try:
        X = rows.X if sparse.issparse(rows.X) else np.asarray(rows.X, dtype=np.float64)
        copied = copied_class(X[used], rows.positive[used])
    except (IndexError, TypeError, ValueError):  # no table of numbers
        return
    if copied is not None:
        side, *counts = copied
        warn(CopiedRowsWarning(labels.tolist()[side], *counts), stacklevel=find_stacklevel())


def copied_class(X: Any, positive: AnyArray) -> tuple[int, int, int] | None:
    r"""Return the class whose rows are copied beyond chance, its copies and its rows; or None.

    It is the class with fewer distinct rows. Two of its rows are equal with probability

    .. math:: \lambda_c \ge 10 \max(\lambda_{1-c}, \lambda_{01}), \qquad
              \lambda_c \ge 1.5\, \lambda_A \lambda_B

    for two rows of the other class, two rows of different classes, and for the two halves A and B
    of the columns of two rows of the class: rows that agree by chance in one half need not agree in
    the other, and copies do. Tables of few distinct values do not pass both.

    ``X`` are numbers, of which some may be missing.
    """
    distinct, number = np.unique(row_hash(as_rows(X)), return_inverse=True)
    if len(distinct) == len(positive) or X.shape[1] < 2:
        return None
    counts = [np.bincount(number[positive == side], minlength=len(distinct)) for side in (0, 1)]
    n_distinct = [np.count_nonzero(count) for count in counts]
    side = int(n_distinct[1] <= n_distinct[0])
    n_rows = int(counts[side].sum())
    n_copies = int(n_rows - n_distinct[side])
    if n_copies < max(_LEAST_SHARE * n_rows, _FEWEST):
        return None
    half, inside = X.shape[1] // 2, np.flatnonzero(positive == side)
    halves = 1.0
    for part in (X[:, :half], X[:, half:]):
        which = np.unique(row_hash(as_rows(part))[inside], return_inverse=True)[1]
        halves *= _chance_of_equal(np.bincount(which))
    across = float(counts[0] @ counts[1]) / float(counts[0].sum() * counts[1].sum())
    chances = max(_chance_of_equal(counts[1 - side], _NONE_SEEN), across), halves
    equal = _chance_of_equal(counts[side])
    beyond = all(equal >= factor * by for factor, by in zip(_LEAST_FACTORS, chances, strict=True))
    return (side, n_copies, n_rows) if beyond else None


def _chance_of_equal(counts: AnyArray, more: float = 0.0) -> float:
    """Return the share of equal pairs of rows, of which there may have been some more."""
    n = float(counts.sum())
    pairs = float((counts * (counts - 1.0)).sum()) / 2.0
    return (pairs + more) / max(n * (n - 1.0) / 2.0, 1.0)
