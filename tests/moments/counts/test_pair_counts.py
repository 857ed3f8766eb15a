"""Pair counts of one class: sums of rows, canonical, and exact for whole numbers."""

import pickle
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from directrix.exceptions import CancellationError, NegativeCountError
from directrix.moments.counts.pair_counts import MOST_WEIGHT, PairCounts, count_pairs

SIZES = [3, 1, 4]


def rows(n=50, seed=0):
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(0, size, n) for size in SIZES]).astype(np.uint8)
    return cells, rng.integers(0, 2, n), rng


def expected(cells, weight):
    numbers = cells + np.array([0, 3, 4])
    full = np.zeros((8, 8))
    for row, w in zip(numbers, weight, strict=True):
        full[np.ix_(row, row)] += w
    return np.triu(full)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_pairs_are_sums_over_rows(weights):
    cells, group, rng = rows()
    weight = {"none": None, "whole": rng.integers(1, 9, 50), "real": rng.random(50)}[weights]
    filled = np.ones(50) if weight is None else weight
    for k, counts in enumerate(count_pairs(cells, SIZES, group, 2, weight)):
        own = group == k
        np.testing.assert_allclose(
            counts.pairs.toarray(), expected(cells[own], filled[own]), rtol=1e-14
        )
        assert counts.exact == (weights != "real")
        assert counts.pairs.has_canonical_format
        assert (counts.pairs.data > 0).all()
        assert counts.count == own.sum()
        assert counts.weight == pytest.approx(filled[own].sum())
        assert counts.weight_sq == pytest.approx(np.square(filled[own]).sum())
        np.testing.assert_array_equal(counts.cells(), counts.pairs.diagonal())


def counted_twice(sizes, n, weight, seed=0):
    """Return counts of few rows, and those of rows that are repeated until they are many."""
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(0, size, n) for size in sizes]).astype(np.uint8)
    group = np.arange(n) % 2
    times = 2 * max(sizes) ** 2
    few = count_pairs(cells, sizes, group, 2, weight)
    repeated = None if weight is None else np.tile(weight, times)
    many = count_pairs(np.tile(cells, (times, 1)), sizes, np.tile(group, times), 2, repeated)
    return few, many, times


@pytest.mark.parametrize("weights", ["none", "whole"])
def test_few_rows_are_counted_as_many_are(weights):
    # Few rows are a sparse product, many fill a dense table.
    weight = None if weights == "none" else np.arange(1, 21)
    few, many, times = counted_twice([20, 3, 17, 1, 20], 20, weight)
    for counts, repeated in zip(few, many, strict=True):
        assert (counts * float(times)).pairs.has_canonical_format
        assert np.array_equal((counts.pairs * times).toarray(), repeated.pairs.toarray())
        assert (counts.count * times, counts.weight * times) == (repeated.count, repeated.weight)


def test_sums_that_cancel_are_not_stored():
    cells = np.zeros((2, 2), dtype=np.uint8)
    (sums,) = count_pairs(cells, [9, 9], np.zeros(2, dtype=np.int64), 1, np.array([1.5, -1.5]))
    assert sums.pairs.nnz == 0


