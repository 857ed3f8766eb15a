"""The scoring formula of a fitted classifier: all that SQL, ONNX, JSON and Python are written from.

A classifier says itself what it computes (`directrix.classifiers.scoring`). Here its labels become
values that every format can write: dates are text in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from directrix.classifiers.scoring import CardFormula, LinearFormula
from directrix.exceptions import LabelTypeError
from directrix.export.registry import CLASSIFIERS, known_names
from directrix.rows.rows import checked_names

Formula: TypeAlias = LinearFormula | CardFormula


def scoring_formula(classifier: Any, columns: Sequence[str] | None = None) -> Formula:
    """Return the scoring formula of a fitted classifier, its feature names checked.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    columns : sequence of str, optional
        Names of the features; by default those the classifier was fitted with, if any.

    Raises
    ------
    LabelTypeError
        If a label is not a text, number, boolean or date.
    """
    types: Any = tuple(CLASSIFIERS.values())
    if not isinstance(classifier, types):
        msg = (
            f"this takes a fitted {known_names()}, not "
            f"{type(classifier).__name__}: of a pipeline give the last step, whose features "
            "are those that the steps before it make"
        )
        raise TypeError(msg)
    formula: Formula = classifier.scoring_formula()
    positive = formula.positive_index
    classes = plain_labels(classifier.classes_)
    formula = replace(
        formula, classes=classes, positive=classes[positive] if formula.two_classes else None
    )
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


def linear_formula(classifier: Any, columns: Sequence[str] | None = None) -> LinearFormula:
    """Return the formula of a classifier with coefficients of columns; the same parameters."""
    formula = scoring_formula(classifier, columns)
    if not isinstance(formula, LinearFormula):
        msg = f"a {type(classifier).__name__} has points for bins, and no coefficients of columns"
        raise TypeError(msg)
    return formula
