import numpy as np
import pytest

from directrix.engines.column_roles import Block
from directrix.rows.rows import as_rows
from directrix.rows.sample import RunningSample, share_of_partition


def block(n, seed, *, weight=None):
    rng = np.random.default_rng(seed)
    return Block(
        as_rows(rng.normal(size=(n, 2))),
        rng.random(n) < 0.2,
        weight,
        rng.integers(0, 3, n),
        None,
        None,
        None,
        rng.integers(0, 1 << 63, n).astype(np.uint64),
    )


def sampled(blocks, most=50, **options):
    running = RunningSample(most, 1, **options)
    for each in blocks:
        running.add(each.X, *each.roles, each.row_keys)
    return running.sample()


def test_blocks_in_any_order_give_the_rows_of_least_hash_of_each_class():
    blocks = [block(n, seed) for seed, n in enumerate((400, 3, 70_000))]
    sample, again = sampled(blocks), sampled(blocks[::-1])
    assert np.array_equal(np.sort(sample.hashes), np.sort(again.hashes))
    for label in (False, True):
        assert sample.count(label) == 50
        everything = sampled(blocks, most=100_000)
        least = np.sort(everything.hashes[everything.y == label])[:50]
        assert np.array_equal(np.sort(sample.hashes[sample.y == label]), least)


def test_rows_of_weight_zero_and_of_a_fold_set_apart_are_not_sampled():
    weight = np.tile([0.0, 2.0], 200)
    sample = sampled([block(400, 0, weight=weight)], most=1000, apart=1)
    assert (sample.weight == 2.0).all()
    assert (sample.fold != 1).all()
    expected = block(400, 0, weight=weight)
    assert len(sample) == np.count_nonzero((weight > 0) & (expected.fold != 1))


def test_rows_above_given_thresholds_are_not_sampled():
    thresholds = {False: 1 << 62, True: 1 << 61}
    sample = sampled([block(5000, 0), block(5000, 1)], most=10_000, thresholds=thresholds)
    for label, threshold in thresholds.items():
        hashes = sample.hashes[sample.y == label]
        assert len(hashes) > 10
        assert hashes.max() <= threshold


def test_no_rows_give_no_sample():
    assert sampled([]) is None
    assert sampled([block(10, 0, weight=np.zeros(10))]) is None


@pytest.mark.parametrize("n_partitions", [None, 1, 2, 100, 10_000])
def test_shares_of_partitions_suffice_for_the_whole_sample(n_partitions):
    share = share_of_partition(20_000, n_partitions)
    assert share * (n_partitions or 1) >= 20_000
    assert share <= 20_000
