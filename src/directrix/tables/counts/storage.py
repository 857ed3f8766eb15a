"""Files of counts, and the conditions that the counts of any rows satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions.files import BinnerFileError, FileContentError
from directrix.files.layout import FLAG, Array, Layout, classes_of, fold_sizes, require
from directrix.rows.labels import are_squares
from directrix.tables.binner import Binner
from directrix.tables.counts.pair_counts import MOST_WEIGHT, ROUNDING, PairCounts

if TYPE_CHECKING:
    from directrix.tables.counts.bin_counts import BinCounts

# ── Conditions that the counts of any rows satisfy ────────────────────────────────────────────────

#: Relative amount by which rounding may break the inequality of weights and their squares.
_WEIGHT_ROUNDING = 1e-9

#: Sums that are compared at a time.
_SUMS = 1 << 20


def contradiction(counts: PairCounts, starts: IntArray) -> str | None:
    """Return what shows that counts are of no rows, or None.

    The upper triangle is in canonical format: sorted, without zeros. ``starts`` is the first cell
    of each column, and the number of all cells.
    """
    if not counts.count:
        empty = not (counts.weight or counts.weight_sq or counts.pairs.nnz)
        return None if empty else "a class without rows has counts"
    if counts.pairs.data.min(initial=1) <= 0 or counts.count < 0 or counts.weight <= 0:
        return "a count is not positive"
    whole = not counts.exact or counts.count <= counts.weight <= MOST_WEIGHT
    if not whole or not are_squares(
        counts.weight, counts.weight_sq, counts.count, _WEIGHT_ROUNDING
    ):
        return "its counts and weights contradict each other"
    return _contradiction_of_cells(counts, starts)


def _contradiction_of_cells(counts: PairCounts, starts: IntArray) -> str | None:
    pairs, cells = counts.pairs, counts.cells()
    column = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    row = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
    if np.any((column[row] == column[pairs.indices]) & (row != pairs.indices)):
        return "a row would be in two cells of a column"
    slack = 0.0 if counts.exact else 2 * ROUNDING * float(counts.weight)
    totals = np.add.reduceat(cells, starts[:-1])
    if np.abs(totals - counts.weight).max() > slack:
        return "the cells of a column do not add up to the weight of its class"
    below = sparse.csr_array(sparse.triu(pairs, 1).T)
    size = max(_SUMS // (len(starts) - 1), 1)
    for first in range(0, len(cells), size):
        # In each cell the counts by the cells of another column add up to that of the cell.
        rows = slice(first, min(first + size, len(cells)))
        sums = sum(_by_column(part, rows, column) for part in (pairs, below))
        if np.abs(sums - cells[rows, None]).max() > slack:
            return "the pairs of a cell do not add up to its count"
    return None


def _by_column(pairs: Any, rows: slice, column: IntArray) -> FloatArray:
    """Return sums of some rows of a matrix by the column that cells belong to."""
    start, stop = pairs.indptr[[rows.start, rows.stop]]
    row = np.repeat(
        np.arange(rows.stop - rows.start), np.diff(pairs.indptr[rows.start : rows.stop + 1])
    )
    n_columns = int(column[-1]) + 1
    number = row * n_columns + column[pairs.indices[start:stop]]
    size = (rows.stop - rows.start) * n_columns
    # Sums of float64 are exact for whole numbers of at most 2⁵³.
    sums = np.bincount(number, pairs.data[start:stop], size).astype(np.float64, copy=False)
    return sums.reshape(-1, n_columns)


# ── The file of counts: safetensors with a JSON header (``docs/bin-counts.md``) ───────────────────

#: Sums of squared whole numbers are stored as multiples of 2⁵³ and the rest.
_LIMB = 53


def _sizes(header: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    number = "int64" if header["exact"] else "float64"
    return {**fold_sizes(header, arrays), "limbs": 2, "number": number}


def _fields(header: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """Return the constructor arguments of `BinCounts`, after checking all of them."""
    try:
        binner = Binner.from_json(arrays["binner"].tobytes().decode())
    except (UnicodeDecodeError, BinnerFileError) as error:
        msg = f"its binner cannot be read: {error}"
        raise FileContentError(msg) from None
    require(not binner.crosses_, "its binner has crosses")
    return {
        "bins": binner.bins_,
        "classes": classes_of(header),
        "parts": _parts(arrays, np.cumsum([0, *(column.n_cells for column in binner.bins_)])),
        "folded": header["folded"],
        "named": hasattr(binner, "feature_names_in_"),
    }


_BY_CLASS = ("folds", "classes")
LAYOUT = Layout(
    format="directrix.bin_counts",
    noun="summary",
    entries={"folded": FLAG, "exact": FLAG},
    arrays={
        "binner": Array("uint8", ("letters",)),
        "count": Array("int64", _BY_CLASS),
        "weight": Array("number", _BY_CLASS),
        "weight_sq": Array("number", (*_BY_CLASS, "limbs")),
        "pointers": Array("int64", (*_BY_CLASS, "pointers")),
        "indices": Array("int32", ("pairs",)),
        "data": Array("number", ("pairs",)),
    },
    sizes=_sizes,
    laws=_fields,
)


def write(counts: BinCounts, path: str | PathLike[str]) -> None:
    """Write counts to a file, atomically, if a reader would accept them."""
    groups = list(chain(*counts.parts))
    shape = len(counts.parts), len(counts.classes)
    number = np.int64 if counts.exact else np.float64
    squares = [
        divmod(g.weight_sq, 1 << _LIMB) if counts.exact else (g.weight_sq, 0) for g in groups
    ]
    text = counts.binner.to_json().encode()
    n_pointers = counts.n_cells + 1 if groups else 0
    arrays: dict[str, AnyArray] = {
        "binner": np.frombuffer(text, dtype=np.uint8),
        "count": np.array([g.count for g in groups], dtype=np.int64).reshape(shape),
        "weight": np.array([g.weight for g in groups], dtype=number).reshape(shape),
        "weight_sq": np.array(squares, dtype=number).reshape(*shape, 2),
        "pointers": _joined([g.pairs.indptr for g in groups], np.int64).reshape(*shape, n_pointers),
        "indices": _joined([g.pairs.indices for g in groups], np.int32),
        "data": _joined([g.pairs.data for g in groups], number),
    }
    LAYOUT.write(path, counts.classes, {"folded": counts.folded, "exact": counts.exact}, arrays)


def _parts(arrays: dict[str, AnyArray], starts: IntArray) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the counts of each fold and class, after checking the sparse matrices."""
    (n_parts, n_classes), n_cells = arrays["count"].shape, int(starts[-1])
    pointers, n_entries = arrays["pointers"], len(arrays["data"])
    require(n_cells < 1 << 31, "its binner has too many cells")
    increasing = not pointers[..., :1].any() and (np.diff(pointers, axis=-1) >= 0).all()
    complete = pointers.shape[-1] == (n_cells + 1 if n_classes else 0)
    ends = np.concatenate([[0], np.cumsum(pointers[..., -1:].ravel(), dtype=object)])
    fits = complete and increasing and ends[-1] == n_entries
    require(fits, "its pointers are not those of a sparse matrix")
    groups = []
    for k, index in enumerate(np.ndindex(n_parts, n_classes)):
        entries = slice(int(ends[k]), int(ends[k + 1]))
        groups.append(_group(index, entries, arrays, n_cells))
        problem = contradiction(groups[-1], starts)
        require(problem is None, str(problem))
    return tuple(tuple(groups[k * n_classes : (k + 1) * n_classes]) for k in range(n_parts))


