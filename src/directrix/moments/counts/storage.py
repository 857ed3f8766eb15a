"""Moments of features from counts, and the file of counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.files.layout import Array, Layout, classes_of, fold_sizes
from directrix.moments.class_moments import ClassMoments
from directrix.moments.counts.pair_counts import ROUNDING, PairCounts
from directrix.rows.sums import exact_product, exact_sum
from directrix.tables.binner import Binner, Runs, sparse_features

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
    by_column = [sparse_features([run], np.arange(len(run.start))[:, None]).T for run in runs]
    return sparse.csr_array(sparse.block_diag(by_column, format="csr", dtype=np.int64))


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
    """Return the constructor arguments of `BinCounts`."""
    binner = Binner.from_json(arrays["binner"].tobytes().decode())
    return {
        "bins": binner.bins_,
        "classes": classes_of(header),
        "parts": _parts(arrays, sum(column.n_cells for column in binner.bins_)),
        "folded": header["folded"],
        "named": hasattr(binner, "feature_names_in_"),
    }


_BY_CLASS = ("folds", "classes")
LAYOUT = Layout(
    format="directrix.bin_counts",
    noun="summary",
    entries=("folded", "exact"),
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


def _parts(arrays: dict[str, AnyArray], n_cells: int) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the counts of each fold and class."""
    n_parts, n_classes = arrays["count"].shape
    ends = np.concatenate([[0], np.cumsum(arrays["pointers"][..., -1:].ravel())]).tolist()
    groups = [
        _group(index, slice(ends[k], ends[k + 1]), arrays, n_cells)
        for k, index in enumerate(np.ndindex(n_parts, n_classes))
    ]
    return tuple(tuple(groups[k * n_classes : (k + 1) * n_classes]) for k in range(n_parts))


def _group(
    index: tuple[int, ...], entries: slice, arrays: dict[str, AnyArray], n_cells: int
) -> PairCounts:
    parts = arrays["data"][entries].copy(), arrays["indices"][entries].copy()
    pairs = sparse.csr_array((*parts, arrays["pointers"][index]), shape=(n_cells, n_cells))
    pairs.check_format()  # SciPy would read the memory at indices beyond the cells
    count, weight = (arrays[name][index].item() for name in ("count", "weight"))
    high, low = arrays["weight_sq"][index].tolist()
    square = (high << _LIMB) + low if isinstance(high, int) else high
    return PairCounts(count, weight, square, pairs)


def _joined(arrays: Sequence[AnyArray], dtype: Any) -> AnyArray:
    return np.concatenate([np.empty(0, dtype=dtype), *arrays]).astype(dtype)
