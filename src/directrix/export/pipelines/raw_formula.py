"""RawFormula: what a classifier, or a pipeline that ends with one, computes from raw columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from directrix.export.pipelines.expressions import Expression, RawColumn, raw_position
from directrix.export.pipelines.steps import step_features
from directrix.export.scoring_formula import Formula, scoring_formula
from directrix.rows.rows import checked_names


class RawFormula(NamedTuple):
    """The features of a formula as expressions of raw columns.

    Parameters
    ----------
    columns : tuple of str or None
        Names of the raw columns.
    features : tuple of Expression
        One for each feature of the formula.
    formula : LinearFormula or CardFormula
    """

    columns: tuple[str, ...] | None
    features: tuple[Expression, ...]
    formula: Formula

    @property
    def is_computed(self) -> bool:
        """Whether some feature is not a raw column."""
        return not all(isinstance(feature, RawColumn) for feature in self.features)

    def used_columns(self, used_features: set[int]) -> set[int]:
        """Return the positions of the raw columns that some features depend on."""
        return {raw_position(self.features[k]) for k in used_features}


def raw_formula(estimator: Any, columns: Sequence[str] | None = None) -> RawFormula:
    """Return what a fitted classifier or pipeline computes.

    Parameters
    ----------
    estimator : classifier of directrix, or Pipeline that ends with one, fitted
    columns : sequence of str, optional
        Names of the raw columns; by default those of the fit, if any.
    """
    if not isinstance(estimator, Pipeline):
        formula = scoring_formula(estimator, columns)
        features = tuple(map(RawColumn, range(formula.n_features)))
        return RawFormula(formula.features, features, formula)
    if isinstance(columns, str):
        msg = f"columns must be a list of names, not the text {columns!r}"
        raise TypeError(msg)
    formula = scoring_formula(estimator[-1])
    n_columns: int = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None) if columns is None else columns
    made = tuple(step_features(estimator[:-1], list(map(RawColumn, range(n_columns))), ""))
    if len(made) != formula.n_features:
        msg = (
            f"the steps of the pipeline make {len(made)} features, and its classifier has "
            f"{formula.n_features}: fit the pipeline again as a whole"
        )
        raise ValueError(msg)
    return RawFormula(None if names is None else checked_names(names, n_columns), made, formula)
