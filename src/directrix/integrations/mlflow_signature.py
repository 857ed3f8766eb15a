"""Signatures of MLflow models: columns and types of a classifier, and a typical row."""

from __future__ import annotations

from typing import Any

import numpy as np

from directrix.tables import LevelBins

#: Methods that a model can be asked for; the first is the default.
METHODS = ("predict", "predict_proba", "decision_function", "predict_points")

_SECONDS = 86_400  # of a day
_LABEL_TYPES = {"b": "boolean", "i": "long", "u": "long", "f": "double"}
_TYPES = {"boolean": "boolean", "text": "string", "date": "datetime"}


def infer_signature(classifier: Any, example: Any = None) -> Any:
    """Return the signature of a classifier: its columns, labels, and the parameter ``method``.

    MLflow checks types before a classifier sees the rows, and is stricter: it refuses int64 for
    ``double``, NaN for ``long``, and categories for ``string``. A column that it would refuse has
    the type ``Any``, which is not checked: numbers of scorecards (with missing values, integers
    are floats), other numbers unless the example has floats, and every column of the example that
    does not pass as the type of its kind.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
    example : data frame or array, optional

    Returns
    -------
    mlflow.models.ModelSignature
    """
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

    label_type = _LABEL_TYPES.get(classifier.classes_.dtype.kind, "string")
    return ModelSignature(
        inputs=_input_schema(classifier, example),
        outputs=Schema([ColSpec(DataType[label_type])]),
        params=ParamSchema([ParamSpec("method", DataType.string, default=METHODS[0])]),
    )


def _input_schema(classifier: Any, example: Any) -> Any:
    from mlflow.types import ColSpec, Schema, TensorSpec

    names = getattr(classifier, "feature_names_in_", None)
    binner = getattr(classifier, "binner_", None)
    n_columns = classifier.n_features_in_
    if names is None and binner is None:
        return Schema([TensorSpec(np.dtype(np.float64), (-1, n_columns))])
    kinds = ["float"] * n_columns if binner is None else [bins.kind for bins in binner.bins_]
    columns = []
    for k, kind in enumerate(kinds):
        column = _column(example, k if names is None else names[k])
        name = None if names is None else str(names[k])
        columns.append(ColSpec(_column_type(kind, column), name))
    return Schema(columns)


def _column(example: Any, name: Any) -> Any:
    """Return a column of an example, None if it is not a data frame with this column."""
    rows = example[0] if isinstance(example, tuple) else example  # with parameters
    return rows[[name]] if hasattr(rows, "iloc") and name in rows else None


def _column_type(kind: str, column: Any) -> Any:
    """Return the type of a column: that of its kind, if MLflow takes such a column for it.

    Parameters
    ----------
    kind : {"float", "number", "boolean", "text", "date"}
        Of linear classifiers, float.
    column : data frame of one column, or None
    """
    from mlflow.exceptions import MlflowException
    from mlflow.models import validate_schema
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import AnyType

    if kind == "number" or (kind == "float" and column is None):
        return AnyType()
    expected = DataType[_TYPES.get(kind, "double")]
    if column is not None:
        schema = Schema([ColSpec(expected, column.columns[0])])
        rows = column.reset_index(drop=True)
        try:
            validate_schema(rows, schema)
            validate_schema(rows.reindex(range(len(rows) + 1)), schema)  # with a missing value
        except (MlflowException, ValueError):
            return AnyType()
    return expected


def typical_row(classifier: Any) -> Any:
    """Return a data frame with one row, the most frequent bin of each column of a scorecard.

    Parameters
    ----------
    classifier : classifier of directrix, fitted

    Returns
    -------
    data frame, or None
        None unless the classifier is a scorecard: other models do not store values of features.
    """
    import pandas as pd

    binner = getattr(classifier, "binner_", None)
    if binner is None:
        return None
    names = getattr(classifier, "feature_names_in_", range(classifier.n_features_in_))
    values = (_typical_value(bins) for bins in binner.bins_)
    return pd.DataFrame({name: [value] for name, value in zip(names, values, strict=True)})


def _typical_value(bins: Any) -> Any:
    weights = np.array(bins.weights)
    if isinstance(bins, LevelBins):
        cells = list(bins.level_cells)
        return bins.levels[int(np.argmax(weights[cells]))] if cells else ""
    index = int(np.argmax(weights[1 : 1 + bins.n_ordered]))
    cuts = (-np.inf, *bins.cuts, np.inf)
    # Means of the outer bins leave out values far out, and may be outside of them.
    inside = np.nextafter(cuts[index], np.inf), cuts[index + 1]
    value = float(np.clip(bins.means[index], *inside))
    if bins.kind == "boolean":
        return value > 0.5
    return np.datetime64(round(value * _SECONDS), "s") if bins.kind == "date" else value
