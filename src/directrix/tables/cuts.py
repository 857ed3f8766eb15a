"""Cuts between bins of a numeric column, from the distribution of its values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

#: Shares of the rows beyond which values are moved to the nearest value inside, for means of bins.
_WINSORIZED = (0.005, 0.995)
#: Of a cut; the most tell any two float64 apart.
_FEWEST_DIGITS, _MOST_DIGITS = 6, 17


def distinct_values(values: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the sorted distinct values, and the total weight of each.

    The result does not depend on the order of the rows, to the last bit: weights of equal values
    are added in sorted order. Rows of weight zero are left out.

    Parameters
    ----------
    values : array of shape (n,)
        Without NaN.
    weight : array of shape (n,) or None
        None gives every row weight one.
    """
    values = values + 0.0  # the negative zero is zero
    if weight is None:
        ordered = np.sort(values)
        starts = _starts(ordered)
        return ordered[starts], np.diff(starts, append=len(ordered)).astype(np.float64)
    values, weight = values[weight > 0], weight[weight > 0]
    order = np.argsort(values)
    ordered, weight = values[order], weight[order]
    starts = _starts(ordered)
    if len(starts) == 0:
        return ordered, weight
    repeats = np.diff(starts, append=len(ordered))
    if (weight % 1.0).any():  # sums of whole numbers are exact in any order
        repeated = np.repeat(repeats > 1, repeats)
        runs, parts = np.repeat(np.arange(len(starts)), repeats)[repeated], weight[repeated]
        weight[repeated] = parts[np.lexsort((parts, runs))]
    return ordered[starts], np.add.reduceat(weight, starts)


def find_cuts(
    values: FloatArray, weight: FloatArray | None, max_bins: int, min_rows: float
) -> FloatArray:
    """Return the cuts of a column; a value is above a cut if it is greater.

    Cuts are quantiles of the values, where a repeated value counts for at most two bins: a column
    that is mostly zero still gets most of its cuts from its other values. If there are no more than
    ``max_bins`` distinct values, a cut is made between each two. A cut is halfway between two
    neighbouring values, rounded to six digits or as many as keep lower <= cut < upper in floating
    point, so that a cut is the number that is printed. A bin with less than ``min_rows`` rows is
    merged with a neighbour.

    Parameters
    ----------
    values : array of shape (n,)
        Without NaN; infinite values count as the lowest and the highest.
    weight : array of shape (n,) or None
        Sample weights; a row of weight k counts as k rows.
    max_bins : int
        Largest number of bins.
    min_rows : float
        Least weight of the rows in a bin.

    Returns
    -------
    array
        Increasing, one less than there are bins.

    Examples
    --------
    >>> import numpy as np
    >>> find_cuts(np.array([1.0, 1.0, 2.0, 2.0, 4.0, 4.0]), None, 64, 1).tolist()
    [1.5, 3.0]
    """
    return cuts_between(*distinct_values(values, weight), max_bins, min_rows)


def cuts_between(
    distinct: FloatArray, weights: FloatArray, max_bins: int, min_rows: float
) -> FloatArray:
    """Return the cuts of a column given by its sorted distinct values and their weights."""
    if len(distinct) < 2:
        return np.empty(0)
    after: AnyArray = np.arange(len(distinct) - 1)  # a cut is after this value
    below = np.cumsum(weights)
    if len(distinct) > max_bins:
        capped = np.cumsum(np.minimum(weights, weight_of_two_bins(weights, max_bins)))
        targets = np.arange(1, max_bins) * (capped[-1] / max_bins)
        # Rounding must not move a cut to the next value.
        reached = np.searchsorted(capped, targets * (1.0 - 1e-12))
        after = np.unique(np.minimum(reached, len(distinct) - 2))
    kept, last = [], 0.0
    for k in after.tolist():
        if below[k] - last >= min_rows and below[-1] - below[k] >= min_rows:
            kept.append(k)
            last = below[k]
    index = np.array(kept, dtype=np.intp)
    return _between(distinct[index], distinct[index + 1])


def bin_means(distinct: FloatArray, weights: FloatArray, cuts: FloatArray) -> FloatArray:
    """Return the weighted mean of the winsorised values in each bin.

    Values below the 0.5 % quantile or above the 99.5 % quantile of the finite values count as that
    quantile, so that a few values far out do not set the scale of a straight line.

    Parameters
    ----------
    distinct, weights : array
        Sorted distinct values, and the weight of each.
    cuts : array
        Increasing cuts between the bins, with a value in each.
    """
    finite = np.isfinite(distinct)
    if not finite.any():
        return np.zeros(len(cuts) + 1)
    share = np.cumsum(weights[finite])
    ends = np.searchsorted(share, np.array(_WINSORIZED) * share[-1] * (1.0 - 1e-12))
    low, high = distinct[finite][np.minimum(ends, len(share) - 1)]
    inside = np.clip(distinct, low, high)
    scale = max(abs(low), abs(high)) or 1.0  # sums of huge values would overflow
    bins = np.searchsorted(cuts, distinct, side="left")
    starts = _starts(bins)
    sums = np.add.reduceat(weights * (inside / scale), starts)
    means = scale * (sums / np.add.reduceat(weights, starts))
    # Rounding must not move a mean out of its bin.
    lowest, highest = inside[starts], inside[np.append(starts[1:], len(bins)) - 1]
    return np.clip(means, lowest, highest)


def weight_of_two_bins(weights: FloatArray, max_bins: int) -> float:
    """Return the weight of two bins if no value has more: c = 2 Σ min(weight, c) / max_bins.

    With the j heaviest values at the limit and R the weight of the others,
    c = 2R / (max_bins − 2j). There is one such c if there are more values than bins.
    """
    heaviest = np.sort(weights)[::-1]
    others = np.cumsum(heaviest[::-1])[::-1]
    n_limited = np.arange((max_bins + 1) // 2)
    limits = 2.0 * others[n_limited] / (max_bins - 2 * n_limited)
    return float(limits[np.argmax(heaviest[n_limited] <= limits)])


def _starts(ordered: AnyArray) -> AnyArray:
    """Return where each run of equal values starts."""
    if len(ordered) == 0:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def _between(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a finite number from each lower (included) to its upper value (not included).

    There is none between −inf and the least finite number, which are left in one bin.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (lower + upper) / 2.0
        middle = np.where(np.isfinite(middle), middle, lower / 2.0 + upper / 2.0)
    middle = np.where((lower <= middle) & (middle < upper), middle, lower) + 0.0
    below = np.isinf(lower)  # −inf; a finite cut keeps files and SQL free of infinities
    with np.errstate(over="ignore"):
        middle = np.where(below, np.nextafter(upper, -np.inf), middle)
    middle = np.where(below & np.isinf(upper), 0.0, middle)
    numbers = zip(middle.tolist(), lower.tolist(), upper.tolist(), strict=True)
    return np.array([_rounded(*each) for each in numbers if np.isfinite(each[0])])


def _rounded(middle: float, lower: float, upper: float) -> float:
    """Return a number with the fewest digits that still separates two values; at least six."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        number = float(f"{middle:.{digits}g}")
        if lower <= number < upper:
            return number + 0.0  # the negative zero is zero
    return middle
