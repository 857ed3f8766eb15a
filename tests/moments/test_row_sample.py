import numpy as np
import pytest

from directrix.rows.keys import RowSample, row_hash
from directrix.rows.rows import as_rows
from directrix.rows.sums import tree_sum


def taken(X, y, most=None):
    n = len(y)
    keys = row_hash(as_rows(X))
    sample = RowSample.of(X, y, np.ones(n), np.zeros(n, dtype=np.int32), keys, most or 10**6)
    return sample if most is None else sample.at_most(most)


def rows(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), (rng.random(n) < 0.1).astype(int)


def same(sample, other):
    """The same rows, in whatever order."""
    assert sorted(map(tuple, sample.X.tolist())) == sorted(map(tuple, other.X.tolist()))


@pytest.mark.parametrize("parts", [1, 2, 7, 50])
def test_parts_add_up_to_the_sample_of_the_whole(parts):
    X, y = rows()
    cuts = np.array_split(np.random.default_rng(1).permutation(len(y)), parts)
    total = tree_sum(taken(X[part], y[part], 100) for part in cuts)
    whole = taken(X, y, 100)
    same(total, whole)
    np.testing.assert_array_equal(total.ordered().X, whole.ordered().X)
    assert np.bincount(total.y).tolist() == [100, 100]


def test_a_sum_is_cut_at_once():
    X, y = rows(20_000)
    total, largest = None, 0
    for part in np.array_split(np.arange(len(y)), 100):
        sample = taken(X[part], y[part], 120)
        total = sample if total is None else total + sample
        largest = max(largest, *(total.count(label) for label in (0, 1)))
    assert largest == 120
    same(total, taken(X, y, 120))


def test_parts_of_other_sizes_than_the_sum_are_cut_to_the_same_rows():
    X, y = rows()
    low, high = taken(X[:2500], y[:2500], 1000), taken(X[2500:], y[2500:], 1000)
    few = taken(X, y, 1000).at_most(30)
    assert [few.count(label) for label in (0, 1)] == [30, 30]
    assert few.most == 1000
    same(few, (low + high).at_most(30))
    # The rows between the thresholds of the parts are in neither sum.
    merged = few + taken(X[:0], y[:0], 1000)
    same(merged, few)
    assert merged.thresholds == few.thresholds


def test_explicit_thresholds_take_the_same_rows_from_any_parts():
    X, y = rows()
    thresholds = {0: 2**64 // 10, 1: 2**64 // 2}
    whole = taken(X, y).below(thresholds)
    order = np.argsort(y, kind="stable")
    parts = np.split(order, [10, 4000, 4900])
    same(tree_sum(taken(X[part], y[part]).below(thresholds) for part in parts), whole)
    share = np.array([whole.count(label) for label in (0, 1)]) / np.bincount(y)
    assert share == pytest.approx([0.1, 0.5], abs=0.1)


def test_wide_rows_are_fewer():
    X = np.broadcast_to(0.0, (3, 10_000_000))
    sample = RowSample.of(X, *np.ones((3, 3)), np.arange(3, dtype=np.uint64), 9)
    assert sample.most == 2


def test_unequal_parts_are_sampled_at_one_rate():
    X, y = rows(20_000)
    large, small = taken(X[:19_000], y[:19_000], 500), taken(X[19_000:], y[19_000:], 500)
    both = large + small
    negatives = both.X[both.y == 0]
    from_small = np.isin(negatives[:, 0], X[19_000:, 0]).mean()
    # A twentieth of the rows is a twentieth of the sample, though each part kept 500.
    assert from_small == pytest.approx(0.05, abs=0.03)


def test_every_row_is_as_likely():
    X, _ = rows(20_000)
    kept = taken(X, np.zeros(20_000, dtype=int), 4000).X
    assert kept.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.06)
    assert kept.std(axis=0) == pytest.approx([1, 1, 1], abs=0.05)


def test_few_rows_are_all_kept():
    X, y = rows(50)
    same(taken(X, y, 1000), taken(X, y))


def test_equal_rows_are_kept_or_left_together():
    X = np.repeat(np.arange(10.0)[:, None], 5, axis=0)
    y = np.zeros(50, dtype=int)
    kept = taken(X, y, 12)
    _, counts = np.unique(kept.X, return_counts=True)
    assert counts.tolist() == [5, 5]


def test_a_class_that_only_one_part_has_stays():
    X, _ = rows(20)
    both = taken(X[:10], np.zeros(10, dtype=int)) + taken(X[10:], np.ones(10, dtype=int))
    assert np.bincount(both.y).tolist() == [10, 10]
    assert both.thresholds.keys() == {0, 1}


def test_sorted_samples_are_equal_however_the_rows_came():
    X, y = rows(200)
    X[5] = X[6]
    one, two = (
        taken(X[order], y[order]).sorted() for order in (slice(None), slice(None, None, -1))
    )
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)


def test_only_rows_that_may_be_held_need_to_be_added():
    X, y = rows()
    first, rest = slice(0, 2000), slice(2000, None)
    sample, keys = taken(X[first], y[first], 100), row_hash(as_rows(X[rest]))
    may = sample.may_hold(y[rest], keys)
    assert 0 < may.sum() < len(may) / 2
    some = sample + taken(X[rest][may], y[rest][may])
    same(some.at_most(100), (sample + taken(X[rest], y[rest])).at_most(100))


def test_rows_of_a_class_that_has_not_occurred_may_be_held():
    X, _ = rows(400)
    sample = taken(X[:200], np.zeros(200, dtype=int), 10)
    assert sample.may_hold(np.ones(200, dtype=int), row_hash(as_rows(X[200:]))).all()
