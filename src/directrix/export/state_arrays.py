"""The arrays of a model state as they lie in a file: contiguous, in order, sparse rows in three.

What the arrays mean, and which a classifier must have, its `from_state` checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray
from directrix.classifiers.state import StateArrays
from directrix.export._checks import require

#: How the rows of a kernel expansion are stored.
LAYOUTS = ("dense", "csr_array", "csr_matrix")

_ROWS = "rows"


def arrays_to_file(arrays: dict[str, Any]) -> tuple[dict[str, AnyArray], str | None]:
    """Return arrays as a file stores them, and the layout of ``rows`` if they are there."""
    stored = dict(arrays)
    layout = None
    if _ROWS in stored:
        layout = "dense"
        if sparse.issparse(stored[_ROWS]):
            rows = stored.pop(_ROWS)
            layout = "csr_array" if isinstance(rows, sparse.sparray) else "csr_matrix"
            stored["rows_data"] = rows.data
            stored["rows_indices"] = rows.indices.astype(np.int64)
            stored["rows_indptr"] = rows.indptr.astype(np.int64)
    return {name: np.ascontiguousarray(stored[name]) for name in sorted(stored)}, layout


def arrays_from_file(
    stored: dict[str, AnyArray], layout: str | None, n_features: int
) -> dict[str, Any]:
    """Return the arrays of a state, sparse rows put together and checked.

    Parameters
    ----------
    stored : dict of array
        As in the file.
    layout : str, optional
        One of `LAYOUTS`; None if there are no ``rows``.
    n_features : int
    """
    arrays = dict(stored)
    if layout is None or layout == "dense":
        require(layout is None or _ROWS in arrays, "it lacks the array rows")
        require(layout is not None or _ROWS not in arrays, "its rows do not have a layout")
        return arrays
    parts = StateArrays({name: arrays.pop(name) for name in stored if name.startswith("rows_")})
    rows = _sparse_rows(parts, layout, n_features)
    parts.require_empty()
    require(_ROWS not in arrays, "its rows are both dense and sparse")
    return arrays | {_ROWS: rows}


def _sparse_rows(parts: StateArrays, layout: str, n_features: int) -> Any:
    """Return sparse rows whose indices are checked."""
    data = parts.take("rows_data", (None,), "float32", "float64")
    indices = parts.take("rows_indices", (len(data),), "int64")
    starts = parts.take("rows_indptr", (None,), "int64")
    inside = ((indices >= 0) & (indices < n_features)).all()
    ordered = (
        len(starts) > 0
        and starts[0] == 0
        and starts[-1] == len(data)
        and (np.diff(starts) >= 0).all()
    )
    require(inside and ordered, "its sparse rows contradict themselves")
    matrix_type = sparse.csr_array if layout == "csr_array" else sparse.csr_matrix
    short = n_features < 1 << 31 and len(data) < 1 << 31
    index_type = np.int32 if short else np.int64
    arrays = (data, indices.astype(index_type), starts.astype(index_type))
    return matrix_type(arrays, shape=(len(starts) - 1, n_features))
