"""Columns of pandas, polars, Arrow and NumPy, read in the same way.

Types are recognised by their names and methods, so that none of these libraries is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.columns import ColumnKindError
from directrix.tables.reading._days import days_of_times
from directrix.tables.reading._objects import (
    Reading,
    read_factor,
    read_objects,
    sorted_levels,
    text_of,
    texts_of_array,
)

if TYPE_CHECKING:
    from directrix._typing import AnyArray

_READABLE = "numbers, booleans, texts or dates"
_TEXTS = ("string", "large_string", "string_view")
_NESTED = ("list", "large_list", "fixed_size_list", "struct", "map", "union", "dense_union")


def read_array(values: AnyArray, column: str, expected: str | None = None) -> Reading:
    """Return a one-dimensional NumPy array as a column.

    Parameters
    ----------
    values : array of shape (n,)
    column : str
        Name of the column, for errors.
    expected : str, optional
        The kind that the column has in a table read earlier.
    """
    kind = values.dtype.kind
    if kind in "biuf" and expected == "text":
        return texts_of_array(values, column)  # as float64, large integers would lose digits
    if kind in "biuf":
        return Reading("boolean" if kind == "b" else "number", values.astype(np.float64))
    if kind in "mM":
        return Reading("date" if kind == "M" else "number", days_of_times(values))
    if kind == "c":
        msg = f"Complex data not supported: column {column!r} holds complex numbers"
        raise ValueError(msg)
    if kind == "U":
        return read_factor(values.tolist())
    if kind in "OST":
        return read_objects(values.tolist(), column, expected)
    raise ColumnKindError(column, str(values.dtype), _READABLE)


def read_pandas(series: Any, column: str, expected: str | None = None) -> Reading:
    """Return a pandas series as a column, as `read_array` does."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return read_arrow(series.array.__arrow_array__(), column, expected)
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf" and expected == "text":
        masked = hasattr(series.array, "isna") and hasattr(dtype, "na_value") and series.hasnans
        return read_array(series.to_numpy(dtype=object if masked else None), column, expected)
    if kind in "biuf":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Reading("boolean" if kind == "b" else "number", values)
    if kind == "M" and hasattr(dtype, "tz"):
        return read_array(series.to_numpy(dtype=f"datetime64[{dtype.unit}]"), column, expected)
    if kind in "mMc":
        return read_array(series.to_numpy(), column, expected)
    texts = _pandas_texts(series, column)
    # Other objects one by one: pandas takes True and 1 for one value.
    return texts or read_array(series.to_numpy(dtype=object), column, expected)


def _pandas_texts(series: Any, column: str) -> Reading | None:
    """Return a categorical series or a series of texts, None for anything else."""
    if hasattr(series.dtype, "categories"):
        texts = _category_texts(series.dtype.categories, column)
        return sorted_levels(series.cat.codes.to_numpy(), texts)
    try:
        codes, distinct = series.factorize()
    except TypeError:  # a value is not hashable
        return None
    texts = distinct.tolist()
    return sorted_levels(codes, texts) if set(map(type, texts)) <= {str} else None


def _category_texts(categories: Any, column: str) -> list[str]:
    is_array = getattr(categories.dtype, "kind", "O") in "iuf" and hasattr(categories, "to_numpy")
    # A list would hold float32 as float64, with digits that the numbers do not have.
    values = categories.to_numpy() if is_array else categories.tolist()
    return [text_of(value, column) for value in values]


def read_polars(series: Any, column: str, expected: str | None = None) -> Reading:
    """Return a polars series as a column, as `read_array` does."""
    name = str(series.dtype).partition("(")[0]
    if name in {"String", "Categorical", "Enum"}:
        texts = series.cast(str)
        levels = tuple(texts.drop_nulls().unique().sort().to_list())
        return Reading("text", texts.rank("dense").cast(float).to_numpy() - 1.0, levels)
    if expected == "text" and series.dtype.is_numeric():
        in_full = name.startswith("Float") or not series.null_count()
        return read_array(
            series.to_numpy() if in_full else np.array(series.to_list(), dtype=object),
            column,
            expected,
        )
    if name == "Boolean" or (name != "Decimal" and series.dtype.is_numeric()):
        values = series.cast(float).to_numpy().astype(np.float64)
        return Reading("boolean" if name == "Boolean" else "number", values)
    if name in {"Date", "Datetime", "Duration"}:
        return read_array(series.to_numpy(), column, expected)
    if series.dtype.is_nested():
        raise ColumnKindError(column, str(series.dtype), _READABLE)
    return read_objects(series.to_list(), column, expected)


def read_arrow(values: Any, column: str, expected: str | None = None) -> Reading:
    """Return an Arrow array or chunked array as a column, as `read_array` does."""
    name = str(values.type)
    if name == "bool":
        return Reading("boolean", _numpy(values.cast("int8")).astype(np.float64))
    if name in {"double", "float", "halffloat"} or name.startswith(("int", "uint")):
        if expected == "text":
            return _arrow_numbers_as_texts(values, column)
        return Reading("number", _numpy(values).astype(np.float64))
    if name in _TEXTS or name.startswith("dictionary"):
        return _arrow_texts(values, column)
    if name.startswith(("date", "timestamp", "duration")):
        return read_array(_numpy(values), column, expected)
    if name.startswith(_NESTED):
        raise ColumnKindError(column, name, _READABLE)
    return read_objects(values.to_pylist(), column, expected)


def _arrow_numbers_as_texts(values: Any, column: str) -> Reading:
    if values.null_count and "int" in str(values.type):  # NumPy would have them as floats
        return read_objects(values.to_pylist(), column, "text")
    return texts_of_array(_numpy(values), column)


def _arrow_texts(values: Any, column: str) -> Reading:
    """Return texts or a dictionary; every chunk has a dictionary of its own."""
    codes: list[AnyArray] = [np.empty(0, dtype=np.int64)]
    texts: list[str | None] = []
    for chunk in values.chunks if hasattr(values, "chunks") else [values]:
        encoded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        index = _numpy(encoded.indices.fill_null(-1) if encoded.null_count else encoded.indices)
        codes.append(np.where(index < 0, -1, index + len(texts)) if texts else index)
        distinct = encoded.dictionary.to_pylist()
        if str(encoded.dictionary.type) == "float":  # a list would hold them as float64
            distinct = list(_numpy(encoded.dictionary))
        texts += [None if value is None else text_of(value, column) for value in distinct]
    return sorted_levels(np.concatenate(codes), texts)


def _numpy(values: Any) -> AnyArray:
    chunked = hasattr(values, "chunks")
    array: AnyArray = values.to_numpy() if chunked else values.to_numpy(zero_copy_only=False)
    return array
