"""Conditions on one column: which values belong to a cell, as predicates and as expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from directrix.export.pmml.expressions import apply, constant, element, field, number_text
from directrix.export.sql.cells import last_microsecond
from directrix.tables import LevelBins, NumberBins
from directrix.tables.bins import Bins

Result = TypeVar("Result")

#: Texts that an array of PMML, whose entries are separated by spaces, can hold in quotes. Engines
#: read other texts, such as those with quotes, from an attribute of their own.
_IN_ARRAY = re.compile(r'[^\s"\\]+( [^\s"\\]+)*')
_ARRAY_TYPES = {"string": "string", "integer": "int"}

#: Data type and operational type of a column, by its kind. A date has a time of day.
FIELD_TYPES = {
    "number": ("double", "continuous"),
    "boolean": ("boolean", "categorical"),
    "text": ("string", "categorical"),
    "date": ("dateTime", "continuous"),
}


class Condition(Protocol):
    """A set of values of one column."""

    def predicate(self, name: str) -> Element:
        """Return the predicate of a field that holds for these values."""

    def expression(self, name: str) -> Element:
        """Return an expression of a field that is true for these values."""


@dataclass(frozen=True)
class Missing:
    """The missing value."""

    def predicate(self, name: str) -> Element:
        """Return the predicate of a field that is missing."""
        return element("SimplePredicate", field=name, operator="isMissing")

    def expression(self, name: str) -> Element:
        """Return an expression that is true if a field is missing."""
        return apply("isMissing", field(name))


@dataclass(frozen=True)
class AnyValue:
    """Every value that no condition before it holds for."""

    def predicate(self, name: str) -> Element:
        """Return the predicate that always holds."""
        del name
        return element("True")

    def expression(self, name: str) -> Element:
        """Return the expression that is always true."""
        del name
        return constant("true", "boolean")


@dataclass(frozen=True)
class OneOf:
    """Some values.

    Parameters
    ----------
    values : tuple of str
    data_type : {"string", "integer", "double", "boolean", "dateTime"}
    """

    values: tuple[str, ...]
    data_type: str

    def predicate(self, name: str) -> Element:
        """Return the predicate of a field with one of the values."""
        plain = [value for value in self.values if _IN_ARRAY.fullmatch(value)]
        if self.data_type not in _ARRAY_TYPES or len(plain) < 2:
            plain = []
        made = [
            element("SimplePredicate", field=name, operator="equal", value=value)
            for value in self.values
            if value not in plain
        ]
        if plain:
            array = element("Array", type=_ARRAY_TYPES[self.data_type], n=str(len(plain)))
            texts = [f'"{value}"' for value in plain] if self.data_type == "string" else plain
            array.text = " ".join(texts)
            made.append(element("SimpleSetPredicate", array, field=name, booleanOperator="isIn"))
        return _joined("or", made)

    def expression(self, name: str) -> Element:
        """Return an expression that is true if a field has one of the values."""
        values = [constant(value, self.data_type) for value in self.values]
        return apply("equal" if len(values) == 1 else "isIn", field(name), *values)


@dataclass(frozen=True)
class Range:
    """Values above a bound, or up to one, or both.

    Parameters
    ----------
    bounds : tuple of pairs of str
        Operators and bounds.
    data_type : {"double", "dateTime"}
    """

    bounds: tuple[tuple[str, str], ...]
    data_type: str

    def predicate(self, name: str) -> Element:
        """Return the predicate of a field between the bounds."""
        simple = [
            element("SimplePredicate", field=name, operator=operator, value=bound)
            for operator, bound in self.bounds
        ]
        return _joined("and", simple)

    def expression(self, name: str) -> Element:
        """Return an expression that is true if a field is between the bounds."""
        simple = [
            apply(operator, field(name), constant(bound, self.data_type))
            for operator, bound in self.bounds
        ]
        return simple[0] if len(simple) == 1 else apply("and", *simple)


def conditions_by_cell(bins: Bins, results: Sequence[Result]) -> list[tuple[Condition, Result]]:
    """Return conditions on a column and their results, of which the first that holds counts.

    One of them holds for every value. Neighbouring bins, and levels, with equal results share a
    condition.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    results : sequence
        For each cell.
    """
    if isinstance(bins, LevelBins):
        return _levels(bins, results)
    if bins.kind == "boolean":
        no, yes = (results[int(cell)] for cell in bins.cells(np.array([0.0, 1.0])))
        return [
            (Missing(), results[0]),
            (OneOf(("true",), "boolean"), yes),
            (OneOf(("false",), "boolean"), no),
        ]
    return _numbers(bins, results)


def _levels(bins: LevelBins, results: Sequence[Any]) -> list[tuple[Condition, Any]]:
    by_result: dict[Any, list[str]] = {}
    for level, cell in zip(bins.levels, bins.level_cells, strict=True):
        if results[cell] != results[1]:
            by_result.setdefault(results[cell], []).append(level)
    sets: list[tuple[Condition, Any]] = [
        (OneOf(tuple(levels), "string"), result) for result, levels in by_result.items()
    ]
    return [(Missing(), results[0]), *sets, (AnyValue(), results[1])]


def _numbers(bins: NumberBins, results: Sequence[Any]) -> list[tuple[Condition, Any]]:
    data_type, _ = FIELD_TYPES[bins.kind]
    made: list[tuple[Condition, Any]] = [(Missing(), results[0])]
    made += [(_equal(bins, value), results[cell]) for value, cell in bins.special_forms]
    low: tuple[tuple[str, str], ...] = ()
    for k, cut in enumerate(bins.cuts):
        if results[1 + k] == results[2 + k]:
            continue
        below, above = _sides(bins, cut)
        made.append((Range((*low, below), data_type), results[1 + k]))
        low = (above,)
    last: Condition = Range(low, data_type) if low else AnyValue()
    return [*made, (last, results[bins.n_ordered])]


def _equal(bins: NumberBins, value: float) -> Condition:
    """Return the condition for a special value; that of a date may be several microseconds."""
    if bins.kind != "date":
        return OneOf((number_text(value),), "double")
    first = last_microsecond(float(np.nextafter(value, -np.inf))) + 1
    last = last_microsecond(value)
    if first == last:
        return OneOf((_time_text(first),), "dateTime")
    bounds = (("greaterOrEqual", _time_text(first)), ("lessOrEqual", _time_text(last)))
    return Range(bounds, "dateTime")


def _sides(bins: NumberBins, cut: float) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the operators and bounds for values up to a cut, and above it."""
    text = _time_text(last_microsecond(cut)) if bins.kind == "date" else number_text(cut)
    return ("lessOrEqual", text), ("greaterThan", text)


def _time_text(microseconds: int) -> str:
    return str(np.datetime64(microseconds, "us"))


def _joined(operator: str, predicates: list[Element]) -> Element:
    if len(predicates) == 1:
        return predicates[0]
    return element("CompoundPredicate", *predicates, booleanOperator=operator)
