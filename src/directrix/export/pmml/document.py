"""A scorecard as a PMML document: fields, characteristics, and the outputs made of the points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from directrix.classifiers.scoring import CardFormula
from directrix.export.pmml.characteristics import (
    Characteristic,
    characteristics,
    free_name,
    reasons_by_name,
)
from directrix.export.pmml.conditions import FIELD_TYPES
from directrix.export.pmml.expressions import (
    ExpressionArithmetic,
    apply,
    constant,
    element,
    field,
    number_text,
    typed_text,
)
from directrix.export.scoring_formula import scoring_formula
from directrix.models.card import Card

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
_REASONS = 4  # reason codes of a row
#: Characters that no XML document can hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    classifier : ScorecardClassifier, fitted, of two classes
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
        With more than two classes, and for a text that no XML document can hold.

    Examples
    --------
    >>> from directrix import ScorecardClassifier
    >>> from directrix.export import to_pmml
    >>> rows = [[age, home] for age in range(20, 60) for home in ("own", "rent")]
    >>> card = ScorecardClassifier("auc", train_on="counts", cv=2)
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
    if not isinstance(formula, CardFormula):
        msg = (
            f"to_pmml writes scorecards, not a {type(classifier).__name__}: write it with to_onnx, "
            "to_sql, to_json or to_python"
        )
        raise TypeError(msg)
    if not formula.two_classes:
        msg = (
            f"a scorecard in PMML has one score, and this classifier has {len(formula.classes)}, "
            "one for each class: fit and export a card for each class, with labels y == c"
        )
        raise ValueError(msg)
    (card,) = formula.cards
    names = formula.features or tuple(bins.name for bins in card.bins)
    parts = characteristics(card, names)
    used = sorted({k for part in parts for k in part.columns})
    document = element(
        "PMML",
        element(
            "Header",
            element("Application", name="directrix"),
            description=f"{type(classifier).__name__}, points for the bins of raw columns",
        ),
        element("DataDictionary", *(_data_field(card, k, names[k]) for k in used)),
        _scorecard(formula, card, parts, reason_codes, [names[k] for k in used]),
        xmlns=_NAMESPACE,
        version="4.4",
    )
    return _to_text(document)


def _data_field(card: Card, index: int, name: str) -> Element:
    data_type, operational = FIELD_TYPES[card.bins[index].kind]
    made = element("DataField", name=name, optype=operational, dataType=data_type)
    if data_type == "double":
        made.append(element("Value", value="NaN", property="missing"))
    return made


def _scorecard(
    formula: CardFormula,
    card: Card,
    parts: Sequence[Characteristic],
    reason_codes: Mapping[str, str] | None,
    used: Sequence[str],
) -> Element:
    codes = reasons_by_name(parts, reason_codes)
    adverse = card.higher_is_positive
    derived = [definition for part in parts for definition in part.derived]
    taken = {*used, *(part.field for part in parts)}
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


def _output(formula: CardFormula, card: Card, n_reasons: int, taken: set[str]) -> Element:
    """Return the outputs: points, and what follows from them."""
    points, score = free_name("points", taken), free_name("score", taken)
    arithmetic = ExpressionArithmetic()
    above = arithmetic.add(field(points), -card.cutoff)
    signed = above if card.higher_is_last else arithmetic.multiply(above, -1.0)
    made = [
        _output_field(points, "predictedValue", "double"),
        _output_field(score, "transformedValue", "double", signed),
    ]
    if formula.response is not None:
        probability = formula.positive_probability(field(score), arithmetic)
        name = free_name(formula.probability_names[0], taken)
        made.append(_output_field(name, "transformedValue", "double", probability))
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
