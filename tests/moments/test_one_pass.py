import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from nearness import distance
from scipy import sparse

from directrix import Moments
from directrix.exceptions.columns import InfiniteValuesError, MissingValuesError
from directrix.moments import one_pass as _dense_rows

NAMES = ["x", "y", "größe"]
ROWS = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 6.0], [7.0, 8.0, 0.0], [0.0, 0.0, 12.0]])
Y = [0, 1, 0, 1]

HOLDERS = {
    "array": np.array,
    "float32": lambda rows: rows.astype(np.float32),
    "sparse": sparse.csr_array,
    "thin": lambda rows: sparse.csr_array(np.hstack([rows, np.zeros((len(rows), 40))])),
    "pandas": lambda rows: pd.DataFrame(rows, columns=NAMES),
    "polars": lambda rows: pl.DataFrame(rows, schema=NAMES),
    "wide": lambda rows: np.hstack([rows, np.zeros((len(rows), 6000))]),
    "wide sparse": lambda rows: sparse.csr_array(np.hstack([rows, np.zeros((len(rows), 6000))])),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.nan, MissingValuesError),
        (np.inf, InfiniteValuesError),
        (-np.inf, InfiniteValuesError),
    ],
)
def test_a_value_that_is_no_number_is_refused_with_its_column(holder, value, error):
    rows = ROWS.copy()
    rows[2, 1] = value
    with pytest.raises(error) as caught:
        Moments.of(HOLDERS[holder](rows), Y)
    assert caught.value.columns == ("y" if holder in {"pandas", "polars"} else 1,)
    assert (caught.value.rows, caught.value.partial) == (1, False)


def test_columns_and_rows_of_all_blocks_are_counted():
    rows = np.zeros((300_000, 3))
    rows[[5, 290_001], 1] = np.nan
    rows[290_001, 2] = np.nan
    rows[7, 0] = np.inf
    with pytest.raises(MissingValuesError) as caught:
        Moments.of(rows, np.zeros(300_000))
    assert (caught.value.columns, caught.value.rows) == ((1, 2), 2)


def test_a_missing_value_of_a_nullable_column_is_named():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")})
    with pytest.raises(MissingValuesError, match="column 'b' holds missing values"):
        Moments.of(frame, [0, 1])
    with pytest.raises(MissingValuesError, match="column 'b' holds missing values"):
        Moments.of(pl.DataFrame({"a": [1, 2], "b": [1, None]}), [0, 1])


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_row_of_weight_zero_is_absent_whatever_it_holds(holder, value):
    spoilt = ROWS.copy()
    spoilt[2] = value
    weight = np.array([1.0, 2.0, 0.0, 0.5])
    kept = [0, 1, 3]
    labels = np.array(Y)
    with_row = Moments.of(HOLDERS[holder](spoilt), labels, weight)
    without = Moments.of(HOLDERS[holder](ROWS[kept]), labels[kept], weight[kept])
    assert with_row == without


def test_a_bad_value_in_an_absent_row_is_not_blamed():
    rows = ROWS.copy()
    rows[0, 0], rows[3, 2] = np.nan, np.nan
    with pytest.raises(MissingValuesError) as caught:
        Moments.of(rows, Y, [0, 1, 1, 1])
    assert (caught.value.columns, caught.value.rows) == ((2,), 1)


@pytest.mark.parametrize("holder", ["array", "sparse", "thin", "wide", "wide sparse"])
def test_squares_that_overflow_are_refused_with_their_column(holder):
    rows = ROWS * [1.0, 1e160, 1e158]
    with pytest.raises(ValueError, match=r"squares of column 1 overflow .* 8e\+160.*rescale it"):
        Moments.of(HOLDERS[holder](rows), Y)


