"""Conversion of Arrow columns to NumPy values, and of vector columns to rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.rows.rows import Rows, SparseRows, as_rows, canonical_csr

if TYPE_CHECKING:
    from directrix._typing import AnyArray

_DENSE = 1  # type code of a dense vector in Spark ML
_UNEQUAL_LENGTHS = "the vectors of features are not all of one length"


_TEXTS = {"string", "large_string", "string_view"}
#: Number and length of texts up to which a column of them, such as labels, is an array of texts.
_FEW_TEXTS, _SHORT_TEXT = 100, 40


def arrow_values(column: Any) -> AnyArray:
    """Return the values of an Arrow array; nulls become NaN, or None in text."""
    if hasattr(column, "chunks"):
        parts = [arrow_values(chunk) for chunk in column.chunks]
        return np.concatenate(parts) if parts else np.empty(0)
    array, type_name = column, str(column.type)
    if type_name in _TEXTS and not column.null_count:
        return _texts(column)
    if type_name == "bool":
        array = array.cast("int8")
    elif type_name.startswith("decimal"):
        array = array.cast("float64")
    values: AnyArray = array.to_numpy(zero_copy_only=False)
    return values.astype(bool) if type_name == "bool" and values.dtype.kind == "i" else values


def _texts(column: Any) -> AnyArray:
    """Return texts as an array of NumPy's, which knows their type, if there are only a few."""
    encoded = column.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    if len(distinct) > _FEW_TEXTS or max(map(len, distinct), default=0) > _SHORT_TEXT:
        objects: AnyArray = column.to_numpy(zero_copy_only=False)
        return objects
    texts: AnyArray = np.array(distinct, dtype=str)[encoded.indices.to_numpy(zero_copy_only=False)]
    return texts


def vector_rows(column: Any) -> Rows | None:
    """Return the rows of a column of vectors, or None if it holds plain values.

    Vectors are lists of numbers, or the vector type of Spark ML: a structure of type, size, indices
    and values.
    """
    array = _combine_chunks(column)
    type_name = str(array.type)
    is_list = type_name.startswith(("list", "large_list", "fixed_size_list"))
    is_ml = type_name.startswith("struct") and "indices" in type_name and "values" in type_name
    if not (is_list or is_ml):
        return None
    if array.null_count:
        msg = f"{array.null_count} rows have no vector of features; fill or drop them first"
        raise ValueError(msg)
    if is_list:
        return as_rows(_matrix(array))
    vector_types = array.field("type").to_numpy(zero_copy_only=False)
    values = array.field("values")
    if (vector_types == _DENSE).all():
        return as_rows(_matrix(values))
    return _mixed_vectors(array, vector_types == _DENSE)


def vector_length(column: Any) -> int:
    """Return the number of values in the first row of a non-empty column."""
    type_name = str(column.type)
    if type_name.startswith("struct"):
        names = [field.name for field in column.type]
        return vector_length(column.field("values")) if "values" in names else 1
    if not type_name.startswith(("list", "large_list", "fixed_size_list")):
        return 1
    return int(_lengths(column.slice(0, 1))[0])


def _combine_chunks(column: Any) -> Any:
    if not hasattr(column, "chunks"):
        return column
    combined = column.combine_chunks()
    # Some releases of pyarrow return a chunked array with one chunk.
    return combined.chunk(0) if hasattr(combined, "chunks") else combined


def _matrix(lists: Any) -> AnyArray:
    lengths = _lengths(lists)
    if (lengths != lengths[:1]).any():
        raise ValueError(_UNEQUAL_LENGTHS)
    values: AnyArray = lists.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(len(lists), -1) if len(lists) else np.empty((0, 0))


def _mixed_vectors(array: Any, dense: AnyArray) -> Rows:
    """Return Spark ML vectors, dense and sparse, as rows of a CSR matrix."""
    values = array.field("values")
    lengths = _lengths(values)
    starts = np.append(0, np.cumsum(lengths))
    data = values.flatten().to_numpy(zero_copy_only=False)
    sizes = np.nan_to_num(array.field("size").to_numpy(zero_copy_only=False))
    widths = np.where(dense, lengths, sizes).astype(np.int64)
    if widths.min() != widths.max():
        raise ValueError(_UNEQUAL_LENGTHS)
    width = int(widths[0])
    column = np.arange(len(data)) - np.repeat(starts[:-1], lengths)
    column[np.repeat(~dense, lengths)] = (
        array.field("indices").flatten().to_numpy(zero_copy_only=False)
    )
    matrix = sparse.csr_array((data, column, starts), shape=(len(dense), width))
    return SparseRows(canonical_csr(matrix))


def _lengths(lists: Any) -> AnyArray:
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    whole: AnyArray = np.nan_to_num(lengths).astype(np.int64)
    return whole
