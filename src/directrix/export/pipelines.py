"""Pipelines of scikit-learn as expressions of raw columns, in no language yet.

A step maps expressions of its columns to expressions of its features.
"""

from __future__ import annotations

import warnings
from collections import UserList
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.scoring import ScoringFormula
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.export.expressions import (
    Binned,
    Calculated,
    Category,
    Clipped,
    Expression,
    Filled,
    Lookup,
    RawColumn,
    raw_position,
)
from directrix.export.scoring_formula import require_list, scoring_formula
from directrix.rows.rows import checked_names
from directrix.tables import Binner
from directrix.tables.binner import dense_features, onehot, thermometer

Expressions: TypeAlias = Sequence[Expression]

#: Categories that no table has.
_UNKNOWN_TEXT, _UNKNOWN_NUMBER = "\x00 unknown", 1.234e300


def step_features(step: Any, values: Expressions, path: str) -> list[Expression]:
    """Return the features that a fitted step makes of the expressions of its columns.

    `path` names the step and those it is in, for errors: TypeError if the step is of a type that
    cannot be written, ValueError if one of its parameters cannot be.
    """
    if isinstance(step, str) and step == "passthrough":
        return list(values)
    write = next((known for kind, known in _STEPS.items() if isinstance(step, kind)), None)
    if write is None:
        known = ", ".join(kind.__name__ for kind in _STEPS)
        msg = (
            f"step {path} is a {type(step).__name__}, which cannot be exported; steps that can: "
            f"{known}. Export the last step alone, or replace this one"
        )
        raise TypeError(msg)
    if not isinstance(step, Pipeline | FunctionTransformer):  # their members are checked
        check_is_fitted(step)
    return write(step, values, path)


def _refuse(path: str, parameter: str, remedy: str) -> None:
    msg = f"step {path} has {parameter}, which cannot be exported: {remedy}"
    raise ValueError(msg)


def _pipeline(step: Any, values: Expressions, path: str) -> list[Expression]:
    features = list(values)
    for name, member in step.steps:
        if member is not None:
            inside = f"{path} > {name!r}" if path else repr(name)
            features = step_features(member, features, inside)
    return features


def _column_transformer(step: Any, values: Expressions, path: str) -> list[Expression]:
    if step.transformer_weights:
        _refuse(path, "transformer_weights", "multiply the coefficients instead")
    names = [*getattr(step, "feature_names_in_", ())]
    features: list[Expression] = []
    for name, member, columns in step.transformers_:
        if isinstance(member, str) and member == "drop":
            continue
        chosen = [values[k] for k in _positions(columns, names, len(values))]
        if chosen:  # otherwise the member is not fitted
            features += step_features(member, chosen, f"{path} > {name!r}")
    return features


def _positions(columns: Any, names: Sequence[str], n: int) -> list[int]:
    """Return the positions of columns given by names, positions, a slice or a mask."""
    if isinstance(columns, slice):
        start, stop = (
            _position(end, names) if isinstance(end, str) else end
            for end in (columns.start, columns.stop)
        )
        if isinstance(columns.stop, str):
            stop += 1  # a slice of names includes its end
        return list(range(n))[slice(start, stop, columns.step)]
    if isinstance(columns, UserList):
        columns = columns.data  # scikit-learn 1.6 warns whoever looks at those of the remainder
    given: list[Any] = [columns] if np.isscalar(columns) else list(columns)
    if given and all(isinstance(flag, bool | np.bool_) for flag in given):
        return [k for k, flag in enumerate(given) if flag]
    return [_position(c, names) if isinstance(c, str) else range(n)[c] for c in given]


