"""Python objects have the kind that all of them have; others are texts."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from directrix.exceptions.columns import ColumnKindError
from directrix.tables.table import read_factor, read_objects, sorted_levels, text_of


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        ([True, None, False], "boolean", [1, np.nan, 0]),
        ([np.True_, False], "boolean", [1, 0]),
        ([True, 2, None], "number", [1, 2, np.nan]),
        ([Decimal("0.1"), Fraction(1, 4), np.float32(2)], "number", [0.1, 0.25, 2]),
        ([float("nan"), Decimal("NaN"), 1], "number", [np.nan, np.nan, 1]),
        ([Decimal("sNaN"), Decimal("-sNaN"), 1], "number", [np.nan, np.nan, 1]),
        ([float("inf"), -float("inf")], "number", [np.inf, -np.inf]),
        ([date(1970, 1, 3), None, np.datetime64("NaT")], "date", [2, np.nan, np.nan]),
        ([timedelta(hours=6), np.timedelta64(1, "D")], "number", [0.25, 1]),
        (["b", "", None, "a"], "text", [2, 0, np.nan, 1]),
        ([None, None], "text", [np.nan, np.nan]),
    ],
)
def test_kind_of_objects(values, kind, numbers):
    reading = read_objects(values, "x", None)
    assert reading.kind == kind
    np.testing.assert_array_equal(reading.values, numbers)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
def test_mixed_objects_are_texts_in_any_order(order):
    values = [True, 1, "a", 2.5]
    reading = read_objects([values[k] for k in order], "x", None)
    texts = [reading.levels[int(code)] for code in reading.values]
    assert texts == [["True", "1", "a", "2.5"][k] for k in order]
    assert list(reading.levels) == sorted(texts)


def test_numbers_are_texts_where_texts_are_expected():
    reading = read_objects([1, 2.0, Decimal(2), None, 1e300], "x", "text")
    assert reading.levels == ("1", str(int(1e300)), "2")
    np.testing.assert_array_equal(reading.values, [0, 2, 2, np.nan, 1])


def test_a_whole_number_has_one_text_whatever_its_type():
    assert {text_of(one, "x") for one in (1, 1.0, np.int8(1), np.float32(1), Decimal(1))} == {"1"}


def test_what_cannot_be_read_is_named():
    with pytest.raises(ColumnKindError, match="'x' holds a number too large") as caught:
        read_objects([10**400], "x", None)
    assert caught.value.column == "x"
    with pytest.raises(ColumnKindError, match="not UTF-8"):
        read_objects([b"\xff", b"a"], "x", None)
    with pytest.raises(ValueError, match="Complex data not supported: column 'x'"):
        read_objects([1j, 2.0], "x", None)


def test_levels_are_those_that_occur():
    reading = sorted_levels(np.array([2, -1, 0, 3]), ["b", "unused", "a", "b"])
    assert reading.levels == ("a", "b")
    np.testing.assert_array_equal(reading.values, [0, np.nan, 1, 1])
    assert read_factor([]).levels == ()
