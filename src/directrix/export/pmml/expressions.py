"""Expressions of PMML: constants, references to fields, and functions of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any
from xml.etree.ElementTree import Element

#: Largest whole number below which every whole number is a float.
_SAFE_INTEGER = 2.0**53


def element(tag: str, *children: Element, **attributes: str) -> Element:
    """Return an element with children."""
    made = Element(tag, attributes)
    made.extend(children)
    return made


def field(name: str) -> Element:
    """Return a reference to a field."""
    return element("FieldRef", field=name)


def constant(value: str, data_type: str = "double") -> Element:
    """Return a constant, given as text."""
    made = element("Constant", dataType=data_type)
    made.text = value
    return made


def apply(function: str, *arguments: Element) -> Element:
    """Return a function of expressions."""
    return element("Apply", *arguments, function=function)


def number_text(number: float) -> str:
    """Return a number as text that is read as the same float; whole numbers without a point."""
    whole = float(number).is_integer() and abs(number) < _SAFE_INTEGER
    return str(int(number)) if whole else repr(float(number))


def typed_text(value: Any) -> tuple[str, str]:
    """Return a label as text, and its data type."""
    if isinstance(value, bool):
        return str(value).lower(), "boolean"
    if isinstance(value, int):
        return str(value), "integer"
    if isinstance(value, float):
        return repr(value), "double"
    return str(value), "string"


class ExpressionArithmetic:
    """Arithmetic whose values are expressions of PMML."""

    def add(self, value: Element, number: float) -> Element:
        """Return the value plus a number."""
        return apply("+", value, constant(number_text(number)))

    def multiply(self, value: Element, number: float) -> Element:
        """Return the value times a number."""
        return apply("*", value, constant(number_text(number)))

    def slopes(self, value: Element, below: float, above: float) -> Element:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        negative = apply("lessThan", value, constant("0"))
        slope = apply("if", negative, constant(number_text(below)), constant(number_text(above)))
        return apply("*", slope, deepcopy(value))  # an element has one parent

    def at_most(self, value: Element, number: float) -> Element:
        """Return the lesser of the value and a number."""
        return apply("min", value, constant(number_text(number)))

    def sigmoid(self, value: Element) -> Element:
        """Return 1 / (1 + exp(-value)); an exponential that overflows is infinite."""
        exponential = apply("exp", self.multiply(value, -1.0))
        return apply("/", constant("1"), self.add(exponential, 1.0))
