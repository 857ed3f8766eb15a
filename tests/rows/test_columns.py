import numpy as np
import pandas as pd
import polars as pl
import pytest

from directrix.rows.rows import checked_names, column_index

NAMES = ("a", "b", "größe", "d")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (2, [2]),
        (-1, [3]),
        ([3, 0], [3, 0]),
        ((1,), [1]),
        (range(1, 3), [1, 2]),
        (np.array([0, 2], dtype=np.uint8), [0, 2]),
        (slice(None), [0, 1, 2, 3]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -2), [3, 1]),
        ([True, False, False, True], [0, 3]),
        (np.zeros(4, dtype=bool), []),
        ([], []),
        ("b", [1]),
        (["größe", "a"], [2, 0]),
        (np.array(["d"]), [3]),
        (np.array(["d", "a"], dtype=object), [3, 0]),
        (np.array(["d", "größe"], dtype=np.dtypes.StringDType()), [3, 2]),
        (pd.Index(["d", "b"]), [3, 1]),
        (pl.Series(["d", "b"]), [3, 1]),
    ],
)
def test_columns_can_be_chosen_in_many_ways(columns, expected):
    index = column_index(columns, 4, NAMES)
    assert index.tolist() == expected
    assert index.dtype.kind == "i"


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(KeyError, match=r"no feature named 'x'; the features are .*'größe'"):
        column_index(["a", "x"], 4, NAMES)


def test_a_name_without_names_says_that_there_are_none():
    with pytest.raises(KeyError, match="the features have no names"):
        column_index("a", 4, None)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([0, 4], "out of bounds"),
        (-5, "out of bounds"),
        ([True, False], "boolean"),
        ([0.0, 1.0], "integer"),
        ([[0, 1]], r"must be a list, not an array of shape \(1, 2\)"),
        (np.eye(4, dtype=bool), r"must be a list, not an array of shape \(4, 4\)"),
        ([None], "integer"),
    ],
)
def test_what_is_no_column_is_refused(columns, reason):
    with pytest.raises(IndexError, match=reason):
        column_index(columns, 4, NAMES)


@pytest.mark.parametrize(
    "names", [["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"]), "ab"]
)
def test_names_become_a_tuple_of_text(names):
    checked = checked_names(names, 2)
    assert checked == ("a", "b")
    assert [type(name) for name in checked] == [str, str]


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["a", "a"], []])
def test_names_must_be_as_many_as_the_features_and_different(names):
    with pytest.raises(ValueError, match="feature_names must be 2 different names"):
        checked_names(names, 2)
