"""Counts of rows contradict nothing; almost any change of one of them does."""

from dataclasses import replace

import numpy as np
import pytest

from directrix.tables.counts.pair_counts import PairCounts, count_pairs
from directrix.tables.counts.storage import contradiction

SIZES = [3, 2, 4]
STARTS = np.cumsum([0, *SIZES])


def counts_of(weight=None, n=60, sizes=SIZES):
    rng = np.random.default_rng(0)
    cells = np.column_stack([rng.integers(0, size, n) for size in sizes])
    weight = None if weight is None else weight(rng, n)
    return count_pairs(cells, sizes, np.zeros(n, np.int64), 1, weight)[0]


@pytest.mark.parametrize(
    "weight", [None, lambda rng, n: rng.integers(1, 5, n), lambda rng, n: rng.random(n) ** 9]
)
def test_rows_contradict_nothing(weight):
    assert contradiction(counts_of(weight), STARTS) is None
    many = [2] * 150
    assert contradiction(counts_of(weight, 5, many), np.cumsum([0, *many])) is None
    assert contradiction(PairCounts.empty(9), STARTS) is None


@pytest.mark.parametrize("change", [1, -1, 1000])
def test_every_count_is_bound_to_others(change):
    counts = counts_of()
    for entry in range(counts.pairs.nnz):
        pairs = counts.pairs.copy()
        pairs.data[entry] += change
        assert contradiction(replace(counts, pairs=pairs), STARTS) is not None


def test_totals_are_bound_to_each_other():
    counts = counts_of(lambda rng, n: rng.integers(1, 5, n))
    for other in (
        replace(counts, count=0),
        replace(counts, count=-1),
        replace(counts, count=1),
        replace(counts, count=counts.weight + 1),
        replace(counts, weight=counts.weight + 1),
        replace(counts, weight_sq=counts.weight**2 + 1),
        replace(counts, weight_sq=1),
        replace(counts, weight=0),
    ):
        assert contradiction(other, STARTS) is not None


def test_cells_of_a_column_exclude_each_other():
    counts = counts_of()
    pairs = counts.pairs.tolil()
    pairs[0, 1] = 1
    other = replace(counts, pairs=pairs.tocsr())
    assert contradiction(other, STARTS) == "a row would be in two cells of a column"
