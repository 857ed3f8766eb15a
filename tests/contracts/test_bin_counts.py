"""Laws of BinCounts: an exact algebra of rows, and the source of all moments of bins."""

import os
from functools import cache, reduce
from operator import add
from unittest.mock import patch

import numpy as np
import pytest
from nearness import distance
from random_counts import compare, draw_binner, draw_rebinning, draw_rows
from scipy import sparse
from sklearn.base import clone

from directrix import Binner, Moments
from directrix.exceptions import DifferentBinsError, NegativeCountError
from directrix.moments import BinCounts
from directrix.moments.counts import pair_counts as row_counts

SEEDS = range(8)


@cache
def case(seed):
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng, int(rng.integers(30, 300)))
    return draw_binner(rng, rows.X), rows, rng


def of(binner, rows, *, weighted=True, folded=True):
    weight, fold = (rows.weight if weighted else None), (rows.fold if folded else None)
    return BinCounts.of(binner, rows.X, rows.y, weight, fold=fold, classes=["bad", "good"])


def chunks(rows, rng, n=4):
    index = np.array_split(rng.permutation(len(rows.y)), n)
    return [rows.part(part) for part in index]


def brute_force(binner, rows, weight):
    """Return the pair counts of each class by a dense product of all indicators."""
    cells = binner.cells(rows.X)
    Z = np.hstack([np.eye(bins.n_cells)[cells[:, k]] for k, bins in enumerate(binner.bins_)])
    return {label: (Z * (weight * (rows.y == label))[:, None]).T @ Z for label in ("bad", "good")}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_counts_are_those_of_all_pairs_of_indicators(seed, weights):
    binner, rows, _ = case(seed)
    weight = {"none": np.ones(len(rows.y)), "whole": rows.weight, "real": rows.weight / 7}[weights]
    counts = BinCounts.of(binner, rows.X, rows.y, None if weights == "none" else weight)
    assert counts.exact == (weights != "real")
    for label, expected in brute_force(binner, rows, weight).items():
        moments = counts.class_moments(label)
        total = weight[rows.y == label].sum()
        assert moments.weight == pytest.approx(total, rel=1e-14)
        second = moments.second.toarray()
        np.testing.assert_allclose(second * total, expected, rtol=1e-12, atol=0)
        np.testing.assert_array_equal(moments.mean, second.diagonal())
        np.testing.assert_array_equal(second, second.T)
    spans = np.cumsum([0, *(bins.n_cells for bins in binner.bins_)])
    for i, j in [(0, 5), (5, 0), (2, 2)]:
        table = expected[spans[i] : spans[i + 1], spans[j] : spans[j + 1]]
        names = counts.column_names[i], counts.column_names[j]
        np.testing.assert_allclose(counts.pair(*names, "good"), table, rtol=1e-12)
        np.testing.assert_allclose(counts.pair(i, j)[1], table, rtol=1e-12)
        np.testing.assert_allclose(counts.cells(i)[1], counts.pair(i, i)[1].diagonal())


@pytest.mark.parametrize("seed", SEEDS)
def test_any_partition_equals_the_whole(seed):
    binner, rows, rng = case(seed)
    parts = [of(binner, part) for part in chunks(rows, rng)]
    whole = of(binner, rows)
    assert reduce(add, parts) == whole
    assert parts[0] + parts[1] == parts[1] + parts[0]
    assert (parts[0] + parts[1]) + parts[2] == parts[0] + (parts[1] + parts[2])
    assert whole + BinCounts.empty(binner) == whole == BinCounts.empty(binner) + whole


@pytest.mark.parametrize("seed", SEEDS)
def test_order_and_blocks_of_rows_do_not_matter(seed):
    binner, rows, rng = case(seed)
    whole = of(binner, rows)
    assert of(binner, rows.part(rng.permutation(len(rows.y)))) == whole
    with patch.object(row_counts, "_CELLS_AT_A_TIME", 70):
        assert of(binner, rows) == whole


