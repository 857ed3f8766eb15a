r"""Disclosure control of counts: what a site publishes instead of them, and what a fit makes of it.

Of each class, two arrays are published and no table of pairs. *Cells*: neighbouring cells are
merged along a tree that depends on the agreed bins alone, until every group has at least k rows,
and the rows of a group are rounded down to a multiple of k. *Cross sums*: with public codes f of
the cells of a column, whole numbers from 0 to Q, the sums :math:`\sum_i f(a_i) g(b_i)` over the
rows of the class are rounded down to multiples of :math:`k Q^2`, the most that k rows can add.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.tables.bins import Bins, LevelBins
from directrix.tables.counts.pair_counts import PairCounts

#: Largest code of a cell.
CODE_RANGE = 12
#: Levels of a column of texts, and special values of a number, that have a code each.
_CODED_LEVELS = 4
#: Rounds in which the rows of groups are spread over their cells by the sum of all sites.
_SPREADING_ROUNDS = 12
#: Least eigenvalue of a correlation matrix of codes.
_LEAST_EIGENVALUE = 0.1

# ── Public codes of cells ─────────────────────────────────────────────────────────────────────────


class PublicCodes(NamedTuple):
    """Codes of the cells of all columns, which follow from the agreed bins.

    ``matrix``, of shape (cells, codes), has whole numbers from 0 to `CODE_RANGE`; a code is zero in
    all cells of other columns. ``starts`` is the first cell of each column and the number of all;
    ``code_starts`` the first code of each column and the number of all. ``weights`` is the public
    weight of each cell, positive, which sums to one in each column. ``is_square`` says which codes
    are squares of ranks.
    """

    matrix: IntArray
    starts: IntArray
    code_starts: IntArray
    weights: FloatArray
    is_square: AnyArray

    @classmethod
    def of(cls, bins: Sequence[Bins]) -> PublicCodes:
        """Return the codes of the columns of a binner."""
        starts = np.cumsum([0, *(column.n_cells for column in bins)])
        weights = [_public_weights(column) for column in bins]
        blocks = [_codes(column, weight) for column, weight in zip(bins, weights, strict=True)]
        code_starts = np.cumsum([0, *(block.shape[1] for block in blocks)])
        matrix = np.zeros((int(starts[-1]), int(code_starts[-1])), dtype=np.int64)
        for k, block in enumerate(blocks):
            matrix[starts[k] : starts[k + 1], code_starts[k] : code_starts[k + 1]] = block
        is_square = np.zeros(matrix.shape[1], dtype=bool)
        is_square[code_starts[:-1][[column.n_ordered > 2 for column in bins]] + 1] = True
        return cls(matrix, starts, code_starts, np.concatenate(weights), is_square)

    @property
    def of_two_columns(self) -> IntArray:
        """One for each pair of codes of two different columns, the first before the second."""
        column = np.repeat(np.arange(len(self.code_starts) - 1), np.diff(self.code_starts))
        return (column[:, None] < column[None, :]).astype(np.int64)


def _public_weights(bins: Bins) -> FloatArray:
    """Return a positive weight for each cell, which cells without agreed rows have too."""
    weights = np.array(bins.weights or np.zeros(bins.n_cells), dtype=np.float64)
    smoothed = weights + max(float(weights.sum()), 1.0) * 1e-3 / bins.n_cells
    shares: FloatArray = smoothed / smoothed.sum()
    return shares


def _codes(bins: Bins, weights: FloatArray) -> IntArray:
    """Return the codes of a column: rank and its square, and indicators of cells without order."""
    codes: list[IntArray] = []
    ordered = np.arange(1, 1 + bins.n_ordered)
    if bins.n_ordered > 1:
        share = weights[ordered] / weights[ordered].sum()
        rank = np.cumsum(share) - share / 2.0
        rank = (rank - rank[0]) / (rank[-1] - rank[0])
        for code in [rank, (2.0 * rank - 1.0) ** 2][: bins.n_ordered - 1]:
            column = np.zeros(bins.n_cells, dtype=np.int64)
            column[ordered] = np.rint(CODE_RANGE * code)
            codes.append(column)
    single = np.setdiff1d(np.arange(bins.n_cells), ordered)
    frequent = single[np.argsort(-weights[single], kind="stable")]
    # Indicators of all cells would add up to one: the most frequent one has none.
    frequent = frequent if bins.n_ordered else frequent[1:]
    codes += [
        np.where(np.arange(bins.n_cells) == cell, CODE_RANGE, 0)
        for cell in frequent[:_CODED_LEVELS]
        if bins.weights and bins.weights[cell] > 0
    ]
    return np.array(codes, dtype=np.int64).reshape(len(codes), bins.n_cells).T


# ── What is published ─────────────────────────────────────────────────────────────────────────────


class Queries(NamedTuple):
    """Cells and cross sums of the rows of each class, without any control.

    ``cells``, of shape (classes, cells), counts rows; ``cross``, of shape (classes, codes, codes),
    has sums of products of the codes of two different columns, the first before the second, and
    zeros elsewhere. A row adds one to a cell of each column, and at most ``CODE_RANGE ** 2`` to a
    cross sum.
    """

    cells: IntArray
    cross: IntArray

    @classmethod
    def of(cls, groups: Sequence[PairCounts], codes: PublicCodes) -> Queries:
        """Return the cells and cross sums of the counts of each class."""
        matrix = sparse.csr_array(codes.matrix)
        upper = codes.of_two_columns
        cells = np.array([group.cells() for group in groups], dtype=np.int64)
        cross = [(matrix.T @ (group.pairs @ matrix)).toarray() * upper for group in groups]
        shapes = (len(groups), len(codes.matrix)), (len(groups), *upper.shape)
        return cls(cells.reshape(shapes[0]), np.array(cross, dtype=np.int64).reshape(shapes[1]))


class Published(NamedTuple):
    """Cells and cross sums under control; all numbers are multiples of `min_cell`.

    ``groups`` numbers the groups of merged cells of each class; the rows of a group are at its
    first cell in ``cells``, and the other cells are zero.
    """

    cells: IntArray
    groups: IntArray
    cross: IntArray


def identity_groups(n_classes: int, n_cells: int) -> IntArray:
    """Return groups of one cell each."""
    return np.tile(np.arange(n_cells, dtype=np.int32), (n_classes, 1))


def publish(
    queries: Queries, bins: Sequence[Bins], codes: PublicCodes, min_cell: int, site: str
) -> Published:
    """Merge cells into groups of at least ``min_cell`` rows, and round all numbers down."""
    cells, groups = np.zeros_like(queries.cells), identity_groups(*queries.cells.shape)
    base = rounding_base(min_cell)
    for k, column in enumerate(bins):
        part = slice(int(codes.starts[k]), int(codes.starts[k + 1]))
        order, share = _order(column, site)
        for label, rows in enumerate(queries.cells[:, part]):
            for start, stop in _merged(codes.weights[part][order], rows[order], min_cell, share):
                members = np.sort(order[start:stop]) + part.start
                total = int(rows[order[start:stop]].sum())
                groups[label, members] = members[0]
                cells[label, members[0]] = total // base * base
    unit = min_cell * CODE_RANGE**2
    return Published(cells, groups, queries.cross // unit * unit)


def rounding_base(min_cell: int) -> int:
    """Return the number whose multiples rows of groups are rounded down to."""
    return (min_cell + 1) // 2


def _order(bins: Bins, site: str) -> tuple[IntArray, float]:
    """Return the order in which cells are neighbours, and the share of a range that is split off.

    Both depend on the name of the site and the column, so that several sites merge other cells.
    """
    digest = sha256(f"{site}\0{bins.name}".encode()).digest()
    share = 0.35 + 0.3 * digest[0] / 255.0
    if not isinstance(bins, LevelBins):
        return np.arange(bins.n_cells), share
    keys = [sha256(digest + str(cell).encode()).digest() for cell in range(bins.n_cells)]
    return np.array(sorted(range(bins.n_cells), key=keys.__getitem__)), share


class _Group(NamedTuple):
    """A range of cells, and the rows with which a small range in it can have any number."""

    start: int
    stop: int
    needed: int


def _merged(weights: FloatArray, rows: IntArray, least: int, part: float) -> list[tuple[int, int]]:
    """Return groups of neighbouring cells with at least so many rows, as ranges.

    A range of fewer than twice the least is a group, whatever its cells. A larger one is divided
    where public weights are halved, if both halves have the least; if one has not, it stays with
    the neighbouring group of the other half. So what is divided and what not shows which halves
    are below the least, and nothing else: a half below it may have any number of rows from zero.
    Therefore the group that it joins must have that many rows more than the least.
    """

    def divided(start: int, stop: int) -> list[_Group]:
        if stop - start < 2 or total[stop] - total[start] < 2 * least:
            return [_Group(start, stop, least)]
        half = (1.0 - part) * share[start] + part * share[stop]
        middle = int(np.clip(np.searchsorted(share, half), start + 1, stop - 1))
        if middle - 1 > start and half - share[middle - 1] < share[middle] - half:
            middle -= 1
        if total[middle] - total[start] < least:
            return joined(divided(middle, stop), start, 1)
        if total[stop] - total[middle] < least:
            return joined(divided(start, middle)[::-1], stop, -1)[::-1]
        return [*divided(start, middle), *divided(middle, stop)]

    def joined(groups: list[_Group], end: int, step: int) -> list[_Group]:
        """Add a range up to ``end`` to the first group, and further groups if these are few."""
        first, *others = groups
        needed = first.needed + least - 1
        while True:
            start, stop = (end, first.stop) if step > 0 else (first.start, end)
            if not others or total[stop] - total[start] >= needed:
                return [_Group(start, stop, needed), *others]
            first, *others = others
            needed += first.needed

    share = np.concatenate([[0.0], np.cumsum(weights)])
    total = np.concatenate([[0], np.cumsum(rows)])
    return [(group.start, group.stop) for group in divided(0, len(rows))]


# ── Estimates from what several sites published ───────────────────────────────────────────────────


class PublishedClass(NamedTuple):
    """What one site published of one class, as numbers of rows that are expected.

    ``total`` is the number of rows, ``cells`` the rows of each group at its first cell, ``cross``
    the cross sums, and ``cross_variance`` the variance of the error of each of them. They were
    rounded down to multiples of ``step``; zero if they were not rounded.
    """

    total: float
    cells: FloatArray
    groups: IntArray
    cross: FloatArray
    cross_variance: float | FloatArray
    step: float = 0.0


def estimate_pairs(
    by_class: Sequence[Sequence[PublishedClass]], codes: PublicCodes
) -> list[PairCounts]:
    """Return expected pair counts of each class, from what sites published of it."""
    shares = [_cell_shares(parts, codes) for parts in by_class]
    totals = np.array([sum(part.total for part in parts) for parts in by_class])
    correlations = [
        _correlations(parts, total, share, codes)
        for parts, total, share in zip(by_class, totals, shares, strict=True)
    ]
    weights = totals / max(float(totals.sum()), 1.0)
    pooled = sum(w * each.values for w, each in zip(weights, correlations, strict=True))
    variance = sum(w**2 * each.variance for w, each in zip(weights, correlations, strict=True))
    pooled = _shrunk(pooled, variance, codes.code_starts)
    groups = []
    for total, share, each in zip(totals, shares, correlations, strict=True):
        own = _shrunk(each.values - pooled, each.variance, codes.code_starts)
        mixed = _positive(pooled + own, codes.code_starts)
        groups.append(_pairs(float(total), share, each.loadings, mixed, codes))
    return groups


def _shrunk(values: FloatArray, variance: FloatArray, starts: IntArray) -> FloatArray:
    """Shrink correlations of each pair of columns by the known variance of their errors.

    The factor of a pair is max(0, 1 - expected / observed sum of squares), after James and Stein.
    """
    if not len(values):
        return values
    begin = starts[:-1][np.diff(starts) > 0]
    expected, observed = (
        np.add.reduceat(np.add.reduceat(each, begin, axis=0), begin, axis=1)
        for each in (variance, values**2)
    )
    factor = np.maximum(0.0, 1.0 - expected / np.where(observed > 0, observed, 1.0))
    sizes = np.diff(np.append(begin, len(values)))
    shrunk: FloatArray = values * np.repeat(np.repeat(factor, sizes, axis=0), sizes, axis=1)
    return shrunk


def _cell_shares(parts: Sequence[PublishedClass], codes: PublicCodes) -> FloatArray:
    """Return the share of each cell of its column, by expectation maximisation.

    It starts from public weights. Each round spreads the rows of a group over its cells by the
    shares of the round before, which are those of all sites: a site with finer groups helps others.
    """
    column = np.repeat(np.arange(len(codes.starts) - 1), np.diff(codes.starts))
    shares, n_cells = codes.weights, len(codes.weights)
    for _ in range(_SPREADING_ROUNDS):
        rows = np.zeros(n_cells)
        for part in parts:
            of_group = np.bincount(part.groups, shares, n_cells)[part.groups]
            rows += part.cells[part.groups] * shares / np.where(of_group > 0, of_group, 1.0)
        sums = np.bincount(column, rows)[column]
        shares = np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), codes.weights)
    return shares


class _Correlations(NamedTuple):
    """Correlations of codes that are uncorrelated within each column.

    ``loadings``, of shape (cells, codes), are the covariances of cell indicators with these codes;
    ``variance`` has the shape of ``values``.
    """

    values: FloatArray
    variance: FloatArray
    loadings: FloatArray


def _correlations(
    parts: Sequence[PublishedClass], total: float, share: FloatArray, codes: PublicCodes
) -> _Correlations:
    scaled = codes.matrix / CODE_RANGE
    n_codes = scaled.shape[1]
    mean = share @ scaled
    independent = np.outer(mean, mean)
    cross, noise = np.zeros((n_codes, n_codes)), np.zeros((n_codes, n_codes))
    for part in parts:
        # A sum that was rounded down to zero is hardly above what independent columns have.
        rounded = np.minimum(part.step / 2.0, CODE_RANGE**2 * part.total * independent)
        sums = part.cross + np.where(part.cross > 0, part.step / 2.0, rounded)
        cross += sums / CODE_RANGE**2
        noise += np.asarray(part.cross_variance) / CODE_RANGE**4
    covariance = (cross / max(total, 1.0) - independent) * codes.of_two_columns
    covariance = covariance + covariance.T
    whitening = np.zeros((n_codes, n_codes))
    loadings = np.zeros_like(scaled)
    for k in range(len(codes.starts) - 1):
        cells = slice(*codes.starts[k : k + 2])
        each = slice(*codes.code_starts[k : k + 2])
        centred = scaled[cells, each] - mean[each]
        weighted = share[cells, None] * centred
        values, vectors = np.linalg.eigh(centred.T @ weighted)
        kept = values > 1e-4
        inverse = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
        whitening[each, each] = vectors * inverse
        loadings[cells, each] = weighted @ whitening[each, each]
    noise *= codes.of_two_columns
    variance = (whitening**2).T @ (noise + noise.T) @ whitening**2 / max(total, 1.0) ** 2
    return _Correlations(whitening.T @ covariance @ whitening, variance, loadings)


def _positive(correlations: FloatArray, starts: IntArray) -> FloatArray:
    """Return the nearest matrix of correlations, with an identity for each column."""
    matrix = correlations + np.eye(len(correlations))
    values, vectors = np.linalg.eigh(matrix)
    if len(values) == 0 or values[0] >= _LEAST_EIGENVALUE:
        return correlations
    matrix = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    scale = np.zeros_like(matrix)
    for start, stop in pairwise(starts.tolist()):
        each = slice(start, stop)
        own, turned = np.linalg.eigh(matrix[each, each])
        scale[each, each] = (turned / np.sqrt(own)) @ turned.T
    made: FloatArray = scale @ matrix @ scale - np.eye(len(matrix))
    return made


def _pairs(
    total: float,
    share: FloatArray,
    loadings: FloatArray,
    correlations: FloatArray,
    codes: PublicCodes,
) -> PairCounts:
    """Return pair counts with these shares of cells, and these correlations of their codes."""
    table = np.outer(share, share) + loadings @ correlations @ loadings.T
    column = np.repeat(np.arange(len(codes.starts) - 1), np.diff(codes.starts))
    table *= column[:, None] < column[None, :]
    table += np.diag(share)
    pairs = sparse.csr_array(total * table)
    pairs.eliminate_zeros()
    return PairCounts(round(total), total, total, pairs)
