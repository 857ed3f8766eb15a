"""Rebinning: coarser bins of the same columns, and where each cell goes.

Bins can be merged, and columns left out, without the rows: a coarser cell is a union of finer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, TypeAlias

import numpy as np

from directrix._typing import IntArray
from directrix.exceptions.columns import ColumnNotFoundError, LevelNotFoundError, OwnBinsError
from directrix.tables.bins import Bins, LevelBins, NumberBins, join_missing
from directrix.tables.table import days_of

#: Cuts are printed with six digits or more, and are found by what is printed.
_PRINTED = 5e-6

#: Coarser bins of one column, and the coarser cell of each finer one.
Merged: TypeAlias = tuple[Bins, IntArray]


def coarser(
    bins: Sequence[Bins],
    *,
    cuts: Mapping[str, Any],
    merge: Mapping[str, Any],
    other: Mapping[str, Any],
    missing_with: Mapping[str, Any],
    drop: Iterable[str],
    named: bool,
) -> tuple[tuple[Bins, ...], IntArray]:
    """Return coarser bins, and the number of each finer cell among all coarser ones.

    It is −1 in columns that are left out. The parameters are those of `BinCounts.rebin`, after the
    bins; columns without names (``named`` is False) are numbered again.
    """
    drop = [drop] if isinstance(drop, str) else list(drop)
    merges = (
        (cuts, _with_cuts),
        (merge, _with_groups),
        (other, _with_others),
        (missing_with, join_missing),
    )
    _check_columns([column.name for column in bins], [given for given, _ in merges], drop)
    _check_one_wish(cuts, merge)
    kept: list[Bins] = []
    number: list[IntArray] = []
    start = 0
    for column in bins:
        if column.name in drop:
            number.append(np.full(column.n_cells, -1))
            continue
        coarse, cell = column, np.arange(column.n_cells)
        for given, apply in merges:
            if column.name in given:
                coarse, merged = apply(coarse, given[column.name])
                cell = merged[cell]
        if not named:
            coarse = replace(coarse, name=f"x{len(kept)}")
        kept.append(coarse)
        number.append(start + cell)
        start += coarse.n_cells
    if not kept:
        msg = "all columns would be dropped; keep at least one"
        raise ValueError(msg)
    return tuple(kept), np.concatenate(number)


def _check_columns(
    known: Sequence[str], merges: Sequence[Mapping[str, Any]], drop: Sequence[str]
) -> None:
    """Check that all columns exist, and that none is both dropped and merged."""
    merged = {name for given in merges for name in given}
    for name in (*merged, *drop):
        if name not in known:
            raise ColumnNotFoundError(name, known)
    for name in drop:
        if name in merged:
            msg = f"column {name!r} is both dropped and merged"
            raise ValueError(msg)


def _check_one_wish(cuts: Mapping[str, Any], merge: Mapping[str, Any]) -> None:
    for name in cuts:
        if name in merge:
            problem = "the column also has cells to merge: give one of them"
            raise OwnBinsError(name, "cuts", cuts[name], problem)


def _with_cuts(bins: Bins, kept: Any) -> Merged:
    """Keep some cuts of a column of numbers."""
    if not isinstance(bins, NumberBins):
        msg = f"column {bins.name!r} holds texts and has no cuts: group its levels with `merge`"
        raise TypeError(msg)
    index = sorted({_cut_index(bins, cut) for cut in _listed(kept, "cuts", bins)})
    return _of_ordered(bins, np.isin(np.arange(len(bins.cuts)), index))


def _with_groups(bins: Bins, groups: Any) -> Merged:
    """Merge ranges of ordered cells, or groups of levels."""
    groups = _listed(groups, "merge", bins)
    if not isinstance(bins, NumberBins):
        return merge_levels(bins, [_listed(group, "merge", bins) for group in groups])
    keep = np.ones(len(bins.cuts), dtype=bool)
    for group in groups:
        first, last = _cell_range(bins, group)
        keep[first - 1 : last - 1] = False  # the cut above cell k is number k − 1
    return _of_ordered(bins, keep)


def _with_others(bins: Bins, levels: Any) -> Merged:
    """Move levels to "other"."""
    if isinstance(bins, NumberBins):
        msg = f"column {bins.name!r} has no levels: merge its cells with `cuts` or `merge`"
        raise TypeError(msg)
    return merge_levels(bins, (), _listed(levels, "other", bins))


def _of_ordered(bins: NumberBins, keep: Any) -> Merged:
    """Remove the cuts that are not kept."""
    group = np.concatenate([[0], np.cumsum(keep)])  # of each ordered cell
    n_groups, n_ordered = int(group[-1]) + 1, bins.n_ordered
    inside = slice(1, 1 + n_ordered)
    special = np.arange(len(bins.special_values)) + 1 + n_groups
    cell = np.concatenate([[0], 1 + group, special])
    weight = np.array(bins.weights or np.zeros(bins.n_cells))
    means = np.array(bins.means)
    sums = np.bincount(group, weight[inside], n_groups)
    plain = np.bincount(group, means, n_groups) / np.bincount(group, minlength=n_groups)
    weighted = np.bincount(group, weight[inside] * means, n_groups) / np.where(sums > 0, sums, 1.0)
    ends = np.searchsorted(group, np.arange(n_groups + 1))
    # Rounding must not move a mean out of its bin: means of bins increase.
    mean = np.clip(np.where(sums > 0, weighted, plain), means[ends[:-1]], means[ends[1:] - 1])
    coarse = replace(
        bins,
        cuts=tuple(np.array(bins.cuts)[keep].tolist()),
        means=tuple(mean.tolist()),
        weights=tuple(np.bincount(cell, weight).tolist()) if bins.weights else (),
        missing_cell=int(cell[bins.missing_cell]),
    )
    return coarse, cell


def merge_levels(
    bins: LevelBins, groups: Sequence[Sequence[Any]], others: Sequence[Any] = ()
) -> Merged:
    """Group levels, and move others to "other"."""
    chosen = [level for group in (*groups, others) for level in group]
    for level in chosen:
        if level not in bins.levels:
            raise LevelNotFoundError(bins.name, level, bins.levels)
    if len(set(chosen)) < len(chosen):
        raise OwnBinsError(bins.name, "groups", groups, "a level is in two groups")
    cell_of = dict(zip(bins.levels, bins.level_cells, strict=True))
    # A group takes along all levels that were in a cell with one of its own.
    target = np.arange(bins.n_cells)
    taken: set[int] = set()
    for group, into in (*((group, None) for group in groups), (others, 1)):
        cells = {cell_of[level] for level in group}
        if cells & taken:
            problem = "levels that share a cell are in two groups"
            raise OwnBinsError(bins.name, "groups", groups, problem)
        taken |= cells
        target[sorted(cells)] = into or min(cells, default=1)
    levels = [level for level in bins.levels if target[cell_of[level]] > 1]
    numbers = {
        cell: k for k, cell in enumerate(dict.fromkeys(int(target[cell_of[x]]) for x in levels))
    }
    cell = np.array([int(t) if t < 2 else 2 + numbers[int(t)] for t in target])
    grouped = tuple(numbers[int(target[cell_of[level]])] for level in levels)
    weights = tuple(np.bincount(cell, bins.weights).tolist()) if bins.weights else ()
    shared = grouped if len(numbers) < len(levels) else ()
    missing = int(cell[bins.missing_cell])
    return LevelBins(bins.name, tuple(levels), weights, shared, missing), cell


def _cell_range(bins: NumberBins, group: Any) -> tuple[int, int]:
    try:
        first, last = group
        valid = 1 <= first <= last <= bins.n_ordered and first % 1 == last % 1 == 0
    except (TypeError, ValueError):
        valid = False
    if not valid:
        msg = (
            f"merge of column {bins.name!r} must be pairs of a first and a last cell from 1 to "
            f"{bins.n_ordered}, not {group!r}; give cuts to keep as `cuts`"
        )
        raise ValueError(msg)
    return int(first), int(last)


def _cut_index(bins: NumberBins, cut: Any) -> int:
    """Return the index of a cut that is given as it is, or as it is printed."""
    labels = bins.cut_labels
    if isinstance(cut, str):
        if cut in labels:
            return labels.index(cut)
    elif bins.cuts:
        is_date = isinstance(cut, date | datetime | np.datetime64) or hasattr(cut, "to_datetime64")
        value = days_of(cut) if is_date else float(cut)
        distance = np.abs(np.array(bins.cuts) - value)
        index = int(distance.argmin())
        if distance[index] <= _PRINTED * abs(value) * (bins.kind != "date"):
            return index
    shown = ", ".join(labels) or "none"
    msg = f"column {bins.name!r} has no cut {cut!r}; its cuts are {shown}"
    raise ValueError(msg)


def _listed(given: Any, noun: str, bins: Bins) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"{noun} of column {bins.name!r} must be a list, not {given!r}"
        raise TypeError(msg)
    return list(given)