def _position(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise ColumnNotFoundError(name, names)
    return list(names).index(name)


def _function_transformer(step: Any, values: Expressions, path: str) -> list[Expression]:
    if step.func is not None:
        _refuse(path, f"func={step.func!r}", "only func=None can be, which changes nothing")
    return list(values)


def _imputer(step: Any, values: Expressions, path: str) -> list[Expression]:
    if step.add_indicator:
        _refuse(path, "add_indicator=True", "a Binner has bins for missing values")
    if not _is_missing(step.missing_values):
        _refuse(path, f"missing_values={step.missing_values!r}", "only NaN, None and NA can be")
    features: list[Expression] = []
    for value, statistic in zip(values, step.statistics_.tolist(), strict=True):
        if _is_missing(statistic):
            continue  # scikit-learn drops a column without a value
        if not isinstance(statistic, int | float | str) or isinstance(statistic, bool):
            _refuse(path, f"the value {statistic!r}", "numbers and texts can be imputed")
        fill = statistic if isinstance(statistic, str) else float(statistic)
        features.append(Filled(value, fill))
    return features


def _standard_scaler(step: Any, values: Expressions, path: str) -> list[Expression]:
    del path
    features = list(values)
    if step.mean_ is not None and step.with_mean:
        means = zip(features, step.mean_.tolist(), strict=True)
        features = [Calculated(value, "-", mean) for value, mean in means]
    if step.scale_ is not None and step.with_std:
        scales = zip(features, step.scale_.tolist(), strict=True)
        features = [Calculated(value, "/", scale) for value, scale in scales]
    return features


def _min_max_scaler(step: Any, values: Expressions, path: str) -> list[Expression]:
    del path
    low, high = map(float, step.feature_range)
    lines = zip(values, step.scale_.tolist(), step.min_.tolist(), strict=True)
    features: list[Expression] = [
        Calculated(Calculated(value, "*", scale), "+", start) for value, scale, start in lines
    ]
    return [Clipped(value, low, high) for value in features] if step.clip else features


def _encoder(step: Any, values: Expressions, path: str) -> list[Expression]:
    """Return the features of a OneHotEncoder or an OrdinalEncoder, as numbers for each category."""
    present = [_categories(found, path) for found in step.categories_]
    features: list[Expression] = []
    for value, categories, rows in zip(values, present, _features_by_category(step), strict=True):
        for unknown, missing, *numbers in rows.T.tolist():
            looked_up = tuple(numbers), _number(missing), _number(unknown)
            features.append(Lookup(value, categories, *looked_up))
    return features


def _features_by_category(step: Any) -> list[FloatArray]:
    """Return for each column the features of an unknown, a missing and each present category.

    The encoder itself is asked: it groups rare categories and drops some by its own rules. A
    category that it refuses has NaN.
    """
    made, first = [], 0
    base = [categories[0] for categories in step.categories_]
    texts = any(categories.dtype.kind in "OU" for categories in step.categories_)
    for k, categories in enumerate(step.categories_):
        rows = np.array([base] * (1 + len(categories)), dtype=object if texts else np.float64)
        rows[0, k] = _UNKNOWN_TEXT if categories.dtype.kind in "OU" else _UNKNOWN_NUMBER
        rows[1:, k] = categories
        known = _transformed(step, rows[1:])
        unknown = np.full((1, known.shape[1]), np.nan)
        if step.handle_unknown != "error":
            unknown = _transformed(step, rows[:1])
        is_missing = np.array([_is_missing(category) for category in categories.tolist()])
        # A missing value that training rows did not have is an unknown category.
        missing = known[is_missing] if is_missing.any() else unknown
        last = first + _n_features(step, k)
        made.append(np.vstack([unknown, missing, known[~is_missing]])[:, first:last])
        first = last
    return made


def _n_features(step: Any, k: int) -> int:
    """Return how many features an encoder makes of a column."""
    if not isinstance(step, OneHotEncoder):
        return 1
    n = len(step.categories_[k])
    infrequent = getattr(step, "infrequent_categories_", None)
    if infrequent is not None and infrequent[k] is not None:
        n -= len(infrequent[k]) - 1  # they are one feature together
    return n - (step.drop_idx_ is not None and step.drop_idx_[k] is not None)


def _transformed(step: Any, rows: AnyArray) -> FloatArray:
    with warnings.catch_warnings():
        # The rows have no names, and an unknown category is meant to be one.
        warnings.simplefilter("ignore", UserWarning)
        features = step.transform(rows)
    dense = features.toarray() if sparse.issparse(features) else features
    return np.asarray(dense, dtype=np.float64)


def _number(value: float) -> float | None:
    """Return a number of an encoder; NaN becomes None, a missing value."""
    return None if _is_missing(value) else value


def _categories(found: Any, path: str) -> tuple[Category, ...]:
    """Return the categories but for that of missing values."""
    values = found.tolist()
    categories = tuple(value for value in values if not _is_missing(value))
    if len(categories) < len(values) - 1:
        _refuse(path, "both None and NaN as categories", "a database has one kind of missing")
    is_known = all(isinstance(value, bool | int | float | str) for value in categories)
    if not is_known or len({_kind(value) for value in categories}) > 1:
        _refuse(path, f"categories {values!r}", "they must be all numbers, all texts or booleans")
    return tuple(c if isinstance(c, bool | str) else float(c) for c in categories)


def _kind(category: Category) -> type:
    return type(category) if isinstance(category, bool | str) else float


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124


def _binner(step: Any, values: Expressions, path: str) -> list[Expression]:
    if step.crosses_:
        _refuse(path, "crosses", "a ScorecardClassifier has crosses that can be")
    features: list[Expression] = []
    for value, bins in zip(values, step.bins_, strict=True):
        cells = np.arange(bins.n_cells)
        if step.encoding == "ordinal":
            by_cell = cells[:, None].astype(np.float64)
        else:
            runs = thermometer(bins) if step.encoding == "thermometer" else onehot(bins)
            by_cell = dense_features([runs], cells[:, None])
        features += [Binned(value, bins, tuple(numbers)) for numbers in by_cell.T.tolist()]
    return features


_Write: TypeAlias = Callable[[Any, Expressions, str], list[Expression]]
_STEPS: dict[type, _Write] = {
    SimpleImputer: _imputer,
    StandardScaler: _standard_scaler,
    MinMaxScaler: _min_max_scaler,
    OneHotEncoder: _encoder,
    OrdinalEncoder: _encoder,
    Binner: _binner,
    FunctionTransformer: _function_transformer,
    ColumnTransformer: _column_transformer,
    Pipeline: _pipeline,
}


class RawFormula(NamedTuple):
    """What a classifier or pipeline computes: its formula, with features of named raw columns."""

    columns: tuple[str, ...] | None
    features: tuple[Expression, ...]
    formula: ScoringFormula

    @property
    def is_computed(self) -> bool:
        """Whether some feature is not a raw column."""
        return not all(isinstance(feature, RawColumn) for feature in self.features)

    def used_columns(self, used_features: set[int]) -> set[int]:
        """Return the positions of the raw columns that some features depend on."""
        return {raw_position(self.features[k]) for k in used_features}


def raw_formula(estimator: Any, columns: Sequence[str] | None = None) -> RawFormula:
    """Return what a fitted classifier, or a fitted Pipeline that ends with one, computes.

    Raw columns have the given names, by default those of the fit, if any.
    """
    if not isinstance(estimator, Pipeline):
        formula = scoring_formula(estimator, columns)
        features = tuple(map(RawColumn, range(formula.n_features)))
        return RawFormula(formula.features, features, formula)
    require_list(columns)
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
