import math
from xml.etree import ElementTree as ET

import pytest

from directrix.estimators.scoring import Sigmoid
from directrix.export.pmml import _PmmlArithmetic, field, number_text, typed_text


def value_of(expression, value):
    if expression.tag == "FieldRef":
        return value
    if expression.tag == "Constant":
        return float(expression.text)
    arguments = [value_of(part, value) for part in expression]
    return {
        "+": lambda a, b: a + b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "exp": math.exp,
        "lessThan": lambda a, b: a < b,
        "if": lambda condition, a, b: a if condition else b,
    }[expression.get("function")](*arguments)


@pytest.mark.parametrize("score", [-3.5, -1e-300, 0.0, 0.25, 40.0])
def test_a_probability_is_that_of_the_sigmoid(score):
    sigmoid = Sigmoid(offset=-0.3, below=0.7, above=2.0)
    arithmetic = _PmmlArithmetic()
    expression = sigmoid.probability(field("s"), arithmetic)
    log_odds = -0.3 + (0.7 if score < 0 else 2.0) * score
    assert value_of(expression, score) == pytest.approx(1 / (1 + math.exp(-log_odds)), rel=1e-14)
    # An element that occurred twice would be indented wrongly.
    parts = list(expression.iter())
    assert len({id(part) for part in parts}) == len(parts)
    assert b"FieldRef" in ET.tostring(expression)


@pytest.mark.parametrize("number", [0.0, -0.0, -3.0, 0.1, 5e-324, 1e300, 2.0**60, 1 / 3])
def test_numbers_are_read_as_they_were(number):
    assert float(number_text(number)) == number
    assert ("." in number_text(number)) <= (not number.is_integer() or number > 2**53)


def test_labels_have_types():
    labels = [True, -2, 0.5, "a b"]
    assert [typed_text(label) for label in labels] == [
        ("true", "boolean"),
        ("-2", "integer"),
        ("0.5", "double"),
        ("a b", "string"),
    ]
