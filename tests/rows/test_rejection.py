import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from directrix.exceptions.columns import InfiniteValuesError, MissingValuesError, NotNumericError
from directrix.rows.rows import as_rows, explain_rejection, not_finite_error

HOLE = [1.0, np.nan]

EXPLAINED = {
    "text before missing values": (
        pd.DataFrame({"hole": HOLE, "town": ["a", "b"]}),
        NotNumericError,
        ("town",),
    ),
    "missing values before infinity": (
        pd.DataFrame({"far": [np.inf, 1.0], "hole": HOLE}),
        MissingValuesError,
        ("hole",),
    ),
    "infinity": (
        pl.DataFrame({"a": [1.0, 2.0], "far": [1.0, -np.inf]}),
        InfiniteValuesError,
        ("far",),
    ),
    "a name that occurs twice": (
        pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=["x", "x"]),
        NotNumericError,
        ("x",),
    ),
    "names that are numbers": (pd.DataFrame({7: [1.0, 2.0], 9: HOLE}), MissingValuesError, (9,)),
    "a record batch": (
        pa.record_batch({"a": [1.0, 2.0], "hole": [1, None]}),
        MissingValuesError,
        ("hole",),
    ),
    "lists": ([[1.0, "a"], [2.0, "b"]], NotNumericError, (1,)),
    "an array": (np.array([[1.0, 2.0], HOLE]), MissingValuesError, (1,)),
    "a sparse matrix": (sparse.coo_array(np.array([[0.0, 2.0], HOLE])), MissingValuesError, (1,)),
}


@pytest.mark.parametrize(("data", "error", "columns"), EXPLAINED.values(), ids=EXPLAINED)
def test_the_columns_of_the_first_problem_are_named(data, error, columns):
    explained = explain_rejection(data)
    assert type(explained) is error
    assert explained.columns == columns


OTHER_REASONS = {
    "numbers": np.eye(2),
    "one dimension": np.array(["a", "b"]),
    "one dimension of numbers": np.array([1.0, np.nan]),
    "a single text": "a",
    "nothing": None,
    "rows of different length": [[1.0], [1.0, 2.0]],
    "complex numbers": np.array([[1j]]),
    "sparse complex numbers": sparse.csr_array(np.array([[1j]])),
    "dictionaries": np.array([[{}, 1.0]], dtype=object),
    "no columns": pd.DataFrame(index=[0, 1]),
    "no rows": np.empty((0, 3)),
    "an array without columns": np.empty((3, 0)),
    "a sparse matrix without columns": sparse.csr_array((3, 0)),
}


@pytest.mark.parametrize("data", OTHER_REASONS.values(), ids=OTHER_REASONS)
def test_a_table_refused_for_another_reason_is_not_explained(data):
    assert explain_rejection(data) is None


def test_a_row_counts_once_however_many_values_it_lacks():
    rows = np.ones((50_000, 30))
    rows[::1000, ::3] = np.nan
    error = not_finite_error(as_rows(rows))
    assert error.columns == tuple(range(0, 30, 3))
    assert error.rows == 50


def test_only_rows_that_are_present_are_searched():
    rows = as_rows(np.array([[np.nan, 1.0], [1.0, np.inf], [1.0, 1.0]]))
    present = np.array([False, True, True])
    error = not_finite_error(rows, present, partial=True)
    assert isinstance(error, InfiniteValuesError)
    assert (error.columns, error.rows, error.partial) == ((1,), 1, True)
    assert not_finite_error(rows, ~present | [False, False, True]).columns == (0,)
    assert not_finite_error(rows, np.array([False, False, True])) is None


def test_a_frame_is_searched_without_a_copy_of_it():
    frame = pd.DataFrame(np.zeros((200_000, 40)))
    frame.iloc[-1, -1] = np.nan
    tracemalloc.start()
    error = explain_rejection(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (error.columns, error.rows) == ((39,), 1)
    assert peak < 2**25  # a copy would take 64 MB
