"""Encodings: the features that stand for the cells of binned columns.

An encoding maps each cell of a column to a run of neighbouring features that are one, all others
being zero. That is enough for indicators (a run of one) and for thermometers (a run that starts at
the first cut and grows with the bin).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.tables.bins import MISSING, Bins, NumberBins

ENCODINGS = ("thermometer", "onehot", "ordinal")


class Runs(NamedTuple):
    """Features of one column or cross: the first one and the number that are one, for each cell."""

    n_features: int
    start: AnyArray
    length: AnyArray


def thermometer(bins: Bins) -> Runs:
    """Return features "x > cut" for each cut, and an indicator for each cell without an order."""
    if not isinstance(bins, NumberBins):
        return onehot(bins)
    n_cuts, n_special = len(bins.cuts), len(bins.special_values)
    start = np.array([0, *[1] * bins.n_ordered, *(1 + n_cuts + k for k in range(n_special))])
    length = np.array([1, *range(bins.n_ordered), *[1] * n_special])
    return Runs(1 + n_cuts + n_special, start, length)


def thermometer_names(bins: Bins) -> list[str]:
    """Return the names of the features of `thermometer`."""
    if not isinstance(bins, NumberBins):
        return onehot_names(bins)
    special = bins.labels[1 + bins.n_ordered :]
    return [
        f"{bins.name}: {MISSING}",
        *(f"{bins.name} > {cut}" for cut in bins.cut_labels),
        *(f"{bins.name}: {label}" for label in special),
    ]


def onehot(bins: Bins) -> Runs:
    """Return an indicator for each cell."""
    return _indicators(bins.n_cells)


def onehot_names(bins: Bins) -> list[str]:
    """Return the names of the features of `onehot`."""
    return [f"{bins.name}: {label}" for label in bins.labels]


def cross(first: Bins, second: Bins) -> Runs:
    """Return an indicator for each pair of cells of two columns."""
    return _indicators(first.n_cells * second.n_cells)


def cross_names(first: Bins, second: Bins) -> list[str]:
    """Return the names of the features of `cross`."""
    name = f"{first.name} x {second.name}"
    return [f"{name}: {a}, {b}" for a in first.labels for b in second.labels]


def _indicators(n_cells: int) -> Runs:
    return Runs(n_cells, np.arange(n_cells), np.ones(n_cells, dtype=np.int64))


def cross_cells(bins: Sequence[Bins], cells: AnyArray, crosses: Sequence[tuple[int, int]]) -> Any:
    """Return the number of the pair of cells of each row, one column for each cross."""
    pairs = [cells[:, i] * bins[j].n_cells + cells[:, j] for i, j in crosses]
    return np.column_stack(pairs) if pairs else np.empty((len(cells), 0), dtype=cells.dtype)


def sparse_features(runs: Sequence[Runs], cells: AnyArray) -> Any:
    """Return features as a CSR array."""
    offsets = np.cumsum([0, *(run.n_features for run in runs)])
    start = np.empty(cells.shape, dtype=np.int64)
    length = np.empty(cells.shape, dtype=np.int64)
    for k, run in enumerate(runs):
        start[:, k] = offsets[k] + run.start[cells[:, k]]
        length[:, k] = run.length[cells[:, k]]
    pointers = np.concatenate([[0], np.cumsum(length.sum(axis=1))])
    flat = length.ravel()
    # Within a run the features are counted up from its start.
    base = start.ravel() - np.concatenate([[0], np.cumsum(flat)[:-1]]) if flat.size else flat
    indices = np.repeat(base, flat) + np.arange(pointers[-1])
    narrow = max(int(pointers[-1]), int(offsets[-1])) < np.iinfo(np.int32).max
    dtype = np.int32 if narrow else np.int64
    parts = np.ones(len(indices)), indices.astype(dtype), pointers.astype(dtype)
    return sparse.csr_array(parts, shape=(len(cells), int(offsets[-1])))


def dense_features(runs: Sequence[Runs], cells: AnyArray) -> FloatArray:
    """Return features as an array, with the arguments of `sparse_features`."""
    blocks = [np.empty((len(cells), 0))]
    for k, run in enumerate(runs):
        feature = np.arange(run.n_features)
        last = run.start + run.length
        rows = (feature >= run.start[:, None]) & (feature < last[:, None])
        blocks.append(rows.astype(np.float64)[cells[:, k]])
    return np.hstack(blocks)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return names of features, numbered where two columns would give the same.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    counts, taken, distinct = Counter(names), set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        number, chosen = seen[name], name
        while number > 1 and counts[name] > 1:
            chosen = f"{name} ({number})"
            if chosen not in taken:
                taken.add(chosen)
                break
            number += 1
        distinct.append(chosen)
    return distinct
