r"""Disclosure control of counts: what a site publishes instead of them, and what a fit makes of it.

Of each class, two arrays are published and no table of pairs. *Cells*: neighbouring cells are
merged along a tree that depends on the agreed bins alone, until every group has at least k rows,
and the rows of a group are rounded down to a multiple of k. *Cross sums*: with public codes f of
the cells of a column, whole numbers from 0 to Q, the sums :math:`\sum_i f(a_i) g(b_i)` over the
rows of the class are rounded down to multiples of :math:`k Q^2`, the most that k rows can add.
Those of two indicators, which are pair counts, leave k − 1 rows of each level to its other pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
#: Levels of a column of texts, and special values of a number, that have a code each anyway, and
#: the share of the agreed rows from which on others have one too; private releases leave these out.
_CODED_LEVELS, _CODED_SHARE = 4, 0.02
#: Rounds in which the rows of groups are spread over their cells by the sum of all sites.
_SPREADING_ROUNDS = 12
#: Expected rows of a half below the least number of rows at most, as a share of the most it has.
HIDDEN_SHARE = 2.0 / 3.0
#: A correlation is believed as far as its square exceeds its error variance so many times.
_DOUBT = 2.0
#: Least eigenvalue of a correlation matrix of codes.
_LEAST_EIGENVALUE = 0.1
#: Least variance of a code that the codes before it of the same column do not explain.
_LEAST_VARIANCE = 1e-4

# ── Public codes of cells ─────────────────────────────────────────────────────────────────────────


class PublicCodes(NamedTuple):
    """Codes of the cells of all columns, which follow from the agreed bins.

    ``matrix``, of shape (cells, codes), has whole numbers from 0 to `CODE_RANGE`; a code is zero in
    all cells of other columns. ``starts`` is the first cell of each column and the number of all;
    ``code_starts`` the first code of each column and the number of all. ``weights`` is the public
    weight of each cell, positive, which sums to one in each column. ``is_private`` says which codes
    private releases have: they leave out squares of ranks and all but a few levels, because noise
    grows with the number of codes.
    """

    matrix: IntArray
    starts: IntArray
    code_starts: IntArray
    weights: FloatArray
    is_private: AnyArray

    @classmethod
    def of(cls, bins: Sequence[Bins]) -> PublicCodes:
        """Return the codes of the columns of a binner."""
        starts = np.cumsum([0, *(column.n_cells for column in bins)])
        weights = [_public_weights(column) for column in bins]
        blocks = [_codes(column, weight) for column, weight in zip(bins, weights, strict=True)]
        code_starts = np.cumsum([0, *(len(block) for block in blocks)])
        matrix = np.zeros((int(starts[-1]), int(code_starts[-1])), dtype=np.int64)
        for k, block in enumerate(blocks):
            for number, code in enumerate(block):
                matrix[starts[k] : starts[k + 1], code_starts[k] + number] = code.values
        is_private = np.array([code.is_private for block in blocks for code in block], dtype=bool)
        return cls(matrix, starts, code_starts, np.concatenate(weights), is_private)

    @property
    def column(self) -> IntArray:
        """The column of each code."""
        return np.repeat(np.arange(len(self.code_starts) - 1), np.diff(self.code_starts))

    @property
    def of_two_columns(self) -> IntArray:
        """One for each pair of codes of two different columns, the first before the second."""
        return (self.column[:, None] < self.column[None, :]).astype(np.int64)


def _public_weights(bins: Bins) -> FloatArray:
    """Return a positive weight for each cell, which cells without agreed rows have too."""
    weights = np.array(bins.weights or np.zeros(bins.n_cells), dtype=np.float64)
    smoothed = weights + max(float(weights.sum()), 1.0) * 1e-3 / bins.n_cells
    shares: FloatArray = smoothed / smoothed.sum()
    return shares


class _Code(NamedTuple):
    """A code of the cells of one column."""

    values: IntArray
    is_private: bool


def _codes(bins: Bins, weights: FloatArray) -> list[_Code]:
    """Return the codes of a column: rank and its square, and indicators of cells without order."""
    codes: list[_Code] = []
    ordered = np.arange(1, 1 + bins.n_ordered)
    if bins.n_ordered > 1:
        share = weights[ordered] / weights[ordered].sum()
        rank = np.cumsum(share) - share / 2.0
        rank = (rank - rank[0]) / (rank[-1] - rank[0])
        for code in [rank, (2.0 * rank - 1.0) ** 2][: bins.n_ordered - 1]:
            values = np.zeros(bins.n_cells, dtype=np.int64)
            values[ordered] = np.rint(CODE_RANGE * code)
            codes.append(_Code(values, is_private=not codes))
    single = np.setdiff1d(np.arange(bins.n_cells), ordered)
    frequent = single[np.argsort(-weights[single], kind="stable")]
    # Indicators of all cells would add up to one: the most frequent one has none.
    frequent = frequent if bins.n_ordered else frequent[1:]
    for number, cell in enumerate(frequent):
        is_first = number < _CODED_LEVELS
        if bins.weights and bins.weights[cell] > 0 and (is_first or weights[cell] > _CODED_SHARE):
            values = np.where(np.arange(bins.n_cells) == cell, CODE_RANGE, 0)
            codes.append(_Code(values, is_private=is_first))
    return codes


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
    cross = queries.cross // unit * unit
    for label in range(len(cells)):
        _leave_rest(cross[label], cells[label], groups[label], codes, min_cell)
    return Published(cells, groups, cross)


def shown_levels(groups: IntArray, codes: PublicCodes) -> tuple[AnyArray, AnyArray]:
    """Return which codes are indicators of a cell, and which of these are a group by themselves."""
    indicator = ((codes.matrix > 0).sum(axis=0) == 1) & (codes.matrix.max(axis=0) == CODE_RANGE)
    cell = codes.matrix.argmax(axis=0)
    alone = np.bincount(groups, minlength=len(groups))[cell] == 1
    return indicator, indicator & alone & (groups[cell] == cell)


def _leave_rest(
    cross: IntArray, cells: IntArray, groups: IntArray, codes: PublicCodes, least: int
) -> None:
    """Lower pair counts of a level until they leave k − 1 of its rows to the other pairs, in place.

    Cross sums of two indicators are pair counts. If those of a level with one column added up to
    nearly all rows of the level, the other pairs of the level would be known to be nearly empty.
    """
    unit = least * CODE_RANGE**2
    indicator, shown = shown_levels(groups, codes)
    column, cell = codes.column, codes.matrix.argmax(axis=0)
    both = cross + cross.T
    for code in np.flatnonzero(shown):
        rest = cells[cell[code]] - least + 1
        for other in np.unique(column[indicator & (both[code] > 0)]):
            pairs = np.flatnonzero(indicator & (column == other))
            while least * (both[code, pairs] // unit).sum() > max(rest, 0):
                largest = pairs[both[code, pairs].argmax()]
                both[code, largest] -= unit
                both[largest, code] -= unit
    cross[:] = both * codes.of_two_columns


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


def _middle(total: FloatArray, start: int, stop: int, share: float) -> int:
    """Return where a range of cells is divided: nearest to a share of its public weight."""
    half = (1.0 - share) * total[start] + share * total[stop]
    middle = int(np.clip(np.searchsorted(total, half), start + 1, stop - 1))
    nearer = middle - 1 > start and half - total[middle - 1] < total[middle] - half
    return middle - 1 if nearer else middle


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
        middle = _middle(share, start, stop, part)
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


def halves_below(
    groups: IntArray, weights: FloatArray, order: IntArray, share: float
) -> Iterator[IntArray]:
    """Yield cells of a column that together have fewer rows than the least, by its groups.

    Whoever knows the rule of merging can tell these halves: see `_merged`. ``groups`` has the group
    of each cell, and ``order`` and ``share`` are those of the column at the site.
    """
    group = groups[order]
    total = np.concatenate([[0.0], np.cumsum(weights[order])])

    def walk(start: int, stop: int, *, left: bool, right: bool) -> Iterator[IntArray]:
        """Look at a range; ``left`` and ``right`` say whether it was joined with a neighbour."""
        if stop - start < 2 or (group[start:stop] == group[start]).all():
            return
        middle = _middle(total, start, stop, share)
        if group[middle - 1] != group[middle]:
            yield from walk(start, middle, left=left, right=False)
            yield from walk(middle, stop, left=False, right=right)
        elif (group[start:middle] == group[start]).all() and not left:
            yield order[start:middle]
            yield from walk(middle, stop, left=True, right=right)
        elif (group[middle:stop] == group[middle]).all() and not right:
            yield order[middle:stop]
            yield from walk(start, middle, left=left, right=True)

    yield from walk(0, len(order), left=False, right=False)


def hidden_halves(
    groups: IntArray, bins: Sequence[Bins], codes: PublicCodes, site: str
) -> IntArray:
    """Return the number of the half below the least that each cell is in; −1 if it is in none."""
    numbers, count = np.full(len(groups), -1), 0
    for k, column in enumerate(bins):
        part = slice(int(codes.starts[k]), int(codes.starts[k + 1]))
        for cells in halves_below(groups[part], codes.weights[part], *_order(column, site)):
            numbers[part.start + cells] = count
            count += 1
    return numbers


# ── Estimates from what several sites published ───────────────────────────────────────────────────


class PublishedClass(NamedTuple):
    """What one site published of one class, as numbers of rows that are expected.

    ``total`` is the number of rows, ``cells`` the rows of each group at its first cell, ``cross``
    the cross sums, and ``cross_variance`` the variance of the error of each of them. They were
    rounded down to multiples of ``step``; zero if they were not rounded. ``halves`` are those of
    `hidden_halves`, which have ``most_hidden`` rows at most; None if there is none.
    """

    total: float
    cells: FloatArray
    groups: IntArray
    cross: FloatArray
    cross_variance: float | FloatArray
    step: float = 0.0
    halves: IntArray | None = None
    most_hidden: float = 0.0


def estimate_pairs(
    by_class: Sequence[Sequence[PublishedClass]], codes: PublicCodes, *, shrunk: bool = True
) -> list[PairCounts]:
    """Return expected pair counts of each class, from what sites published of it.

    Correlations are ``shrunk`` by their errors, which is best for solving, or without bias.
    """
    shares = _cell_shares(by_class, codes)
    totals = np.array([sum(part.total for part in parts) for parts in by_class])
    correlations = [
        _correlations(parts, total, share, codes)
        for parts, total, share in zip(by_class, totals, shares, strict=True)
    ]
    weights = totals / max(float(totals.sum()), 1.0)
    pooled = sum(w * each.values for w, each in zip(weights, correlations, strict=True))
    variance = sum(w**2 * each.variance for w, each in zip(weights, correlations, strict=True))
    pooled = _shrunk(pooled, variance)
    groups = []
    for total, share, each in zip(totals, shares, correlations, strict=True):
        own = _shrunk(each.values - pooled, each.variance)
        mixed = _positive(pooled + own, codes.code_starts) if shrunk else each.values
        groups.append(_pairs(float(total), share, each.loadings, mixed, codes))
    return groups


def _shrunk(values: FloatArray, variance: FloatArray | float) -> FloatArray:
    """Shrink correlations by the known variance of their errors, and drop those within it.

    The factor is max(0, 1 - 2 variance / square), after James and Stein.
    """
    squares = values**2
    factor = 1.0 - _DOUBT * variance / np.where(squares > 0, squares, 1.0)
    shrunk: FloatArray = values * np.maximum(0.0, factor)
    return shrunk


def _cell_shares(
    by_class: Sequence[Sequence[PublishedClass]], codes: PublicCodes
) -> list[FloatArray]:
    """Return the share of each cell of its column in each class, by expectation maximisation.

    Each round spreads the rows of a group over its cells by the shares of the round before, which
    are those of all sites: a site with finer groups helps others. Shares of all classes together
    start from public weights, and those of each class from shares of all: a group in which nothing
    tells cells apart has the same odds in all of its cells.
    """
    column = np.repeat(np.arange(len(codes.starts) - 1), np.diff(codes.starts))

    def after_rounds(parts: Sequence[PublishedClass], shares: FloatArray) -> FloatArray:
        for _ in range(_SPREADING_ROUNDS):
            rows = np.sum([np.zeros(len(shares)), *(_spread(part, shares) for part in parts)], 0)
            sums = np.bincount(column, rows)[column]
            shares = np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), codes.weights)
        return shares

    of_all = after_rounds([part for parts in by_class for part in parts], codes.weights)
    return [after_rounds(parts, of_all) for parts in by_class]


def _spread(part: PublishedClass, shares: FloatArray) -> FloatArray:
    """Return the expected rows of cells of one site, if rows of a group have these shares.

    Halves that are known to have fewer rows than the least have at most what their merging leaves
    open; the other cells of the group have the rest.
    """
    size, groups = len(shares), part.groups

    def of_group(values: FloatArray) -> FloatArray:
        sums: FloatArray = np.bincount(groups, values, size).astype(np.float64)[groups]
        return sums

    rows = part.cells[groups] * _quotient(shares, of_group(shares))
    if part.halves is None:
        return rows
    hidden = part.halves >= 0
    of_half = np.bincount(part.halves[hidden], rows[hidden]).astype(np.float64)
    kept = np.where(hidden, 0.0, rows)
    limited = kept.copy()
    limited[hidden] = (
        rows[hidden] * np.minimum(1.0, _quotient(part.most_hidden, of_half))[part.halves[hidden]]
    )
    spread: FloatArray = limited + of_group(rows - limited) * _quotient(kept, of_group(kept))
    return spread


def _quotient(values: FloatArray | float, divisors: FloatArray) -> FloatArray:
    """Return a quotient, zero where the divisor is."""
    divided: FloatArray = np.where(
        divisors > 0, values / np.where(divisors > 0, divisors, 1.0), 0.0
    )
    return divided


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
        whitening[each, each] = _whitening(centred.T @ weighted)
        loadings[cells, each] = weighted @ whitening[each, each]
    noise *= codes.of_two_columns
    variance = (whitening**2).T @ (noise + noise.T) @ whitening**2 / max(total, 1.0) ** 2
    return _Correlations(whitening.T @ covariance @ whitening, variance, loadings)


def _whitening(covariance: FloatArray) -> FloatArray:
    """Return combinations of codes that are uncorrelated, each with a variance of one, as columns.

    The first is the first code, and each further one what its code adds to those before it: rare
    levels, whose sums have large errors, leave the combinations of frequent ones alone. A code
    that adds nothing is zero.
    """
    whitening = np.zeros_like(covariance)
    for k in range(len(covariance)):
        residual = np.eye(len(covariance))[k] - whitening @ (whitening.T @ covariance[k])
        variance = float(residual @ covariance @ residual)
        if variance > max(_LEAST_VARIANCE, 1e-3 * float(covariance[k, k])):
            whitening[:, k] = residual / np.sqrt(variance)
    return whitening


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
