r"""From the moments of binned features back to counts.

With the weight W, the mean μ and the scatter S of features that are sums of cell indicators,
:math:`S + W \mu \mu^\top` are pair counts of features, and W itself is the count of a constant. The
cells are differences of features and the constant, so that counts are a linear map of both, and
whole numbers up to the rounding of the moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.tables.bins import NumberBins
from directrix.tables.counts.consistency import contradiction
from directrix.tables.counts.pair_counts import PairCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import IntArray
    from directrix.moments import ClassMoments, Moments
    from directrix.tables.binner import Binner
    from directrix.tables.bins import Bins

#: Distance from a whole number up to which a recovered count is taken for it.
_NEAR = 1e-3

#: Greatest weight of a class: the rounding of a scatter, about 1e-14 of it, is then below a count.
_MOST_WEIGHT = 1 << 36


def parts_of_moments(moments: Moments, binner: Binner) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the counts of each fold and class of the moments of a binner's features.

    Parameters
    ----------
    moments : Moments
    binner : Binner
        Fitted; its encoding is that of the features.
    """
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

    Parameters
    ----------
    bins : sequence of NumberBins and LevelBins
    thermometer : bool
        Whether features are those of a thermometer; otherwise one-hot.
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
