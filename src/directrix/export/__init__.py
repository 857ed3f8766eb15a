"""Export fitted classifiers: as a model file, and as SQL, ONNX, PMML, JSON or Python.

The cells of a fitted binner are exported as SQL.
"""

from directrix.exceptions import Float32PrecisionWarning, ModelFileError
from directrix.export.model_file import load, save
from directrix.export.onnx import to_onnx
from directrix.export.plain_json import to_json
from directrix.export.pmml import to_pmml
from directrix.export.python_source import to_python
from directrix.export.sql import SqlExpressions, cells_to_sql, to_sql

__all__ = [
    "Float32PrecisionWarning",
    "ModelFileError",
    "SqlExpressions",
    "cells_to_sql",
    "load",
    "save",
    "to_json",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_sql",
]


def __dir__() -> list[str]:
    return __all__
