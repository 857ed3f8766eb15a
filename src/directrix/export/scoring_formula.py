"""The scoring formula of a fitted classifier: all that SQL, ONNX, JSON and Python are written from.

A classifier says itself what it computes (`directrix.classifiers.scoring`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from directrix.classifiers import CardFormula, LinearFormula
from directrix.export.registry import CLASSIFIERS, known_names
from directrix.moments import checked_names

Formula: TypeAlias = LinearFormula | CardFormula


def scoring_formula(classifier: Any, columns: Sequence[str] | None = None) -> Formula:
    """Return the scoring formula of a fitted classifier, its feature names checked.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    columns : sequence of str, optional
        Names of the features; by default those the classifier was fitted with, if any.
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
    if isinstance(columns, str):
        msg = f"columns must be a list of names, not the text {columns!r}"
        raise TypeError(msg)
    names = formula.features if columns is None else columns
    if names is None:
        return formula
    return replace(formula, features=checked_names(names, formula.n_features))


def linear_formula(classifier: Any, columns: Sequence[str] | None = None) -> LinearFormula:
    """Return the formula of a classifier with coefficients of columns; the same parameters."""
    formula = scoring_formula(classifier, columns)
    if not isinstance(formula, LinearFormula):
        msg = f"a {type(classifier).__name__} has points for bins, and no coefficients of columns"
        raise TypeError(msg)
    return formula