def test_counts_take_four_bytes_while_they_fit():
    cells, group, _ = rows()
    small = count_pairs(cells, SIZES, group, 2, None)[0]
    assert small.pairs.dtype == np.int32
    large = small * 2.0**27
    half = small * 2.0**26
    both = half + half
    assert half.pairs.dtype == np.int32
    assert half.weight < 2**31 <= both.weight
    for counts in (large, both):
        assert counts.pairs.dtype == np.int64
        assert np.array_equal(counts.pairs.toarray(), 2**27 * small.pairs.toarray().astype(int))
    assert both - half == half
    assert (both - half).pairs.dtype == np.int32


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak")
def test_memory_is_that_of_the_result():
    code = """
import resource, numpy as np
from directrix.moments.counts.pair_counts import count_pairs
rng = np.random.default_rng(0)
cells = rng.integers(0, 64, size=(500, 100)).astype(np.uint8)
count_pairs(cells[:, :2], [64] * 2, np.arange(500) % 2, 2, None)
def resident(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
counts = count_pairs(cells, [64] * 100, np.arange(500) % 2, 2, None)
size = sum(each.pairs.data.nbytes + each.pairs.indices.nbytes for each in counts)
print((resident("VmHWM") - before) / size)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    # Pieces that were joined at the end took twice as much.
    assert float(done.stdout) < 1.5


def test_squares_of_large_weights_are_exact():
    weight = np.array([2**52 + 1, 3])
    (counts,) = count_pairs(np.zeros((2, 1), np.uint8), [1], np.zeros(2, np.int64), 1, weight)
    assert counts.weight == 2**52 + 4
    assert counts.weight_sq == (2**52 + 1) ** 2 + 9


def test_a_group_without_rows_is_empty():
    cells, group, _ = rows()
    *_, nothing = count_pairs(cells, SIZES, group, 3, None)
    assert nothing == PairCounts.empty(8)
    some = count_pairs(cells, SIZES, group, 3, None)[0]
    assert some + nothing == some == nothing + some
    assert some - nothing == some
    assert some - some == nothing


def test_sums_beyond_two_to_the_53_are_refused():
    one = PairCounts(1, MOST_WEIGHT, 1, sparse.csr_array(np.array([[MOST_WEIGHT]])))
    with pytest.raises(OverflowError, match=str(MOST_WEIGHT + 1)):
        one + PairCounts(1, 1, 1, sparse.csr_array(np.array([[1]])))


def test_differences_of_real_weights_leave_no_rounding():
    cells, group, rng = rows(200)
    weight = rng.random(200)
    first, second = (slice(0, 120), slice(120, 200))
    whole, a, b = (
        count_pairs(cells[part], SIZES, 0 * group[part], 1, weight[part])[0]
        for part in (slice(0, 200), first, second)
    )
    left = whole - b
    np.testing.assert_allclose(left.pairs.toarray(), a.pairs.toarray(), rtol=1e-12)
    assert left.pairs.nnz == a.pairs.nnz
    assert whole - whole == PairCounts.empty(8)
    with pytest.raises(NegativeCountError):
        a - whole
    twice = PairCounts(a.count, a.weight / 2, a.weight_sq / 4, a.pairs)
    with pytest.raises(NegativeCountError) as caught:
        twice - PairCounts(1, 0.0, 0.0, 2 * a.pairs)
    assert isinstance(caught.value.cell, int)


def test_rows_of_other_weights_are_no_part():
    cells, group, _ = rows()
    whole, heavy = (
        count_pairs(cells[part], SIZES, 0 * group[part], 1, weight)[0]
        for part, weight in ((slice(0, 50), np.full(50, 2)), (slice(0, 10), np.full(10, 10)))
    )
    few = PairCounts(10, 100, 1000, whole.pairs)  # all the weight in a fifth of the rows
    with pytest.raises(NegativeCountError, match="number of rows would become negative"):
        whole - few
    with pytest.raises(NegativeCountError):
        whole - heavy


def test_too_little_real_weight_is_refused():
    cells, group, _ = rows()
    weight = np.where(np.arange(50) < 49, 1.5, 1e-20)
    whole, most = (count_pairs(cells[:n], SIZES, 0 * group[:n], 1, weight[:n])[0] for n in (50, 49))
    with pytest.raises(CancellationError, match="add up the parts you keep"):
        whole - most


def test_counts_never_change():
    cells, group, _ = rows()
    (counts,) = count_pairs(cells, SIZES, 0 * group, 1, None)
    for other in (counts, counts + counts, pickle.loads(pickle.dumps(counts)), deepcopy(counts)):  # noqa: S301
        with pytest.raises(ValueError, match="read-only"):
            other.pairs.data[0] = 7
    assert pickle.loads(pickle.dumps(counts)) == counts  # noqa: S301 - our own bytes


def test_only_counts_are_equal_to_counts():
    assert PairCounts.empty(2) != 0
    assert PairCounts.empty(2) != PairCounts.empty(3)


def test_regrouped_counts_are_counts_of_merged_cells():
    cells, group, _ = rows()
    (counts,) = count_pairs(cells, SIZES, 0 * group, 1, None)
    merged = np.array([0, 1, 1]), np.array([0, 0, 1, 1])
    coarse = np.column_stack([merged[0][cells[:, 0]], merged[1][cells[:, 2]]])
    (again,) = count_pairs(coarse, [2, 2], 0 * group, 1, None)
    assert counts.regrouped(np.array([0, 1, 1, -1, 2, 2, 3, 3]), 4) == again
