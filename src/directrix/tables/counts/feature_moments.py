r"""From counts of cells to moments of features, by one formula.

Features are sums of cell indicators, :math:`x = T z` with a matrix T of zeros and ones. With the
weight W, the cell counts c and the pair counts P of a class

.. math:: s = T c, \qquad \mu = s / W, \qquad S = \frac{W\, T P T^\top - s s^\top}{W}

where numerators are exact for whole numbers, in two float64. So equal counts have equal moments, to
the last bit, however they were added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.moments import ClassMoments, Moments
from directrix.rows.sums import exact_product, exact_sum
from directrix.tables.binner import Binner
from directrix.tables.bins import Bins, NumberBins
from directrix.tables.counts.pair_counts import ROUNDING, PairCounts
from directrix.tables.counts.storage import contradiction
from directrix.tables.encoding import Runs

#: Rows of a scatter that are made at a time: several copies of them are needed.
_ROWS = 256


class CellMoments(NamedTuple):
    """Weight, mean and second moment of the cell indicators of one class.

    Parameters
    ----------
    weight : float
        Total weight W.
    mean : array of shape (cells,)
        Share of the weight in each cell, c / W.
    second : sparse CSR array of shape (cells, cells)
        Share of the weight in each pair of cells, P / W; symmetric, and not centred.
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


# ── From the moments of binned features back to counts ────────────────────────────────────────────

#: Distance from a whole number up to which a recovered count is taken for it.
_NEAR = 1e-3

#: Greatest weight of a class: the rounding of a scatter, about 1e-14 of it, is then below a count.
_MOST_WEIGHT = 1 << 36


def parts_of_moments(moments: Moments, binner: Binner) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the counts of each fold and class of the moments of a binner's features."""
    if binner.encoding == "ordinal":
        msg = "moments of cell numbers do not tell counts; summarise features of another encoding"
        raise ValueError(msg)
    names = tuple(binner.get_feature_names_out().tolist())
    if moments.n_features != len(names):
        msg = f"the moments are of {moments.n_features} features, and the binner has {len(names)}"
        raise ValueError(msg)
    if moments.feature_names is not None and moments.feature_names != names:
        pairs = zip(moments.feature_names, names, strict=True)
        found, expected = next((a, b) for a, b in pairs if a != b)
        msg = f"the moments have a feature {found!r} where the binner has {expected!r}"
        raise ValueError(msg)
    thermometer = binner.encoding == "thermometer"
    matrix = cell_matrix(binner.bins_, thermometer=thermometer)
    starts = np.cumsum([0, *(bins.n_cells for bins in binner.bins_)])
    return tuple(
        tuple(_recovered(group, matrix, starts) for group in part) for part in moments.parts
    )


def cell_matrix(bins: Sequence[Bins], *, thermometer: bool) -> Any:
    """Return the matrix from features, with a constant last, to cells; sparse, of int64.

    Features are those of a thermometer, or one-hot.
    """
    blocks, lowest, start = [], [], 0
    for column in bins:
        is_ordered = thermometer and isinstance(column, NumberBins)
        block = np.eye(column.n_cells, dtype=np.int64)
        if is_ordered:
            # The feature of cell k + 1 is "above cut k"; cell 1 is what is left.
            last = column.n_ordered
            block[range(2, last), range(3, last + 1)] = -1
            block[1] = -1
            block[1, 3 : last + 1] = 0  # all above the first cut are in "above cut 1"
            block = np.delete(block, 1, axis=1)
        lowest += [start + 1] if is_ordered else []
        start += column.n_cells
        blocks.append(block)
    constant = np.zeros((start, 1), dtype=np.int64)
    constant[lowest] = 1
    main = sparse.block_diag(blocks, format="csr", dtype=np.int64)
    return sparse.csr_array(sparse.hstack([main, constant], format="csr"))


def _recovered(group: ClassMoments, matrix: Any, starts: IntArray) -> PairCounts:
    n_cells = matrix.shape[0]
    if not group.count:
        return PairCounts.empty(n_cells)
    group = group.with_matrix()
    if group.weight > _MOST_WEIGHT:
        msg = (
            f"a class has the weight {group.weight:g}, and the digits of moments tell counts up to "
            f"{_MOST_WEIGHT}: count the rows themselves, or parts of them"
        )
        raise ValueError(msg)
    used = matrix.shape[1] - 1  # features of crosses come after those of columns
    mean = np.append(group.mean[:used] + group.mean_tail[:used], 1.0)
    second = group.weight * np.multiply.outer(mean, mean)
    second[:-1, :-1] += np.asarray(group.scatter)[:used, :used]
    pairs = matrix @ (matrix @ second).T
    whole = np.rint(pairs)
    gap = float(np.abs(pairs - whole).max())
    off = max(gap, *(abs(value - round(value)) for value in (group.weight, group.weight_sq)))
    if off > _NEAR:
        msg = (
            f"the moments are not those of whole numbers of rows: a count is {off:.3g} away from "
            "one. Weights must be whole numbers, and features those of this binner"
        )
        raise ValueError(msg)
    counts = PairCounts(
        group.count,
        round(group.weight),
        round(group.weight_sq),
        sparse.csr_array(np.triu(whole).astype(np.int64)),
    )
    problem = contradiction(counts, starts)
    if problem:
        msg = f"the moments are not those of the features of this binner: {problem}"
        raise ValueError(msg)
    return counts
