import copy
from fractions import Fraction

import numpy as np
import pytest
from nearness import group_distance
from oracle import exact, scaled_error

from directrix import Moments
from directrix.moments import CancellationError, ClassMoments


def of(rows, weight=None, names=None):
    """Return the summary of rows of one class."""
    return Moments.of(rows, np.zeros(len(rows)), weight, feature_names=names).by_class[0.0]


ROWS = np.random.default_rng(3).normal([0.0, 5.0, -1e6], [1.0, 2.0, 3.0], (30, 3))
WEIGHT = np.random.default_rng(4).uniform(0.1, 2.0, 30)


def test_merging_is_exact_where_floats_are():
    # Four and four rows of small whole numbers: every intermediate result is a float.
    rows = np.array([[1, 2], [3, -2], [5, 0], [-1, 4], [0, 0], [2, 8], [-6, 2], [8, -2]], float)
    truth = exact(rows, np.ones(8))
    merged = of(rows[:4]) + of(rows[4:])
    assert merged.mean.tolist() == truth.mean
    assert merged.scatter.tolist() == truth.scatter
    assert not merged.mean_tail.any()


def test_merging_weights_adds_them_up():
    merged = of(ROWS[:10], WEIGHT[:10]) + of(ROWS[10:], WEIGHT[10:])
    assert merged.count == 30
    assert merged.weight == pytest.approx(float(sum(map(Fraction, WEIGHT))), rel=1e-15)
    squares = float(sum(Fraction(w) ** 2 for w in WEIGHT))
    assert merged.weight_sq == pytest.approx(squares, rel=1e-15)


def test_means_far_apart_keep_the_digits_of_the_scatter():
    # One float holds 1e9 / 3 to 6e-8; squared, that would spoil the eighth digit of the scatter.
    rows = np.array([[1e9], [0.0], [0.0], [1e9 + 1.0]])
    merged = of(rows[:3]) + of(rows[3:])
    assert scaled_error(merged, exact(rows, np.ones(4))) < 1e-15
    pieces = of(rows[:1]) + of(rows[1:2]) + of(rows[2:3]) + of(rows[3:])
    assert scaled_error(pieces, exact(rows, np.ones(4))) < 1e-15


def test_the_tail_of_the_mean_is_carried_through_merges():
    # The mean is 1e9 + 1/3: without its tail it is known to 4e-8, one part in 1e7 of the spread.
    rows = 1e9 + np.array([[0.0], [0.0], [1.0]])
    total = of(rows)
    for _ in range(12):
        total = total + total
    truth = Fraction(10**9) + Fraction(1, 3)
    error = abs(Fraction(total.mean[0]) + Fraction(total.mean_tail[0]) - truth)
    assert error < Fraction(1, 10**14)


def test_the_empty_summary_is_the_identity_and_not_a_copy():
    moments, empty = of(ROWS), ClassMoments.empty(3)
    assert moments + empty is moments
    assert empty + moments is moments
    assert moments - empty is moments
    assert (empty + empty).count == 0


@pytest.mark.parametrize("operation", ["__add__", "__sub__"])
def test_numbers_of_features_must_agree(operation):
    with pytest.raises(ValueError, match="3 and 2 features; they must agree"):
        getattr(of(ROWS), operation)(of(ROWS[:, :2]))


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("n", [1, 10, 25, 28])
def test_subtraction_undoes_a_merge(n, weight):
    part, rest = slice(None, n), slice(n, None)
    whole = of(ROWS, weight)
    left = whole - of(ROWS[part], weight if weight is None else weight[part])
    kept = of(ROWS[rest], weight if weight is None else weight[rest])
    # A tenth of the scatter or more is left: one digit, and a few roundings.
    assert group_distance(left, kept) < 1e-13


def test_one_row_left_has_no_scatter_and_the_mean_of_that_row():
    left = of(ROWS) - of(ROWS[:-1])
    assert left.count == 1
    assert not left.scatter.any()
    np.testing.assert_allclose(left.mean, ROWS[-1], rtol=0, atol=1e-13 * np.abs(ROWS).max())


def test_nothing_left_is_the_empty_summary():
    assert of(ROWS, WEIGHT) - of(ROWS, WEIGHT) == ClassMoments.empty(3)


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        (of(ROWS[:3]), of(ROWS)),
        (ClassMoments.empty(3), of(ROWS)),
        (of(ROWS, np.full(30, 0.1)), of(ROWS[:29])),
        (of(ROWS, np.full(30, 2.0)), of(ROWS)),
    ],
    ids=["more rows", "no rows", "more weight", "all rows but not all weight"],
)
def test_what_is_not_a_part_cannot_be_taken_out(whole, part):
    with pytest.raises(ValueError, match=r"the one to subtract from .*: it is not a part"):
        whole - part


def test_too_little_weight_left_is_refused():
    weight = np.array([1.0] * 28 + [1e-9, 1e-9])
    with pytest.raises(CancellationError, match=r"too little weight.* add up the parts you keep"):
        of(ROWS, weight) - of(ROWS[:28], weight[:28])


