"""Sums of features by fold, class and segment."""

import numpy as np
import pytest
from scipy import sparse

from directrix.moments.segment_sums import SegmentSums

NAMES = ("at", "ch", "li")


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n), rng.random(n) < 0.4, rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)), group, rng.random(n) + 0.5


def summed(X, group, weight, names=NAMES):
    return SegmentSums.of_rows(X, group, names, weight, 3)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_sums_are_those_of_the_rows_of_each_fold_class_and_segment(kind):
    X, group, weight = rows()
    found = summed(kind(X), group, weight)
    assert found.sums.shape == (3, 2, 3, 6)
    for index in np.ndindex(3, 2, 3):
        inside = np.all([part == k for part, k in zip(group, index, strict=True)], axis=0)
        own = weight[inside]
        expected = [own.sum(), (own**2).sum(), *(own @ X[inside])]
        np.testing.assert_allclose(found.sums[index], expected, atol=1e-12)


def test_parts_with_other_segments_add_up_to_the_whole():
    X, group, weight = rows()
    fold, positive, number = group
    whole, parts = summed(X, group, weight), []
    for names in (("at", "li"), ("ch",)):
        inside = np.isin(number, [NAMES.index(name) for name in names])
        position = np.array([names.index(NAMES[k]) for k in number[inside]])
        group = fold[inside], positive[inside], position
        parts.append(summed(X[inside], group, weight[inside], names))
    both = parts[0] + parts[1]
    assert both.names == NAMES
    np.testing.assert_allclose(both.sums, whole.sums, atol=1e-12)
    np.testing.assert_allclose((whole + whole).sums, 2 * whole.sums)


def test_pooled_segments_are_one():
    found = summed(*rows()).pooled({"li": "alps", "ch": "alps"})
    whole = summed(*rows())
    assert found.names == ("alps", "at")
    np.testing.assert_allclose(found.sums[:, :, 1], whole.sums[:, :, 0])
    np.testing.assert_allclose(found.sums[:, :, 0], whole.sums[:, :, 1:].sum(axis=2))


def test_totals_have_class_weights_and_leave_a_fold_out():
    whole = summed(*rows())
    weight, square, sums = whole.totals((2.0, 1.0), without=1)
    kept = whole.sums[[0, 2]].sum(axis=0)
    np.testing.assert_allclose(weight, kept[..., 0] * [[2.0], [1.0]])
    np.testing.assert_allclose(square, kept[..., 1] * [[4.0], [1.0]])
    np.testing.assert_allclose(sums[0], kept[0, :, 2:] * 2.0)
    np.testing.assert_allclose(whole.totals((1.0, 1.0))[0], whole.sums[..., 0].sum(axis=0))
