import numpy as np
import pytest

from directrix.exceptions.columns import ColumnNotFoundError
from directrix.fit.directions import Signs, column_position


def test_names_and_positions_are_the_same():
    names = ["age", "income"]
    by_name = Signs.of({"income": "decreasing", "age": "increasing"}, names, 2)
    assert by_name == Signs.of({1: "decreasing", 0: "increasing"}, names, 2)
    np.testing.assert_array_equal(by_name.array, [1, -1, 0])
    np.testing.assert_array_equal(by_name.only([1]), [0, -1, 0])
    assert by_name.requested == [("age", "increasing"), ("income", "decreasing")]


def test_no_signs_are_none():
    assert Signs.of(None, None, 3) is None
    assert Signs.of({}, None, 3) is None


@pytest.mark.parametrize(
    ("signs", "error", "message"),
    [
        ([1], TypeError, "must be a dict"),
        ({"age": 1}, ValueError, "'age' must be 'increasing' or 'decreasing', not 1"),
        ({"age": ["a", "b"]}, ValueError, "must be 'increasing' or"),
        ({"age": "increasing", 0: "increasing"}, ValueError, "twice"),
        ({"height": "increasing"}, ColumnNotFoundError, "no column named 'height'"),
        ({7: "increasing"}, ColumnNotFoundError, "no column named 7"),
    ],
)
def test_wrong_signs_are_named(signs, error, message):
    with pytest.raises(error, match=message):
        Signs.of(signs, ["age", "income"], 2)


def test_columns_without_names_go_by_position():
    assert column_position(1, ["", ""]) == 1
    with pytest.raises(ColumnNotFoundError):
        column_position("", ["", ""])
