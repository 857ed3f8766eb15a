"""Fields: errors and warnings that carry what they are about as attributes."""

import pickle

import pytest

from directrix.exceptions import NegativeCountError
from directrix.exceptions.fields import Fields


def test_fields_are_the_arguments_of_a_class_also_by_keyword_and_by_default():
    error = NegativeCountError(cell="<= 30")

    assert error.args == (None, "<= 30")
    assert pickle.loads(pickle.dumps(error)).cell == "<= 30"  # noqa: S301 - our own bytes


def test_a_field_without_default_is_needed():
    class StaleError(Fields, ValueError):
        day: str

    assert str(StaleError("Monday")) == "Monday"
    with pytest.raises(TypeError, match="day"):
        StaleError()


def test_errors_with_equal_fields_are_two_errors():
    one, other = NegativeCountError("age"), NegativeCountError("age")

    assert one != other
    assert len({one, other}) == 2
