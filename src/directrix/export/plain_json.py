"""A fitted line as plain JSON, for programs that score rows in some other language."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from directrix.export.scoring_formula import Plateaus, ScoringFormula


def to_json(classifier: Any) -> str:
    """Return all that scores a row as JSON; ``docs/export.md`` says what to do with it.

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
    >>> told = json.loads(to_json(classifier))
    >>> told["classes"], told["threshold"], sorted(told["probability"][0])
    ([0, 1], 0.0, ['above', 'below', 'kind', 'offset'])
    """
    formula = ScoringFormula.of(classifier)
    told = {
        "format": "directrix.scoring",
        "version": 1,
        "classes": formula.classes,
        "features": formula.features,
        "coefficients": formula.coefficients,
        "intercepts": formula.intercepts,
        "threshold": 0.0 if formula.two_classes else None,
        "probability": [
            {"kind": "plateaus" if isinstance(own, Plateaus) else "sigmoid", **asdict(own)}
            for own in formula.responses
        ],
        "always": None if formula.always is None else formula.classes[formula.always],
    }
    return json.dumps(told, indent=2, allow_nan=False)
