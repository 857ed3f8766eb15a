r"""From counts of cells to moments of features, by one formula.

Features are sums of cell indicators, :math:`x = T z` with a matrix T of zeros and ones. With the
weight W, the cell counts c and the pair counts P of a class

.. math:: s = T c, \qquad \mu = s / W, \qquad S = \frac{W\, T P T^\top - s s^\top}{W}

where numerators are exact for whole numbers, in two float64. So equal counts have equal moments, to
the last bit, however they were added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix.moments import ClassMoments
from directrix.rows.sums import exact_product, exact_sum
from directrix.tables.counts.pair_counts import ROUNDING, PairCounts

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
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
    """Return the matrix T from cells to features, as a sparse array of int64.

    Parameters
    ----------
    runs : sequence of Runs
        Features of the cells of each column.
    """
    blocks = []
    for run in runs:
        feature = np.arange(run.n_features)[:, None]
        blocks.append((feature >= run.start) & (feature < run.start + run.length))
    return sparse.csr_array(sparse.block_diag(blocks, format="csr", dtype=np.int64))


def feature_moments(counts: PairCounts, features: Any) -> ClassMoments:
    """Return the moments of features.

    Parameters
    ----------
    counts : PairCounts
    features : sparse array of shape (features, cells)
        The matrix of `feature_matrix`.
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

    Parameters
    ----------
    scatter : array of shape (d, d)
        Changed in place.
    constant : boolean array of shape (d,)
        Features that are one in every row.
    """
    diagonal = np.where(constant, 0.0, np.maximum(scatter.diagonal(), 0.0))
    deviation = np.sqrt(diagonal)
    bound = np.multiply.outer(deviation, deviation)
    np.clip((scatter + scatter.T) / 2, -bound, bound, out=scatter)
    np.fill_diagonal(scatter, diagonal)