def test_a_wide_sparse_matrix_is_searched_without_a_dense_copy():
    places = (np.arange(1000), 199 * np.arange(1000))
    matrix = sparse.csr_array((np.ones(1000), places), shape=(1000, 200_000))
    matrix.data[-1] = np.nan
    tracemalloc.start()
    with pytest.raises(ValueError, match="column 198801 holds missing values"):
        Moments.of(matrix, np.arange(1000) % 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26  # a dense copy would take 1.6 GB


@pytest.mark.parametrize(
    ("rows", "labels", "options", "error", "reason"),
    [
        (ROWS, Y[:3], {}, ValueError, "there are 4 rows but 3 labels"),
        (ROWS[:, :0], Y, {}, ValueError, r"there are no features"),
        (sparse.csr_array((4, 0)), Y, {}, ValueError, r"there are no features"),
        (ROWS, Y, {"sample_weight": [1, 1, 1]}, ValueError, r"one number for each of 4 rows"),
        (ROWS, Y, {"sample_weight": 1.0}, ValueError, r"one number for each of 4 rows"),
        (ROWS, Y, {"sample_weight": np.ones((4, 1))}, ValueError, r"each of 4 rows, not \(4, 1\)"),
        (ROWS, Y, {"sample_weight": [1, -1, 1, 1]}, ValueError, "finite and not negative"),
        (ROWS, Y, {"sample_weight": [1, np.nan, 1, 1]}, ValueError, "finite and not negative"),
        (ROWS, Y, {"sample_weight": [1, np.inf, 1, 1]}, ValueError, "finite and not negative"),
        (ROWS, Y, {"sample_weight": ["a"] * 4}, TypeError, "such as 'a': give each row a number"),
        (
            ROWS,
            np.arange(4),
            {"classes": range(9, 99)},
            ValueError,
            "9, 10, 11, 12, 13 and 85 more",
        ),
        (ROWS, Y, {"fold": [0, 1]}, ValueError, "one whole number from zero for each of the 4"),
        (ROWS, Y, {"classes": [1, 2]}, ValueError, "label .*0.* is not among the classes"),
        (ROWS, Y, {"feature_names": ["a", "b"]}, ValueError, "must be 3 different names"),
        (ROWS[0], Y, {}, ValueError, "two dimensions, rows and columns, not 1"),
    ],
)
def test_input_that_does_not_fit_is_refused_in_words(rows, labels, options, error, reason):
    with pytest.raises(error, match=reason):
        Moments.of(rows, labels, **options)


@pytest.mark.parametrize("weight", [1e-150, 1e-200, 5e-324, 1e150, 1e200, 1e308])
def test_weights_whose_squares_leave_the_floats_are_refused(weight):
    with pytest.raises(ValueError, match=r"weights of a class add up to .*: multiply all weights"):
        Moments.of(ROWS, Y, [1, weight, 1, weight])


@pytest.mark.parametrize("weight", [1e-130, 1e130])
def test_weights_of_any_sensible_size_are_legal(weight):
    light = Moments.of(ROWS, Y, np.full(4, weight))
    np.testing.assert_allclose(light.positive.covariance, Moments.of(ROWS, Y).positive.covariance)
    assert light.positive.effective_count == pytest.approx(2.0)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.int64])
def test_folds_of_any_width_times_classes_fit(dtype):
    n = 400
    rng = np.random.default_rng(0)
    rows, labels, fold = rng.normal(size=(n, 2)), np.arange(n) % 3, np.arange(n) % 100
    moments = Moments.of(rows, labels, fold=fold.astype(dtype))
    assert len(moments.folds) == 100
    for k in (0, 42, 43, 99):
        in_fold = fold == k
        alone = Moments.of(rows[in_fold], labels[in_fold], classes=[0, 1, 2])
        assert distance(moments.folds[k], alone) < 1e-14


@pytest.mark.parametrize("n_classes", [2, 127, 128, 1000])
def test_each_class_gets_its_own_rows_however_many_there_are(n_classes):
    labels = np.repeat(np.arange(n_classes), 2)
    rows = np.column_stack([labels, labels + np.tile([0.0, 1.0], n_classes)])
    weight = np.where(np.arange(2 * n_classes) == 1, 0.0, 1.0)
    moments = Moments.of(rows, labels, weight)
    assert [group.mean[0] for group in moments.by_class.values()] == list(range(n_classes))
    assert [group.count for group in moments.by_class.values()] == [1] + [2] * (n_classes - 1)
    assert moments.by_class[n_classes - 1].scatter.tolist() == [[0.0, 0.0], [0.0, 0.5]]


def test_classes_may_be_named_in_any_number():
    moments = Moments.of(ROWS, [300, 301, 300, 310], classes=range(1000))
    assert {label: g.count for label, g in moments.by_class.items() if g.count} == {
        300: 2,
        301: 1,
        310: 1,
    }
    np.testing.assert_array_equal(moments.by_class[300].mean, ROWS[[0, 2]].mean(axis=0))


@pytest.mark.parametrize("size", [1, 7, 1023, 1024, 1025, 5000])
def test_the_answer_does_not_depend_on_where_blocks_end(size):
    rng = np.random.default_rng(size)
    rows, labels = rng.normal(3.0, 1.0, (size, 2)), rng.integers(0, 2, size)
    moments = Moments.of(rows, labels, classes=[0, 1])
    for label in (0, 1):
        class_rows = rows[labels == label].astype(np.longdouble)
        group = moments.by_class[label]
        assert group.count == len(class_rows)
        if len(class_rows):
            centred = class_rows - class_rows.mean(axis=0)
            scale = np.sqrt(np.multiply.outer(*[(centred**2).sum(axis=0)] * 2))
            error = np.abs(group.scatter - centred.T @ centred)
            assert (error <= 1e-14 * scale).all()


@pytest.mark.parametrize("n_folds", [1, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_rearranged_and_gathered_to_the_same_bits(n_folds, dtype, order, monkeypatch):
    rng = np.random.default_rng(5)
    X = np.asarray(3.0 + rng.standard_normal((3000, 6)), dtype=dtype, order=order)
    y, fold = rng.integers(0, 2, 3000), rng.integers(0, n_folds, 3000)
    weight = rng.integers(0, 3, 3000).astype(float)  # rows of weight zero are in no group
    given = [{"fold": fold}, {"fold": fold, "sample_weight": weight}]
    rearranged = [Moments.of(X, y, **options) for options in given]
    monkeypatch.setattr(_dense_rows, "_REARRANGED_VALUES", 0)
    assert [Moments.of(X, y, **options) for options in given] == rearranged