def test_squared_weights_stay_possible_when_rounding_has_eaten_them():
    rng = np.random.default_rng(0)
    for _ in range(50):
        weight = np.r_[rng.uniform(0.1, 1.0, 28), rng.uniform(0.1, 1.0, 2) * 1e-7]
        rows = rng.normal(size=(30, 1))
        rows[28:] *= 1e4
        left = of(rows, weight) - of(rows[:28], weight[:28])
        assert left.weight**2 / 2 <= left.weight_sq <= left.weight**2


def spread_out(n_columns, lost):
    """Return rows of which the first two carry almost all scatter of the lost columns."""
    rows = np.random.default_rng(0).normal(size=(10, n_columns))
    rows[:2, lost] += [[1e6], [-1e6]]
    return rows


def test_columns_that_lost_their_digits_are_named():
    rows = spread_out(4, [1, 3])
    with pytest.raises(CancellationError, match=r"the variance of columns 1, 3") as caught:
        of(rows) - of(rows[:2])
    assert caught.value.columns == (1, 3)
    assert isinstance(caught.value, ArithmeticError)
    assert "add up the parts you keep instead" in str(caught.value)


def test_columns_that_lost_their_digits_are_called_by_their_names():
    rows, names = spread_out(4, [1, 3]), ["a", "b", "c", "größe"]
    whole, part = (Moments.of(r, np.zeros(len(r)), feature_names=names) for r in (rows, rows[:2]))
    with pytest.raises(CancellationError, match="the variance of columns 'b', 'größe'") as caught:
        whole - part
    assert caught.value.columns == ("b", "größe")


def test_many_lost_columns_are_counted():
    rows = spread_out(9, list(range(8)))
    with pytest.raises(CancellationError, match=r"columns 0, 1, 2, 3, 4 and 3 more") as caught:
        of(rows) - of(rows[:2])
    assert caught.value.columns == tuple(range(8))


def test_a_constant_column_loses_nothing():
    rows = np.column_stack([ROWS[:, 0], np.full(30, 0.1)])
    left = of(rows) - of(rows[:20])
    assert left.scatter[1, 1] == 0.0
    assert left.mean[1] == 0.1


def test_covariance_divides_by_the_weight():
    group = of(ROWS[:, :2], WEIGHT)
    expected = np.cov(ROWS[:, :2].T, aweights=WEIGHT, bias=True)
    np.testing.assert_allclose(group.covariance, expected, rtol=1e-13)
    np.testing.assert_allclose(group.variance, np.diag(expected), rtol=1e-13)


@pytest.mark.parametrize("what", ["covariance", "variance"])
def test_an_empty_class_has_no_covariance(what):
    with pytest.raises(ValueError, match=r"no rows .* so it has no covariance"):
        getattr(ClassMoments.empty(3), what)


def test_the_effective_count_is_kishs():
    weight = [1.0, 2.0, 4.0, 0.5]
    truth = Fraction(15, 2) ** 2 / (1 + 4 + 16 + Fraction(1, 4))
    assert of(ROWS[:4], weight).effective_count == pytest.approx(float(truth), rel=1e-15)


@pytest.mark.parametrize("weight", [1.0, 0.25, 1e-100, 1e100])
def test_rows_of_equal_weight_count_in_full(weight):
    assert of(ROWS, np.full(30, weight)).effective_count == pytest.approx(30.0, rel=1e-14)


def test_no_rows_have_no_effective_count():
    assert ClassMoments.empty(2).effective_count == 0.0


def test_marginal_keeps_the_diagonal():
    group = of(ROWS, WEIGHT)
    np.testing.assert_array_equal(group.marginal().variance, group.variance)
    np.testing.assert_array_equal(group.marginal().mean, group.mean)
    assert group.marginal().weight == group.weight


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS[:, ::-1], ROWS + 1e-12])
def test_other_rows_give_another_summary(rows):
    assert of(rows) != of(ROWS)
    assert of(ROWS) == of(ROWS.copy())


def test_each_number_counts_in_a_comparison():
    group = of(ROWS, WEIGHT)
    for name in ("count", "weight", "weight_sq", "mean", "mean_tail", "scatter"):
        changed = {**vars(group), name: getattr(group, name) + 1}
        assert ClassMoments(**changed) != group, name


def test_a_summary_equals_nothing_else():
    assert of(ROWS) != 0
    assert of(ROWS) != "a"


def test_a_summary_is_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(of(ROWS))


@pytest.mark.parametrize("array", ["mean", "mean_tail", "scatter"])
def test_a_summary_is_read_only(array):
    with pytest.raises(ValueError, match="read-only"):
        getattr(of(ROWS), array)[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        getattr(of(ROWS) + of(ROWS), array)[0] = 1.0


def test_a_copy_is_equal():
    group = of(ROWS, WEIGHT)
    assert copy.copy(group) == group
    assert copy.deepcopy(group) == group
