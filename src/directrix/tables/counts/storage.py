"""Moments of features from counts, the file of counts, and what contradicts rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions.files import BinnerFileError, FileContentError
from directrix.files.layout import FLAG, Array, Layout, classes_of, fold_sizes, require
from directrix.moments import ClassMoments
from directrix.rows.labels import are_squares
from directrix.rows.sums import exact_product, exact_sum
from directrix.tables.binner import Binner, Runs
from directrix.tables.counts.pair_counts import MOST_WEIGHT, ROUNDING, PairCounts

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


# ── From counts of cells to moments of features, by one formula ───────────────────────────────────
# Features are sums of cell indicators, x = T z with a matrix T of zeros and ones. With the weight
# W, the cell counts c and the pair counts P of a class
#
#     s = T c,   μ = s / W,   S = (W T P Tᵀ − s sᵀ) / W
#
# where numerators are exact for whole numbers, in two float64. So equal counts have equal moments,
# to the last bit, however they were added up.

#: Rows of a scatter that are made at a time: several copies of them are needed.
_ROWS = 256


class CellMoments(NamedTuple):
    """Weight, mean and second moment of the cell indicators of one class.

    ``weight`` is the total weight W. ``mean``, of shape (cells,), is the share of the weight in
    each cell, c / W. ``second``, of shape (cells, cells), is the share of the weight in each pair
    of cells, P / W; it is symmetric and not centred.
    """

    weight: float
    mean: FloatArray
    second: Any


def symmetric(pairs: Any) -> Any:
    """Return the symmetric matrix of an upper triangle, both sparse."""
    return sparse.csr_array(pairs + sparse.triu(pairs, 1).T)


def cell_moments(counts: PairCounts) -> CellMoments:
    """Return the moments of cell indicators; all zero if there are no rows."""
    weight = float(counts.weight)
    second = symmetric(counts.pairs).astype(np.float64)
    second.data /= weight or 1.0
    return CellMoments(weight, counts.cells() / (weight or 1.0), second)


def feature_matrix(runs: Sequence[Runs]) -> Any:
    """Return the matrix T from cells to features, as a sparse array of int64."""
    blocks = []
    for run in runs:
        feature = np.arange(run.n_features)[:, None]
        blocks.append((feature >= run.start) & (feature < run.start + run.length))
    return sparse.csr_array(sparse.block_diag(blocks, format="csr", dtype=np.int64))


def feature_moments(counts: PairCounts, features: Any) -> ClassMoments:
    """Return the moments of features.

    ``features`` is the matrix of `feature_matrix`.
    """
    d = features.shape[0]
    if not counts.count:
        return ClassMoments.empty(d)
    weight = np.asarray(counts.weight, dtype=np.float64)
    sums = (features @ counts.cells()).astype(np.float64)
    if not counts.exact:  # a feature that is one in every row has all the weight
        sums[weight - sums <= ROUNDING * weight] = weight
    half = features @ symmetric(counts.pairs).toarray()
    products = np.ascontiguousarray((features @ half.T).astype(np.float64))
    scatter = np.empty((d, d))
    for start in range(0, d, _ROWS):
        rows = slice(start, start + _ROWS)
        whole, whole_rest = exact_product(weight, products[rows])
        square, square_rest = exact_product(sums[rows, None], sums[None])
        scatter[rows] = ((whole - square) + (whole_rest - square_rest)) / weight
    if not counts.exact:
        _repair(scatter, sums == weight)
    mean = sums / weight
    product, rest = exact_product(mean, weight)
    mean, tail = exact_sum(mean, ((sums - product) - rest) / weight)
    return ClassMoments(counts.count, float(weight), float(counts.weight_sq), mean, scatter, tail)


def _repair(scatter: FloatArray, constant: AnyArray) -> None:
    """Remove the rounding of sums of real weights where it would break |S_ij|² ≤ S_ii S_jj.

    The scatter is changed in place; ``constant`` features are one in every row.
    """
    diagonal = np.where(constant, 0.0, np.maximum(scatter.diagonal(), 0.0))
    deviation = np.sqrt(diagonal)
    bound = np.multiply.outer(deviation, deviation)
    np.clip((scatter + scatter.T) / 2, -bound, bound, out=scatter)
    np.fill_diagonal(scatter, diagonal)


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


def write(
    path: str | PathLike[str],
    parts: Sequence[Sequence[PairCounts]],
    classes: AnyArray,
    binner: Binner,
    *,
    folded: bool,
    exact: bool,
) -> None:
    """Write counts by fold and class to a file, atomically, if a reader would accept them."""
    groups = list(chain(*parts))
    shape = len(parts), len(classes)
    number = np.int64 if exact else np.float64
    squares = [divmod(g.weight_sq, 1 << _LIMB) if exact else (g.weight_sq, 0) for g in groups]
    n_pointers = 1 + sum(column.n_cells for column in binner.bins_) if groups else 0
    arrays: dict[str, AnyArray] = {
        "binner": np.frombuffer(binner.to_json().encode(), dtype=np.uint8),
        "count": np.array([g.count for g in groups], dtype=np.int64).reshape(shape),
        "weight": np.array([g.weight for g in groups], dtype=number).reshape(shape),
        "weight_sq": np.array(squares, dtype=number).reshape(*shape, 2),
        "pointers": _joined([g.pairs.indptr for g in groups], np.int64).reshape(*shape, n_pointers),
        "indices": _joined([g.pairs.indices for g in groups], np.int32),
        "data": _joined([g.pairs.data for g in groups], number),
    }
    LAYOUT.write(path, classes, {"folded": folded, "exact": exact}, arrays)


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
