import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from directrix.rows.frames import is_frame
from directrix.rows.rows import (
    ArrayRows,
    ColumnRows,
    FrameRows,
    SparseRows,
    as_rows,
    canonical_csr,
)

TABLE = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 6.0], [7.0, 8.0, 0.0], [0.0, 0.0, 12.0]])
NAMES = ("a", "b", "c")


def pandas(**kinds):
    return pd.DataFrame(TABLE, columns=NAMES).astype(kinds)


def polars(**kinds):
    return pl.DataFrame(TABLE, schema=list(NAMES)).cast(kinds)


HOLDERS = {
    "array": (lambda: TABLE, ArrayRows),
    "list": (TABLE.tolist, ArrayRows),
    "objects": (lambda: TABLE.astype(object), ArrayRows),
    "int32": (lambda: TABLE.astype(np.int32), ArrayRows),
    "float32": (lambda: TABLE.astype(np.float32), ArrayRows),
    "pandas": (pandas, FrameRows),
    "pandas of mixed types": (
        lambda: pandas(a="int8", b="Float64", c="Int64"),
        FrameRows,
    ),
    "polars": (polars, FrameRows),
    "polars of mixed types": (lambda: polars(a=pl.Int8, b=pl.Float32, c=pl.UInt64), FrameRows),
    "rows": (lambda: ArrayRows(TABLE), ArrayRows),
}
HOLDERS |= {
    f"sparse {kind}": (lambda kind=kind: sparse.csr_array(TABLE).asformat(kind), SparseRows)
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr")
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_any_block_can_be_read_from_any_holder(holder):
    make, kind = HOLDERS[holder]
    rows = as_rows(make())
    assert isinstance(rows, kind)
    assert rows.shape == TABLE.shape
    for start in range(len(TABLE)):
        for stop in range(start + 1, len(TABLE) + 1):
            np.testing.assert_array_equal(rows.block(start, stop), TABLE[start:stop])


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("index", [[], [0], [1, 2], [0, 2], [0, 1, 2]], ids=str)
def test_any_rows_can_be_taken_from_any_holder(holder, index):
    index = np.array(index, dtype=np.int64)
    np.testing.assert_array_equal(as_rows(HOLDERS[holder][0]()).take(index), TABLE[index])


@pytest.mark.parametrize("holder", HOLDERS)
def test_all_that_is_stored_can_be_listed(holder):
    read = np.zeros(TABLE.shape)
    for row, column, value in as_rows(HOLDERS[holder][0]()).stored():
        assert value.dtype == np.float64
        read[row, column] += value
    np.testing.assert_array_equal(read, TABLE)


def test_stored_values_come_a_few_at_a_time():
    rows = as_rows(np.zeros((50_000, 20)))
    sizes = [len(value) for _, _, value in rows.stored()]
    assert sum(sizes) == 1_000_000
    assert max(sizes) <= 2**18


def test_blocks_of_arrays_are_views():
    assert np.shares_memory(as_rows(TABLE).block(1, 3), TABLE)


def test_frames_bring_their_names():
    assert as_rows(pandas()).names == NAMES
    assert as_rows(polars()).names == NAMES
    assert as_rows(TABLE).names is None
    assert as_rows(pandas().set_axis([0, 1, 2], axis=1)).names is None


def test_columns_are_called_by_their_name_or_number():
    assert as_rows(pandas()).column(1) == "'b'"
    assert as_rows(TABLE).column(1) == "1"


@pytest.mark.parametrize("columns", [[2, 0], [1], [0, 1, 2], [1, 1]])
def test_some_columns_can_be_read_alone(columns):
    columns = np.array(columns)
    for rows in (ColumnRows(TABLE, columns), SparseRows(sparse.csr_array(TABLE), columns)):
        assert rows.shape == (4, len(columns))
        np.testing.assert_array_equal(rows.block(1, 3), TABLE[1:3, columns])


@pytest.mark.parametrize("make", [pandas, polars])
def test_some_columns_of_a_frame_can_be_read_alone(make):
    rows = FrameRows(make(), ["c", "a"])
    assert rows.names == ("c", "a")
    np.testing.assert_array_equal(rows.block(0, 2), TABLE[:2, [2, 0]])


@pytest.mark.parametrize("make", [pandas, polars])
def test_a_missing_column_is_named_with_the_known_ones(make):
    with pytest.raises(KeyError, match=r"no column named 'x'; the columns are \['a', 'b', 'c'\]"):
        FrameRows(make(), ["a", "x"])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, None], "b": [True, False]}).astype({"a": "Float64"}),
        pd.DataFrame({"a": [1, None], "b": [True, False]}).astype({"a": "Int64", "b": "boolean"}),
        pl.DataFrame({"a": [1, None], "b": [True, False]}),
        pl.DataFrame({"a": [1.0, None], "b": [True, False]}),
    ],
    ids=["pandas Float64", "pandas Int64", "polars Int64", "polars Float64"],
)
def test_booleans_are_numbers_and_missing_values_are_nan(frame):
    np.testing.assert_array_equal(as_rows(frame).block(0, 2), [[1.0, 1.0], [np.nan, 0.0]])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1.0], "the bad one": pd.Categorical([1])}),
        pd.DataFrame({"x": [1.0], "the bad one": ["a"]}),
        pd.DataFrame({"x": [1.0], "the bad one": [1]}).astype({"the bad one": object}),
        pd.DataFrame({"x": [1.0], "the bad one": pd.to_datetime(["2020-01-01"])}),
        pd.DataFrame({"x": [1.0], "the bad one": [1j]}),
        pl.DataFrame({"x": [1.0], "the bad one": ["a"]}),
        pl.DataFrame(
            {"x": [1.0], "the bad one": ["a"]}, schema_overrides={"the bad one": pl.Categorical}
        ),
        pl.DataFrame({"x": [1.0], "the bad one": [[1.0]]}),
    ],
)
def test_a_column_that_holds_no_numbers_is_named(frame):
    with pytest.raises(
        TypeError, match=r"column 'the bad one' holds .*, not numbers; use ScorecardClassifier"
    ):
        as_rows(frame)


