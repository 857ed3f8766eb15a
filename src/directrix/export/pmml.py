"""A scorecard as a PMML document: fields, characteristics, and the outputs made of the points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

import numpy as np

from directrix.cards.card import Card
from directrix.estimators.scoring import ScoringFormula
from directrix.exceptions import LabelRangeError
from directrix.export.expressions import (
    AnyValue,
    Between,
    Cases,
    Category,
    Condition,
    Interval,
    IsMissing,
    OneOf,
    cases,
    free_name,
)
from directrix.export.scoring_formula import scoring_formula

if TYPE_CHECKING:
    from directrix.cards.card import Cross

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
_REASONS = 4  # reason codes of a row
#: Characters that no XML document can hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Texts that an array of PMML, whose entries are separated by spaces, can hold in quotes. Engines
#: read other texts, such as those with quotes, from an attribute of their own.
_IN_ARRAY = re.compile(r'[^\s"\\]+( [^\s"\\]+)*')
_ARRAY_TYPES = {"string": "string", "integer": "int"}
#: Data type and operational type of a column, by its kind. A date has a time of day.
_FIELD_TYPES = {
    "number": ("double", "continuous"),
    "boolean": ("boolean", "categorical"),
    "text": ("string", "categorical"),
    "date": ("dateTime", "continuous"),
}
#: Largest whole number below which every whole number is a float.
_SAFE_INTEGER = 2.0**53


def to_pmml(
    classifier: Any,
    *,
    columns: Sequence[str] | None = None,
    reason_codes: Mapping[str, str] | None = None,
) -> str:
    """Return a fitted scorecard as a PMML 4.4 document with a ``Scorecard`` model.

    Raw columns in, points out: every column is a characteristic, whose attributes are the bins with
    their points; neighbouring bins with equal points are one attribute. A cross is a characteristic
    of a derived field, the number of its cell. The outputs are

    - ``points``: what `ScorecardClassifier.predict_points` returns;
    - ``score``: how far the points are from the cutoff; above zero the last class is predicted;
    - the probability of the positive class, called after it, such as ``probability_bad``;
    - ``prediction``, a label;
    - ``reason_1`` to ``reason_4``: the columns that speak most for the positive class, by the
      points of a row against those of the bin that speaks least for it.

    An output that a column is called already has an underscore at the end of its name.

    Missing values, special values, texts that training rows did not have, and infinite numbers are
    scored as by the classifier. NaN is a missing number. A date is a date and time in UTC, such as
    ``2024-02-29T00:00:00``. A column that gives every row zero points is left out.

    Parameters
    ----------
    classifier : ScorecardClassifier, fitted
    columns : sequence of str, optional
        Names of the fields; by default those of the columns that the classifier was fitted with.
    reason_codes : dict of str, optional
        Reason codes by name of the column (``"age"``) or cross (``"age x income"``); by default a
        reason code is that name.

    Raises
    ------
    TypeError
        For another classifier: PMML has no model for its probabilities.
    ValueError
        For a text that no XML document can hold, and for labels beyond 32 bits.

    Examples
    --------
    >>> from directrix import ScorecardClassifier
    >>> from directrix.export import to_pmml
    >>> rows = [[age, home] for age in range(20, 60) for home in ("own", "rent")]
    >>> card = ScorecardClassifier("auc", cv=2)
    >>> card = card.fit(rows, [abs(age - 40) + 9 * (home == "rent") > 12 for age, home in rows])
    >>> text = to_pmml(card, columns=["age", "home"])
    >>> print(text[text.index("<DataField name=") :].split(" <MiningSchema>")[0])
    <DataField name="age" optype="continuous" dataType="double">
          <Value value="NaN" property="missing" />
        </DataField>
        <DataField name="home" optype="categorical" dataType="string" />
      </DataDictionary>
      <Scorecard functionName="regression" ... reasonCodeAlgorithm="pointsAbove" ...>
    """
    formula = scoring_formula(classifier, columns)
    card = formula.card
    if card is None:
        msg = (
            f"to_pmml writes scorecards, not a {type(classifier).__name__}: write it with to_onnx, "
            "to_sql, to_json or to_python"
        )
        raise TypeError(msg)
    names = formula.features or tuple(bins.name for bins in card.bins)
    parts = characteristics(card, names)
    used = sorted({k for part in parts for k in part.columns})
    about = f"{type(classifier).__name__}, points for the bins of raw columns"
    document = element(
        "PMML",
        element("Header", element("Application", name="directrix"), description=about),
        element("DataDictionary", *(_data_field(card, k, names[k]) for k in used)),
        _scorecard(formula, card, parts, reason_codes, [names[k] for k in used]),
        xmlns=_NAMESPACE,
        version="4.4",
    )
    return _to_text(document)


def _data_field(card: Card, index: int, name: str) -> Element:
    data_type, operational = _FIELD_TYPES[card.bins[index].kind]
    made = element("DataField", name=name, optype=operational, dataType=data_type)
    if data_type == "double":
        made.append(element("Value", value="NaN", property="missing"))
    return made


def _scorecard(
    formula: ScoringFormula,
    card: Card,
    parts: Sequence[Characteristic],
    reason_codes: Mapping[str, str] | None,
    used: Sequence[str],
) -> Element:
    codes = reasons_by_name(parts, reason_codes)
    adverse = card.higher_is_positive
    derived = [definition for part in parts for definition in part.derived]
    taken = {*used, *(part.field.name for part in parts)}
    children = [
        element(
            "MiningSchema",
            *(element("MiningField", name=name, invalidValueTreatment="asIs") for name in used),
        ),
        _output(formula, card, min(_REASONS, len(parts)), taken),
        *([element("LocalTransformations", *derived)] if derived else []),
        element(
            "Characteristics",
            *(part.to_element(codes[part.name], more_is_adverse=adverse) for part in parts),
        ),
    ]
    return element(
        "Scorecard",
        *children,
        functionName="regression",
        algorithmName="directrix",
        initialScore=number_text(card.intercept),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsAbove" if adverse else "pointsBelow",
        baselineMethod="min" if adverse else "max",
    )


def _output(formula: ScoringFormula, card: Card, n_reasons: int, taken: set[str]) -> Element:
    """Return the outputs: points, and what follows from them."""
    points, score = free_name("points", taken), free_name("score", taken)
    arithmetic = _PmmlArithmetic()
    above = arithmetic.add(field(points), -card.cutoff)
    signed = above if card.higher_is_last else arithmetic.multiply(above, -1.0)
    made = [
        _output_field(points, "predictedValue", "double"),
        _output_field(score, "transformedValue", "double", signed),
    ]
    probability = formula.positive_probability(field(score), arithmetic)
    name = free_name(formula.probability_name, taken)
    made.append(_output_field(name, "transformedValue", "double", probability))
    for label in formula.classes:
        if type(label) is int and not -(1 << 31) <= label < 1 << 31:
            raise LabelRangeError(label, "PMML")
    (negative, data_type), (positive, _) = (typed_text(label) for label in formula.classes)
    is_positive = apply("greaterThan", field(score), constant("0"))
    labels = constant(positive, data_type), constant(negative, data_type)
    decision = apply("if", is_positive, *labels)
    made.append(_output_field(free_name("prediction", taken), "decision", data_type, decision))
    for rank in range(1, n_reasons + 1):
        reason = _output_field(free_name(f"reason_{rank}", taken), "reasonCode", "string")
        reason.set("rank", str(rank))
        made.append(reason)
    return element("Output", *made)


def _output_field(name: str, feature: str, data_type: str, *expression: Element) -> Element:
    optype = "continuous" if data_type == "double" else "categorical"
    return element(
        "OutputField", *expression, name=name, feature=feature, optype=optype, dataType=data_type
    )


def _to_text(document: Element) -> str:
    """Return a document as text, or raise ValueError if XML cannot hold a text in it."""
    for part in document.iter():
        for text in (*part.attrib.values(), part.text or ""):
            if _NOT_XML.search(text):
                msg = (
                    f"XML cannot hold the text {text!r}, and so PMML cannot: replace it in the "
                    "table before the fit"
                )
                raise ValueError(msg)
    ET.indent(document)
    text = ET.tostring(document, encoding="unicode")
    # A parser of XML reads a carriage return as a line feed unless it is escaped.
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.replace("\r", "&#13;")


# ── Characteristics: the points of the columns and crosses of a card ──────────────────────────────


@dataclass(frozen=True)
class Characteristic:
    """Points for the values of one field, under the name of a column or of both of a cross.

    `columns` are the positions of the columns that the field is made of, and `derived` the
    definitions of derived fields that it needs.
    """

    name: str
    field: Field
    cases: Cases
    columns: tuple[int, ...]
    derived: tuple[Element, ...] = ()

    def to_element(self, reason: str, *, more_is_adverse: bool) -> Element:
        """Return the element, with the points of the best case as baseline for reasons."""
        points = [points for _, points in self.cases]
        best = min(points) if more_is_adverse else max(points)
        attributes = [
            element("Attribute", self.field.predicate(condition), partialScore=number_text(points))
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
    """Return the characteristics of a card with named columns; one without points has none."""
    fields = [
        Field(name, _FIELD_TYPES[bins.kind][0]) for name, bins in zip(names, card.bins, strict=True)
    ]
    made = [
        Characteristic(fields[k].name, fields[k], cases(bins, points.tolist()), (k,))
        for k, (bins, points) in enumerate(zip(card.bins, card.columns, strict=True))
        if points.any()
    ]
    taken = set(names)
    made += [_of_cross(card, cross, fields, taken) for cross in card.crosses if cross.points.any()]
    # PMML has no scorecard without a characteristic.
    return made or [Characteristic(names[0], fields[0], [(AnyValue(), 0.0)], (0,))]


def _of_cross(card: Card, cross: Cross, fields: Sequence[Field], taken: set[str]) -> Characteristic:
    """Return the characteristic of a cross.

    All predicates of a characteristic must be about a single field: here the number of a cell of
    the table of points, row by row, which is derived from both columns.
    """
    name = " x ".join(fields[k].name for k in cross.columns)
    cell = free_name(f"cell of {name}", taken)
    groups = []
    for k, merged in zip(cross.columns, cross.merged, strict=True):
        *some, (_, last) = cases(card.bins[k], np.asarray(merged).tolist())
        group = constant(str(last), "integer")
        for condition, number in reversed(some):
            chosen = constant(str(number), "integer")
            group = apply("if", fields[k].holds(condition), chosen, group)
        groups.append(group)
    width = constant(str(cross.points.shape[1]), "integer")
    number = apply("+", apply("*", groups[0], width), groups[1])
    derived = element("DerivedField", number, name=cell, optype="categorical", dataType="integer")
    by_points: dict[float, list[int]] = {}
    for k, points in enumerate(cross.points.ravel().tolist()):
        by_points.setdefault(points, []).append(k)
    of_cells: Cases = [(OneOf(tuple(cells)), points) for points, cells in by_points.items()]
    return Characteristic(name, Field(cell, "integer"), of_cells, cross.columns, (derived,))


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


# ── Fields: conditions on their values, as predicates and as expressions ──────────────────────────


@dataclass(frozen=True)
class Field:
    """A field of a data type, which writes conditions on its values."""

    name: str
    data_type: str

    def predicate(self, condition: Condition) -> Element:
        """Return the predicate that holds for the values of a condition."""
        match condition:
            case IsMissing():
                return self._simple("isMissing")
            case AnyValue():
                return element("True")
            case OneOf(values):
                return self._in_set([self._text(value) for value in values])
        bounds = self._bounds(condition)
        return _joined("and", [self._simple(operator, value=end) for operator, end in bounds])

    def holds(self, condition: Condition) -> Element:
        """Return an expression that is true for the values of a condition."""
        reference = field(self.name)
        match condition:
            case IsMissing():
                return apply("isMissing", reference)
            case AnyValue():
                return constant("true", "boolean")
            case OneOf(values):
                known = [constant(self._text(value), self.data_type) for value in values]
                return apply("equal" if len(known) == 1 else "isIn", reference, *known)
        compared = [
            apply(operator, field(self.name), constant(bound, self.data_type))
            for operator, bound in self._bounds(condition)
        ]
        return compared[0] if len(compared) == 1 else apply("and", *compared)

    def _simple(self, operator: str, **value: str) -> Element:
        return element("SimplePredicate", field=self.name, operator=operator, **value)

    def _in_set(self, texts: list[str]) -> Element:
        plain = [text for text in texts if _IN_ARRAY.fullmatch(text)]
        if self.data_type not in _ARRAY_TYPES or len(plain) < 2:
            plain = []
        made = [self._simple("equal", value=text) for text in texts if text not in plain]
        if plain:
            array = element("Array", type=_ARRAY_TYPES[self.data_type], n=str(len(plain)))
            quoted = [f'"{text}"' for text in plain] if self.data_type == "string" else plain
            array.text = " ".join(quoted)
            in_array = {"field": self.name, "booleanOperator": "isIn"}
            made.append(element("SimpleSetPredicate", array, **in_array))
        return _joined("or", made)

    def _bounds(self, condition: Condition) -> list[tuple[str, str]]:
        """Return the operators and bounds of an interval."""
        ends: list[tuple[str, float | None]] = []
        match condition:
            case Between(first, last) if first == last:
                return [("equal", self._text(first))]
            case Between(first, last):
                ends = [("greaterOrEqual", first), ("lessOrEqual", last)]
            case Interval(above, up_to):
                ends = [("greaterThan", above), ("lessOrEqual", up_to)]
        return [(operator, self._text(end)) for operator, end in ends if end is not None]

    def _text(self, value: Category) -> str:
        if self.data_type == "dateTime":
            return str(np.datetime64(int(value), "us"))
        if isinstance(value, bool):
            return str(value).lower()
        return value if isinstance(value, str) else number_text(value)


def _joined(operator: str, predicates: list[Element]) -> Element:
    if len(predicates) == 1:
        return predicates[0]
    return element("CompoundPredicate", *predicates, booleanOperator=operator)


# ── Elements ──────────────────────────────────────────────────────────────────────────────────────


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


class _PmmlArithmetic:
    """`Arithmetic` whose values are expressions of PMML; an exponential may be infinite there."""

    def add(self, value: Element, number: float) -> Element:
        return apply("+", value, constant(number_text(number)))

    def multiply(self, value: Element, number: float) -> Element:
        return apply("*", value, constant(number_text(number)))

    def slopes(self, value: Element, below: float, above: float) -> Element:
        negative = apply("lessThan", value, constant("0"))
        slope = apply("if", negative, constant(number_text(below)), constant(number_text(above)))
        return apply("*", slope, deepcopy(value))  # an element has one parent

    def sigmoid(self, value: Element) -> Element:
        exponential = apply("exp", self.multiply(value, -1.0))
        return apply("/", constant("1"), self.add(exponential, 1.0))