@pytest.mark.parametrize("seed", SEEDS)
def test_subtraction_undoes_addition(seed):
    binner, rows, rng = case(seed)
    a, b, *_ = (of(binner, part) for part in chunks(rows, rng))
    assert (a + b) - b == a
    assert (a + b) - a == b
    assert (a - a).count == (a - a).weight == 0
    assert not (a - a).cells("job").any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_weight_is_a_repetition(seed):
    binner, rows, _ = case(seed)
    weighted = of(binner, rows)
    repeated = rows.part(np.repeat(np.arange(len(rows.y)), rows.weight))
    counted = of(binner, repeated, weighted=False)
    assert weighted.weight == counted.weight == counted.count
    for left, right in zip(weighted.parts, counted.parts, strict=True):
        for a, b in zip(left, right, strict=True):
            assert a.weight == b.weight
            assert (a.pairs != b.pairs).nnz == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_folds_are_parts_of_the_whole(seed):
    binner, rows, _ = case(seed)
    counts = of(binner, rows)
    assert counts.n_folds == 3
    assert counts.unfolded() == of(binner, rows, folded=False)
    for k in range(3):
        inside, outside = (
            of(binner, rows.part(index), folded=False) for index in (rows.fold == k, rows.fold != k)
        )
        assert counts.folds[k] == inside
        assert counts.without_fold(k) == outside == counts.unfolded() - counts.folds[k]
        assert counts.moments().without_fold(k).weight == outside.moments().weight


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("encoding", ["thermometer", "onehot"])
@pytest.mark.parametrize("unit", [1, 1 / 7], ids=["whole", "real"])
def test_moments_are_those_of_the_features(seed, encoding, unit):
    binner, rows, _ = case(seed)
    weight = rows.weight * unit
    counts = BinCounts.of(binner, rows.X, rows.y, weight, fold=rows.fold)
    binner = counts.binner.set_params(encoding=encoding)
    features = binner.transform(rows.X)
    names = binner.get_feature_names_out()
    expected = Moments.of(features, rows.y, weight, fold=rows.fold, feature_names=names)
    assert distance(counts.moments(encoding), expected) < 1e-12


@pytest.mark.parametrize("encoding", ["thermometer", "onehot"])
def test_equal_counts_have_equal_moments_to_the_last_bit(encoding):
    for seed in SEEDS:
        binner, rows, rng = case(seed)
        total = reduce(add, (of(binner, part) for part in chunks(rows, rng, 5)))
        assert total.moments(encoding) == of(binner, rows).moments(encoding)


#: Rebinnings of every kind of column: numbers, special values, booleans, texts, dates.
REBINNINGS = {
    "nothing": {},
    "one bin": {"cuts": {"age": [], "since": [], "owner": []}},
    "a range of cells": {"merge": {"age": [(1, 2)], "children": [(2, 2)]}},
    "special values stay": {"cuts": {"income": []}},
    "levels": {"merge": {"job": [("clerk", "nurse")]}},
    "levels to other": {"other": {"job": ["clerk"]}},
    "both": {"merge": {"job": [["clerk", "nurse"]]}, "other": {"job": ["cook"]}},
    "dropped columns": {"drop": ["constant", "job"]},
    "all together": {
        "cuts": {"age": []},
        "merge": {"job": [("nurse", "clerk")]},
        "drop": ["since", "owner"],
    },
}


def applicable(rebinning, bins):
    """Leave out levels and ranges of cells that a random binner does not have."""
    known = {column.name: column for column in bins}
    merge = {
        name: [g for g in groups if name == "job" or g[1] <= known[name].n_ordered]
        for name, groups in rebinning.get("merge", {}).items()
    }
    levels = set(known["job"].levels)
    if "job" in merge:
        merge["job"] = [[level for level in group if level in levels] for group in merge["job"]]
    other = {
        name: [x for x in given if x in levels]
        for name, given in rebinning.get("other", {}).items()
    }
    return {**rebinning, "merge": merge, "other": other}


