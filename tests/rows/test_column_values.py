from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from directrix.rows.frames import as_floats, refused_type


def objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


REFUSED = {
    "array of text": (np.array(["a", "1"]), "str"),
    "text": (objects(1.0, "a"), "str"),
    "bytes": (objects(None, b"a"), "bytes"),
    "dates": (objects(None, date(2020, 1, 1)), "date"),
    "array of dates": (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64[D]"),
    "array of durations": (np.array([3], dtype="m8[s]"), "timedelta64[s]"),
    "pandas text in objects": (pd.Series([None, "a"], dtype=object), "str"),
    "pandas text": (pd.Series(["a"], dtype="string"), "string"),
    "pandas categories": (pd.Series(pd.Categorical(["a", None])), "category"),
    "pandas intervals": (pd.Series(pd.cut([1.0, 2.0], 2)), "category"),
    "pandas times": (pd.Series(pd.to_datetime(["2020-01-01"])).astype("M8[us]"), "datetime64[us]"),
    "polars text": (pl.Series([None, "a"]), "String"),
    "polars objects": (pl.Series([object()], dtype=pl.Object), "object"),
    "polars dates": (pl.Series([date(2020, 1, 1)]), "Date"),
    "Arrow text": (pa.array([None, "a"]), "string"),
    "Arrow dictionary": (
        pa.array(["a"]).dictionary_encode(),
        "dictionary<values=string, indices=int32, ordered=0>",
    ),
    "Arrow chunks": (pa.chunked_array([["1"], ["a"]]), "string"),
    "Arrow times": (pa.array([date(2020, 1, 1)]), "date32[day]"),
}


@pytest.mark.parametrize(("column", "name"), REFUSED.values(), ids=REFUSED)
def test_the_type_of_what_is_not_numbers_is_named(column, name):
    assert refused_type(column) == name


NUMBERS = {
    "whole": (np.array([1, 2]), [1.0, 2.0]),
    "booleans": (np.array([True, False]), [1.0, 0.0]),
    "written numbers": (np.array(["1.5", "nan"]), [1.5, np.nan]),
    "objects": (
        objects(1, None, "2", Decimal("0.5"), pd.NA, pd.NaT),
        [1, np.nan, 2, 0.5, *[np.nan] * 2],
    ),
    "no values": (objects(None, None), [np.nan, np.nan]),
    "pandas": (pd.Series([1, None], dtype="Int64"), [1.0, np.nan]),
    "pandas categories": (pd.Series(pd.Categorical([3, 5])), [3.0, 5.0]),
    "polars": (pl.Series([None, True]), [np.nan, 1.0]),
    "Arrow": (pa.chunked_array([[1, None], [2]]), [1.0, np.nan, 2.0]),
    "Arrow decimals": (pa.array([Decimal("0.5"), None]), [0.5, np.nan]),
}


@pytest.mark.parametrize(("column", "values"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_become_floats_and_missing_values_nan(column, values):
    assert refused_type(column) is None
    floats = as_floats(np.asarray(column))
    assert floats.dtype == np.float64
    np.testing.assert_array_equal(floats, values)


@pytest.mark.parametrize("column", [objects({}), objects([1.0]), np.array([1j])])
def test_what_no_column_holds_is_neither(column):
    assert refused_type(column) is None
    with pytest.raises((TypeError, ValueError)):
        as_floats(np.asarray(column))
