"""Copies of rows, far more frequent than by chance: what oversampling and bad joins leave behind.

A copy that is held out has its like among the training rows, so that held-out rows seem easy to
tell apart, and rates are too good. Groups of copies, held out together, are the remedy.
"""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import CopiedRowsWarning, find_stacklevel, is_inside_search
from directrix.fit.training_rows import Rows
from directrix.rows.keys import hash_with_label, row_hash
from directrix.rows.rows import as_rows
from directrix.tables import Table

#: Least number of copies of rows, and their least share of the rows of a class and of all rows.
_FEWEST, _LEAST_SHARE, _LEAST_SHARE_OF_ALL = 10, 0.1, 0.05
#: How many times as often two rows of the class are equal as two other rows, and as two rows that
#: agree in the halves of their columns by chance.
_LEAST_FACTORS = 10.0, 1.5
#: Upper 95 % bound of the mean of a Poisson variable that is zero.
_NONE_SEEN = 3.0
#: Fewest distinct rows whose counts have a common divisor by no chance.
_FEWEST_DISTINCT = 20
#: Share of the distinct rows that a column of continuous values tells apart, and how many times as
#: many rows are copies as would be by chance.
_SEPARABLE, _BEYOND_CHANCE = 0.9, 5.0
#: Distinct rows that show which columns are not continuous.
_GLANCE = 1000
#: Labels of copies disagree at most this share as often as independent labels.
_MOST_DISAGREEMENT = 0.1
#: Values are not continuous if there are more rows for each on average.
_MOST_PER_VALUE = 5.0


def warn_about_copies(rows: Rows, labels: AnyArray) -> None:
    """Warn if rows are copied far more often than by chance, and have no groups.

    ``labels`` are the negative and the positive one.
    """
    if rows.group is not None or is_inside_search():
        return
    used = rows.weight > 0
    try:
        X = rows.X
        if not (sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")):
            X = Table.of(X).values
        copied = copied_rows(X[used], rows.positive[used])
    except (IndexError, TypeError, ValueError):  # no table
        return
    if copied is not None:
        side, *counts = copied
        label = None if side is None else labels.tolist()[side]
        warn(CopiedRowsWarning(label, *counts), stacklevel=find_stacklevel())


def copied_rows(X: Any, positive: AnyArray) -> tuple[int | None, int, int] | None:
    """Return whose rows are copied beyond chance, how many are copies, and of how many; or None.

    The first is the index of a class, or None if rows of both are copied with their labels.

    ``X`` are numbers, of which some may be missing.
    """
    hashes = row_hash(as_rows(X))
    first, number = np.unique(hashes, return_index=True, return_inverse=True)[1:]
    if len(first) == len(positive):
        return None
    one_class = _copied_class(X, positive, number)
    if one_class is not None:
        return one_class
    counts = np.unique(hash_with_label(hashes, positive), return_counts=True)[1]
    n_rows, n_copies = len(positive), len(positive) - len(counts)
    few = n_copies < max(_LEAST_SHARE_OF_ALL * n_rows, _FEWEST) or (counts > 1).sum() < _FEWEST
    if few or not (_are_repeated(counts) or _are_equal_beyond_chance(X, positive, first, number)):
        return None
    return None, n_copies, n_rows


def _are_repeated(counts: AnyArray) -> bool:
    r"""Return whether rows that occur this often cannot be independent draws of any distribution.

    If :math:`f_k` distinct rows occur k times, independent draws make the numbers :math:`k!\, f_k`
    log-convex in expectation, by the inequality of Cauchy and Schwarz for mixtures of Poisson
    distributions:

    .. math:: f_{k+1} \ge \frac{k}{k+1} \frac{f_k^2}{f_{k-1}}.

    A table twice has no rows that occur once or thrice. Each number is taken at the end of three
    standard errors that suits independent draws.
    """
    if len(counts) >= _FEWEST_DISTINCT and np.gcd.reduce(counts) > 1:
        return True
    occurring = np.append(np.bincount(counts), 0.0)
    margin = 3.0 * np.sqrt(occurring)
    low, high = np.maximum(occurring - margin, 0.0), occurring + margin + _NONE_SEEN
    k = np.arange(2, len(occurring) - 1)
    return bool((high[k + 1] < k / (k + 1) * low[k] ** 2 / high[k - 1]).any())


def _are_equal_beyond_chance(X: Any, positive: AnyArray, first: AnyArray, number: AnyArray) -> bool:
    """Return whether equal rows agree in a continuous column, and in their labels, by no chance.

    Rows that are drawn again have counts like those of independent draws. But distinct rows hardly
    agree in a column of continuous values, so that equal rows cannot be chance either.

    ``first`` are distinct rows, and ``number`` is the index of each row among them.
    """
    if sparse.issparse(X) or X.shape[1] < 2 or len(number) > _MOST_PER_VALUE * len(first):
        return False
    X, few = np.asarray(X, dtype=np.float64), first[:_GLANCE]  # ordered by their hashes
    shares = [
        (_share_told_apart(X[first, k]), k)
        for k in range(X.shape[1])
        if _share_told_apart(X[few, k]) >= _SEPARABLE
    ]
    told_apart, column = max(shares, default=(0.0, 0))
    if told_apart < _SEPARABLE:
        return False
    used = ~np.isnan(X[first, column])
    n_equal = np.bincount(number)[used]
    n_positive = np.bincount(number, weights=positive)[used]
    n_copies, share = int((n_equal - 1).sum()), float(np.mean(positive))
    disagreeing = float((2.0 * n_positive * (n_equal - n_positive) / n_equal).sum())
    independent = 2.0 * n_copies * share * (1.0 - share)
    if independent < _NONE_SEEN or disagreeing > _MOST_DISAGREEMENT * independent:
        return False
    rest = row_hash(as_rows(np.delete(X[first[used]], column, axis=1)))
    alike = _chance_of_equal(np.unique(rest, return_counts=True)[1])
    only_in_column = (1.0 - told_apart) * int(used.sum()) + _NONE_SEEN
    by_chance = only_in_column * alike / max(1.0 - alike, 1.0 / len(first))
    return bool(n_copies >= _BEYOND_CHANCE * by_chance)


def _share_told_apart(values: FloatArray) -> float:
    """Return the share of different values among those that are present; 0 if they are too few."""
    present = values[~np.isnan(values)]
    return len(np.unique(present)) / len(present) if 2 * len(present) >= len(values) else 0.0


def _copied_class(X: Any, positive: AnyArray, number: AnyArray) -> tuple[int, int, int] | None:
    r"""Return the class whose rows are copied beyond chance, its copies and its rows; or None.

    It is the class with fewer distinct rows. Two of its rows are equal with probability

    .. math:: \lambda_c \ge 10 \max(\lambda_{1-c}, \lambda_{01}), \qquad
              \lambda_c \ge 1.5\, \lambda_A \lambda_B

    for two rows of the other class, two rows of different classes, and for the two halves A and B
    of the columns of two rows of the class: rows that agree by chance in one half need not agree in
    the other, and copies do. Tables of few distinct values do not pass both.

    ``number`` is that of the distinct row which each row is equal to.
    """
    if X.shape[1] < 2:
        return None
    n_numbers = int(number.max()) + 1
    counts = [np.bincount(number[positive == side], minlength=n_numbers) for side in (0, 1)]
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