@pytest.mark.parametrize("name", REBINNINGS)
@pytest.mark.parametrize("seed", SEEDS)
def test_merged_counts_are_the_counts_of_merged_bins(seed, name):
    binner, rows, _ = case(seed)
    counts = of(binner, rows)
    coarse = counts.rebin(**applicable(REBINNINGS[name], counts.bins))
    again = of(coarse.binner, rows)
    assert coarse == again
    assert coarse.count == counts.count
    assert coarse.weight == counts.weight
    for encoding in ("thermometer", "onehot"):
        assert coarse.moments(encoding) == again.moments(encoding)


def test_random_rebinnings():
    tables = int(os.environ.get("DIRECTRIX_FUZZ", "15"))
    result = compare(tables, seed=1)
    assert result.rebinnings == 3 * tables
    assert result.cells_after < result.cells_before
    assert (result.counts, result.thermometer, result.onehot) == (0, 0, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_merging_and_adding_commute(seed):
    binner, rows, rng = case(seed)
    a, b, *_ = (of(binner, part) for part in chunks(rows, rng))
    rebinning = draw_rebinning(rng, binner.bins_)
    assert (a + b).rebin(**rebinning) == a.rebin(**rebinning) + b.rebin(**rebinning)


def test_counts_stay_exact_to_two_to_the_53():
    binner, rows, _ = case(0)
    counts = once = of(binner, rows, folded=False)
    doublings = 0
    while (2 * max(part.weight for part in counts.parts[0])) <= 2**53:
        counts, doublings = counts + counts, doublings + 1
    factor = 2**doublings
    assert doublings > 40
    assert counts.weight == once.weight * factor
    np.testing.assert_array_equal(counts.pair("age", "job"), once.pair("age", "job") * factor)
    assert counts.moments().positive.weight == once.moments().positive.weight * factor
    # A factor that is a power of two changes no digit of a mean, nor of a scatter.
    for label in ("bad", "good"):
        few, many = (c.moments().by_class[label] for c in (once, counts))
        np.testing.assert_array_equal(few.mean, many.mean)
        np.testing.assert_array_equal(few.scatter * factor, many.scatter)
    with pytest.raises(OverflowError, match="divide the weights by a common factor"):
        counts + counts


def test_what_is_not_a_part_cannot_be_subtracted():
    binner, rows, _ = case(1)
    counts = of(binner, rows, folded=False)
    with pytest.raises(NegativeCountError, match=r"cell .* of column 'age' would become negative"):
        counts - (counts + counts)
    with pytest.raises(NegativeCountError):
        BinCounts.empty(binner) - counts


def test_counts_of_different_binners_are_refused():
    binner, rows, _ = case(2)
    counts = of(binner, rows)
    again = clone(binner).fit(rows.X)
    assert (of(again, rows) + counts).weight == 2 * counts.weight
    changed = clone(binner).fit(rows.X.assign(children=rows.X["children"] % 2))
    fewer = clone(binner).fit(rows.X.drop(columns="since"))
    for other, column in ((changed, "children"), (fewer, "since")):
        for a, b in ((counts, BinCounts.empty(other)), (BinCounts.empty(other), counts)):
            with pytest.raises(DifferentBinsError, match=f"differ in column '{column}'") as caught:
                a + b
            assert caught.value.column == column


def test_every_source_of_rows_gives_the_same_counts():
    binner, rows, _ = case(3)
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = BinCounts.of(binner, rows.X, rows.y)
    sources = [
        polars.from_pandas(rows.X),
        arrow.Table.from_pandas(rows.X),
        binner.table_of(rows.X),
    ]
    for size in (70, 1 << 26):
        with patch.object(row_counts, "_CELLS_AT_A_TIME", size):
            for source in sources:
                assert BinCounts.of(binner, source, rows.y) == expected


def test_arrays_of_numbers_sparse_and_dense():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, (60, 3)).astype(float), rng.integers(0, 3, 60)
    binner = Binner(min_rows=1).fit(X)
    counts = BinCounts.of(binner, X, y)
    with patch.object(row_counts, "_CELLS_AT_A_TIME", 30):
        for source in (sparse.csr_array(X), sparse.coo_array(X), X.tolist()):
            assert BinCounts.of(binner, source, y) == counts
    assert counts.classes.tolist() == [0, 1, 2]
    assert counts.column_names == ("x0", "x1", "x2")