def test_a_column_that_occurs_twice_is_refused():
    frame = pd.DataFrame(TABLE, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"a column occurs twice in .*; give every column a"):
        as_rows(frame)
    with pytest.raises(ValueError, match="a column occurs twice"):
        FrameRows(pandas(), ["a", "a"])
    assert FrameRows(frame, ["b"]).shape == (4, 1)


@pytest.mark.parametrize(
    ("data", "error", "reason"),
    [
        (np.zeros(3), ValueError, r"two dimensions.*X\.reshape\(-1, 1\) if it is a single feature"),
        (np.zeros((2, 2, 2)), ValueError, "two dimensions, rows and columns, not 3"),
        (3.0, ValueError, "two dimensions"),
        ([["a"]], TypeError, "column 0 holds str, not numbers"),
        ([["1.5"]], TypeError, "real numbers, not <U3; encode them first"),
        ([[1j]], TypeError, "real numbers, not complex128"),
        (np.array([["2020"]], dtype="M8[Y]"), TypeError, "column 0 holds datetime64"),
        (np.array([["a", 1.0]], dtype=object), TypeError, "column 0 holds str, not numbers"),
        (np.array([[None, {}]], dtype=object), TypeError, "must be numbers"),
        (sparse.csr_array(np.array([[1j]])), TypeError, "hold real numbers"),
        (sparse.coo_array(np.array([1.0])), TypeError, "have two dimensions"),
    ],
)
def test_what_are_no_features_is_refused_in_words(data, error, reason):
    with pytest.raises(error, match=reason):
        as_rows(data)


def test_frames_are_recognised():
    assert is_frame(pandas())
    assert is_frame(polars())
    assert not is_frame(TABLE)
    assert not is_frame(sparse.csr_array(TABLE))
    assert not is_frame(pandas()["a"])


def unsorted_with_duplicates():
    data, indices = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 0, 1])
    return sparse.csr_array((data, indices, np.array([0, 3, 4])), shape=(2, 3))


def test_duplicates_are_added_up_in_a_copy():
    matrix = unsorted_with_duplicates()
    tidy = canonical_csr(matrix)
    assert tidy.has_canonical_format
    assert tidy.nnz == 3
    np.testing.assert_array_equal(tidy.toarray(), [[6.0, 0.0, 1.0], [0.0, 8.0, 0.0]])
    untouched = unsorted_with_duplicates()
    np.testing.assert_array_equal(matrix.data, untouched.data)
    np.testing.assert_array_equal(matrix.indices, untouched.indices)


def test_a_matrix_in_order_is_not_copied():
    matrix = sparse.csr_array(TABLE)
    assert np.shares_memory(canonical_csr(matrix).data, matrix.data)


def test_values_stored_in_a_wide_sparse_matrix_are_listed_without_a_dense_copy():
    places = (np.arange(1000), 99 * np.arange(1000))
    matrix = sparse.csr_array((np.ones(1000), places), shape=(1000, 100_000))
    rows = as_rows(matrix)
    tracemalloc.start()
    stored = sum(len(value) for _, _, value in rows.stored())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stored == matrix.nnz
    assert peak < 2**20  # a dense copy would take 800 MB
