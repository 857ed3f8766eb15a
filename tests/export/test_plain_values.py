from math import inf, isnan, nan

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from directrix.export.plain_values import METRICS, from_plain, to_plain
from directrix.metrics import FromRates
from directrix.metrics.table import TABLE

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda values: (
        st.lists(values)
        | st.lists(values).map(tuple)
        | st.dictionaries(st.booleans() | st.text() | st.integers(), values)
    ),
)


@settings(max_examples=examples(60))
@given(VALUES)
def test_what_is_written_is_read_back(value):
    assert repr(from_plain(to_plain(value))) == repr(value)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_metric_of_the_table_is_read_back(row):
    if not isinstance(row.example, FromRates):
        assert from_plain(to_plain(row.example)) == row.example


def test_the_lists_are_those_of_the_table():
    assert len(METRICS) == len({type(row.example) for row in TABLE}) - 1


def test_numbers_beyond_all_have_names():
    assert type(to_plain(np.float64(0.5))) is float
    assert to_plain([inf, -inf]) == [{"float": "inf"}, {"float": "-inf"}]
    assert isnan(from_plain(to_plain(nan)))


def test_arrays_and_splitters():
    for array in (np.array([1.5, -0.0]), np.array([1, 2]), np.array([True]), np.array([])):
        read = from_plain(to_plain(array))
        assert read.dtype == array.dtype
        assert read.tobytes() == array.tobytes()
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    assert repr(from_plain(to_plain(splitter))) == repr(splitter)


def test_none_is_a_key_as_any_other():
    value = {None: 1.5, "a": None}
    assert from_plain(to_plain(value)) == value
