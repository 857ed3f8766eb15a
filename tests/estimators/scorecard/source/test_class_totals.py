"""Totals of classes and folds add up, and know which rows count."""

import numpy as np
import pytest

from directrix.engines.column_roles import Block, ClassTotals
from directrix.moments import Moments


def block(y, weight=None, fold=None):
    return Block(None, np.asarray(y), weight, fold, None, None)


def random_block(rng, n=200):
    return block(rng.choice(["a", "b"], n), rng.random(n), rng.integers(0, 4, n))


def test_totals_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    first, second = random_block(rng), random_block(rng)
    both = [
        np.concatenate([getattr(each, name) for each in (first, second)])
        for name in ("y", "weight", "fold")
    ]
    total, whole = ClassTotals.of(first) + ClassTotals.of(second), ClassTotals.of(block(*both))
    assert total.by_group.keys() == whole.by_group.keys()
    assert total.counts() == whole.counts()
    y, weight, fold = both
    for label in ("a", "b"):
        assert total.counts()[label] == np.sum(y == label)
        assert total.counts(without_fold=2)[label] == np.sum((y == label) & (fold != 2))
        sums = [weight[(y == label) == is_label].sum() for is_label in (False, True)]
        np.testing.assert_allclose(total.weights(label), sums)
        kept = ~np.isin(fold, [1, 3])
        sums = [weight[kept & ((y == label) == is_label)].sum() for is_label in (False, True)]
        np.testing.assert_allclose(total.weights(label, without_folds=(1, 3, None)), sums)


def test_rows_of_weight_zero_do_not_count():
    totals = ClassTotals.of(block([1, 2, 3, 3], np.array([1.0, 2.0, 0.0, 0.0])))
    assert totals.classes.tolist() == [1, 2]
    assert totals.counts() == {1: 1, 2: 1}


def test_no_rows_are_the_identity():
    totals = ClassTotals.of(block([True, False, True]))
    assert ClassTotals() + totals == totals == totals + ClassTotals()
    assert ClassTotals.of(block(np.empty(0))) == ClassTotals()
    assert not len(ClassTotals().classes)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(weight):
    with pytest.raises(ValueError, match="weight= must be finite and not negative"):
        ClassTotals.of(block([0, 1], np.array([1.0, weight])))


def test_the_totals_of_a_summary_are_those_of_its_rows():
    rng = np.random.default_rng(0)
    rows = random_block(rng)
    moments = Moments.of(rng.normal(size=(200, 2)), rows.y, rows.weight, fold=rows.fold)
    ours, theirs = ClassTotals.of_moments(moments), ClassTotals.of(rows)
    assert ours.counts(without_fold=1) == theirs.counts(without_fold=1)
    for label in ("a", "b"):
        without = theirs.weights(label, without_folds=(1, 3))
        np.testing.assert_allclose(ours.weights(label, without_folds=(1, 3)), without)
