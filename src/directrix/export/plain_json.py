"""A fitted classifier as plain JSON, for programs that score rows in another language."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from directrix.export.scoring_formula import linear_formula


def to_json(classifier: Any) -> str:
    """Return the numbers that score a row as JSON; ``docs/export.md`` says how to use them.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel

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
    ([0, 1], 0.0, ['above', 'below', 'kind', 'offset'])
    """
    formula = linear_formula(classifier)
    entries = {
        "format": "directrix.scoring",
        "version": 1,
        "classes": formula.classes,
        "features": formula.features,
        "coefficients": formula.coefficients,
        "intercepts": formula.intercepts,
        "threshold": 0.0 if formula.two_classes else None,
        "probability": [
            {"kind": response.name, **_fields(response)} for response in formula.responses
        ],
        "always": None if formula.always is None else formula.classes[formula.always],
    }
    return json.dumps(entries, indent=2, allow_nan=False)


def _fields(response: Any) -> dict[str, float]:
    return asdict(response)
