"""The classifiers that exports take, and the scoring formula of a fitted one.

A classifier says itself what it computes (`directrix.estimators.scoring`). Here its labels become
values that every format can write: dates are text in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from directrix.estimators import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.estimators.scoring import ScoringFormula
from directrix.exceptions import LabelTypeError, RowDecisionError
from directrix.rows.rows import checked_names

#: The classifiers by name: a new one is added here and nowhere else. It has `export_state`,
#: `from_state` and `scoring_formula`; see `LinearClassifier`.
CLASSIFIERS: dict[str, Any] = {
    classifier.__name__: classifier
    for classifier in (
        DirectClassifier,
        MomentClassifier,
        OperatingPointClassifier,
        ScorecardClassifier,
    )
}


_WITHOUT_DECISION = (
    "What can be exported is a copy with one threshold, such as "
    "model.with_threshold(model.operating_points(['error'])[0]): its score is the same but for a "
    "constant, its predictions are others"
)


def known_names() -> str:
    """Return the names of the classifiers, for messages."""
    return " or ".join(CLASSIFIERS)


def scoring_formula(classifier: Any, columns: Sequence[str] | None = None) -> ScoringFormula:
    """Return the scoring formula of a fitted classifier, its feature names checked.

    Features have the given names, by default those that the classifier was fitted with, if any. A
    label that is not a text, number, boolean or date raises LabelTypeError.
    """
    types: Any = tuple(CLASSIFIERS.values())
    if not isinstance(classifier, types):
        exported = [name for name in CLASSIFIERS if name != OperatingPointClassifier.__name__]
        msg = (
            f"this takes a fitted {' or '.join(exported)}, not {type(classifier).__name__}: of a "
            "pipeline give the last step, whose features are those that the steps before it make"
        )
        raise TypeError(msg)
    formula: ScoringFormula = classifier.scoring_formula()
    deciding = getattr(classifier, "deciding_columns", ())
    if deciding:
        raise RowDecisionError(deciding, _WITHOUT_DECISION)
    positive = formula.positive_index
    classes = plain_labels(classifier.classes_)
    formula = replace(formula, classes=classes, positive=classes[positive])
    if isinstance(columns, str):
        msg = f"columns must be a list of names, not the text {columns!r}"
        raise TypeError(msg)
    names = formula.features if columns is None else columns
    if names is None:
        return formula
    return replace(formula, features=checked_names(names, formula.n_features))


def plain_labels(classes: Any) -> tuple[Any, ...]:
    """Return labels as texts, numbers and booleans; dates and times are text in ISO 8601.

    Examples
    --------
    >>> import numpy as np
    >>> plain_labels(np.array(["2024-02-29", "2024-03-01"], dtype="datetime64[ns]"))
    ('2024-02-29', '2024-03-01')
    """
    array = np.asarray(classes)
    if array.dtype.kind == "M":
        days = array.astype("M8[D]")
        texts = np.datetime_as_string(days if (days == array).all() else array)
        return tuple(map(str, texts))
    return tuple(map(_plain, array.tolist()))


def _plain(label: Any) -> Any:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, date):
        return label.isoformat()
    if not isinstance(label, bool | int | float | str | Decimal):
        raise LabelTypeError(label)
    return label
