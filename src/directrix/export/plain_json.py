"""A fitted classifier as plain JSON, for programs that score rows in another language."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from directrix.classifiers.scoring import CardFormula
from directrix.export.cards.content import card_entry, column_entries
from directrix.export.scoring_formula import Formula, scoring_formula

if TYPE_CHECKING:
    from directrix.classifiers.scoring import LinearFormula


def to_json(classifier: Any) -> str:
    """Return the numbers that score a row as JSON; ``docs/export.md`` says how to use them.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
        That of a `ScorecardClassifier` has the bins of raw columns and their points.

    Returns
    -------
    str

    Examples
    --------
    >>> import json
    >>> from directrix import MomentClassifier
    >>> from directrix.export import to_json
    >>> classifier = MomentClassifier(choose="moments").fit(
    ...     [[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]
    ... )
    >>> formula = json.loads(to_json(classifier))
    >>> formula["classes"], formula["threshold"], sorted(formula["probability"][0])
    ([0, 1], 0.0, ['above', 'below', 'class', 'kind', 'name', 'offset', 'one_minus'])
    """
    formula = scoring_formula(classifier)
    if isinstance(formula, CardFormula):
        entries = _card_entries(formula)
    else:
        entries = _linear_entries(formula)
    return json.dumps(entries, indent=2, allow_nan=False)


def _linear_entries(formula: LinearFormula) -> dict[str, Any]:
    return {
        "format": "directrix.scoring",
        "version": 1,
        "classes": formula.classes,
        "features": formula.features,
        "coefficients": formula.coefficients,
        "intercepts": formula.intercepts,
        "threshold": 0.0 if formula.two_classes else None,
        "probability": _probability(formula),
        "always": None if formula.always is None else formula.classes[formula.always],
    }


def _card_entries(formula: CardFormula) -> dict[str, Any]:
    return {
        "format": "directrix.card",
        "version": 1,
        "classes": formula.classes,
        "columns": column_entries(formula),
        "cards": [card_entry(card) for card in formula.cards],
        "probability": _probability(formula),
    }


def _probability(formula: Formula) -> list[dict[str, Any]]:
    """Return a function of each score, and the class whose probability it gives."""
    if not formula.two_classes:
        parts = zip(formula.classes, formula.probability_names, formula.responses, strict=True)
        return [_entry(label, name, response) for label, name, response in parts]
    label, (name,) = formula.classes[formula.positive_index], formula.probability_names
    entry = _entry(label, name, formula.responses[0])
    # A score is in favour of the last class, and so is the function of it.
    return [entry | {"one_minus": formula.positive_index == 0}]


def _entry(label: Any, name: str, response: Any) -> dict[str, Any]:
    return {"class": label, "name": name, "kind": response.name, **_fields(response)}


def _fields(response: Any) -> dict[str, float]:
    return asdict(response)
