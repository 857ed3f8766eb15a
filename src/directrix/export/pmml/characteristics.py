"""Characteristics of a scorecard in PMML: the points of the columns and crosses of a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import numpy as np

from directrix.export.pmml.conditions import AnyValue, Condition, OneOf, conditions_by_cell
from directrix.export.pmml.expressions import apply, constant, element, number_text

if TYPE_CHECKING:
    from directrix._typing import IntArray
    from directrix.models.card import Card, Cross
    from directrix.tables.bins import Bins


@dataclass(frozen=True)
class Characteristic:
    """Points for the values of one field.

    Parameters
    ----------
    name : str
        Name of the column, or of both columns of a cross.
    field : str
        Field that the conditions are about.
    cases : tuple of pairs of Condition and float
        Conditions and points, of which the first that holds counts.
    columns : tuple of int
        Positions of the columns that the field is made of.
    derived : tuple of Element
        Definitions of derived fields that are needed.
    """

    name: str
    field: str
    cases: tuple[tuple[Condition, float], ...]
    columns: tuple[int, ...]
    derived: tuple[Element, ...] = ()

    def to_element(self, reason: str, *, more_is_adverse: bool) -> Element:
        """Return the element, with the points of the best case as baseline for reasons."""
        points = [points for _, points in self.cases]
        best = min(points) if more_is_adverse else max(points)
        attributes = [
            element("Attribute", condition.predicate(self.field), partialScore=number_text(points))
            for condition, points in self.cases
        ]
        return element(
            "Characteristic",
            *attributes,
            name=self.name,
            reasonCode=reason,
            baselineScore=number_text(best),
        )


def characteristics(card: Card, names: Sequence[str]) -> list[Characteristic]:
    """Return the characteristics of a card; a column without points has none.

    Parameters
    ----------
    card : Card
    names : sequence of str
        Names of the columns.
    """
    made = [
        Characteristic(name, name, tuple(conditions_by_cell(bins, points.tolist())), (k,))
        for k, (name, bins, points) in enumerate(zip(names, card.bins, card.columns, strict=True))
        if points.any()
    ]
    taken = set(names)
    made += [_of_cross(card, cross, names, taken) for cross in card.crosses if cross.points.any()]
    # PMML has no scorecard without a characteristic.
    return made or [Characteristic(names[0], names[0], ((AnyValue(), 0.0),), (0,))]


def reasons_by_name(
    parts: Sequence[Characteristic], reason_codes: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the reason code of each characteristic: its name, unless another is given."""
    codes = {part.name: part.name for part in parts}
    given = reason_codes or {}
    unknown = [name for name in given if name not in codes]
    if unknown:
        msg = (
            f"reason_codes has {unknown[0]!r}, which is no column or cross with points; there are "
            f"{', '.join(map(repr, codes))}"
        )
        raise ValueError(msg)
    return codes | dict(given)


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that no field has yet, by underscores at its end, and note it as taken."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _of_cross(card: Card, cross: Cross, names: Sequence[str], taken: set[str]) -> Characteristic:
    """Return the characteristic of a cross.

    All predicates of a characteristic must be about a single field: here the number of a cell of
    the table of points, row by row, which is derived from both columns.
    """
    left, right = (names[k] for k in cross.columns)
    name = f"{left} x {right}"
    cell = free_name(f"cell of {name}", taken)
    width = cross.points.shape[1]
    row, column = (
        _group(card.bins[k], merged, names[k])
        for k, merged in zip(cross.columns, cross.merged, strict=True)
    )
    number = apply("+", apply("*", row, constant(str(width), "integer")), column)
    derived = element("DerivedField", number, name=cell, optype="categorical", dataType="integer")
    by_points: dict[float, list[str]] = {}
    for k, points in enumerate(cross.points.ravel().tolist()):
        by_points.setdefault(points, []).append(str(k))
    cases = tuple(
        (OneOf(tuple(numbers), "integer"), points) for points, numbers in by_points.items()
    )
    return Characteristic(name, cell, cases, cross.columns, (derived,))


def _group(bins: Bins, merged: IntArray, name: str) -> Element:
    """Return an expression for the row or column of a cross that a value belongs to."""
    *cases, (_, last) = conditions_by_cell(bins, np.asarray(merged).tolist())
    expression = constant(str(last), "integer")
    for condition, group in reversed(cases):
        chosen = constant(str(group), "integer")
        expression = apply("if", condition.expression(name), chosen, expression)
    return expression