def _group(
    index: tuple[int, ...], entries: slice, arrays: dict[str, AnyArray], n_cells: int
) -> PairCounts:
    data, indices = arrays["data"][entries].copy(), arrays["indices"][entries].copy()
    pointers = arrays["pointers"][index]
    row = np.repeat(np.arange(n_cells), np.diff(pointers))
    upper = (indices >= row).all() and indices.max(initial=0) < n_cells
    sorted_rows = ((np.diff(indices) > 0) | (np.diff(row) > 0)).all()
    require(upper and sorted_rows, "its pairs are not an upper triangle in order")
    high, low = arrays["weight_sq"][index].tolist()
    if isinstance(high, int):
        require(0 <= low < 1 << _LIMB and 0 <= high <= MOST_WEIGHT, "a sum of squares is not one")
        high = (high << _LIMB) + low
    else:
        require(low == 0, "a sum of squares is not one")
    pairs = sparse.csr_array((data, indices, pointers), shape=(n_cells, n_cells))
    count, weight = (arrays[name][index].item() for name in ("count", "weight"))
    return PairCounts(count, weight, high, pairs)


def _joined(arrays: Sequence[AnyArray], dtype: Any) -> AnyArray:
    return np.concatenate([np.empty(0, dtype=dtype), *arrays]).astype(dtype)
