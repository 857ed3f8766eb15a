"""Align counts of two sets of rows to the same classes and folds, and combine them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from directrix.exceptions import DifferentBinsError
from directrix.moments import labels
from directrix.tables.counts.pair_counts import PairCounts

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.tables.counts.bin_counts import BinCounts


def combine(
    left: BinCounts,
    right: BinCounts,
    operation: Callable[[PairCounts, PairCounts], PairCounts],
) -> dict[str, Any]:
    """Apply ``operation`` to two sets of counts, class by class and fold by fold.

    Parameters
    ----------
    left, right : BinCounts
    operation : callable
        Takes the two PairCounts of a class and fold, and returns their combination.

    Returns
    -------
    dict
        The fields of the combined BinCounts that may differ from those of ``left``.
    """
    _require_same_bins(left, right)
    folded = left.folded or right.folded
    for side in (left, right):
        if folded and not side.folded and side.count:
            msg = "some counts have folds and others rows without a fold; give both `fold=`"
            raise ValueError(msg)
    classes = labels.union(left.classes, right.classes)
    n_parts = max(len(left.parts), len(right.parts))
    aligned = (_aligned_parts(side, classes, n_parts) for side in (left, right))
    return {
        "classes": classes,
        "parts": tuple(tuple(map(operation, a, b)) for a, b in zip(*aligned, strict=True)),
        "folded": folded,
    }


def _aligned_parts(
    counts: BinCounts, classes: AnyArray, n_parts: int
) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the parts of some counts, padded with empty ones to these classes and folds."""
    nothing, known = PairCounts.empty(counts.n_cells), counts.classes.tolist()
    parts = counts.parts + ((nothing,) * len(known),) * (n_parts - len(counts.parts))
    return tuple(
        tuple(part[known.index(c)] if c in known else nothing for c in classes.tolist())
        for part in parts
    )


def _require_same_bins(left: BinCounts, right: BinCounts) -> None:
    """Raise DifferentBinsError for the first column that is not the same in both."""
    shared = min(len(left.bins), len(right.bins))
    for a, b in zip(left.bins[:shared], right.bins[:shared], strict=True):
        if a != b:
            raise DifferentBinsError(a.name)
    rest = left.bins[shared:] + right.bins[shared:]
    if rest:
        raise DifferentBinsError(rest[0].name)
    if left.named != right.named:  # columns called x0, x1, … in one, and numbered in the other
        raise DifferentBinsError(left.bins[0].name)
