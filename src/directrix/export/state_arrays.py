"""The arrays of a fitted classifier: what scores rows, checked before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray
from directrix.classifiers.fitting.standardization import Standardization
from directrix.export.model_file_error import require

#: How the rows of a kernel expansion lie in memory.
LAYOUTS = ("dense", "csr_array", "csr_matrix")


def arrays_of(classifier: Any) -> tuple[dict[str, AnyArray], str | None]:
    """Return the arrays that score rows, and how the rows of a kernel expansion lie in memory."""
    arrays = {"intercept": classifier.intercept_}
    if hasattr(classifier, "support_"):
        arrays["support"] = np.asarray(classifier.support_, dtype=np.int64)
    if hasattr(classifier, "coef_"):
        return _ready(arrays | {"coef": classifier.coef_}), None
    units, rows = classifier._units, classifier.support_vectors_  # noqa: SLF001
    arrays |= {"dual_coef": classifier.dual_coef_}
    arrays |= {"unit_mean": units.mean, "unit_scale": units.scale}
    if sparse.issparse(rows):
        arrays |= {"rows_data": rows.data}
        arrays |= {"rows_indices": rows.indices.astype(np.int64)}
        arrays |= {"rows_indptr": rows.indptr.astype(np.int64)}
        layout = "csr_array" if isinstance(rows, sparse.sparray) else "csr_matrix"
        return _ready(arrays), layout
    return _ready(arrays | {"rows": rows}), "dense"


def _ready(arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Return arrays in the order of their names, each by rows."""
    return {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}


def attributes_of(
    arrays: dict[str, AnyArray], layout: str | None, n_features: int, n_lines: int
) -> dict[str, Any]:
    """Return the attributes of a classifier that these arrays are, after checking them.

    Parameters
    ----------
    arrays : dict of array
        As in the file.
    layout : str, optional
        None for a line; of a kernel expansion, one of `LAYOUTS`.
    n_features, n_lines : int
    """
    given = dict(arrays)
    attributes: dict[str, Any] = {}
    if "support" in given:
        support = _taken(given, "support", "int64", (None,))
        require((support >= 0).all(), "support counts from zero")
        attributes |= {"support_": support, "n_support_": len(support)}
    attributes["intercept_"] = _taken(given, "intercept", "float64", (n_lines,))
    if layout is None:
        attributes["coef_"] = _taken(given, "coef", "float64", (n_lines, n_features))
        if "support_" in attributes:
            support = attributes["support_"]
            ordered = (np.diff(support) > 0).all() and (support < n_features).all()
            require(ordered, "support is beyond the features, or not in their order")
            rest = np.delete(attributes["coef_"][0], support)
            require(not rest.any(), "support lacks a feature with a coefficient")
    else:
        require(n_lines == 1 and "support_" in attributes, "a kernel expansion has no rows")
        n_rows = len(attributes["support_"])
        attributes["dual_coef_"] = _taken(given, "dual_coef", "float64", (1, n_rows))
        mean = _taken(given, "unit_mean", "float64", (n_features,))
        scale = _taken(given, "unit_scale", "float64", (n_features,))
        require((scale > 0).all(), "a unit is not above zero")
        attributes["_units"] = Standardization(mean, scale)
        attributes["support_vectors_"] = _rows(given, layout, n_rows, n_features)
    require(not given, f"it has arrays that do not belong there: {', '.join(sorted(given))}")
    return attributes


def check_as_given(attributes: dict[str, Any]) -> None:
    """Check what holds of the intersection kernel: features as they are, and never negative."""
    units, rows = attributes["_units"], attributes["support_vectors_"]
    plain = not units.mean.any() and (units.scale == 1.0).all()
    values = rows.data if sparse.issparse(rows) else rows
    require(plain and (values >= 0).all(), "its kernel takes features as they are, above zero")


def _rows(given: dict[str, AnyArray], layout: str, n_rows: int, n_features: int) -> Any:
    """Return the rows of a kernel expansion."""
    if layout == "dense":
        return _taken(given, "rows", "floats", (n_rows, n_features))
    data = _taken(given, "rows_data", "floats", (None,))
    indices = _taken(given, "rows_indices", "int64", (len(data),))
    starts = _taken(given, "rows_indptr", "int64", (n_rows + 1,))
    inside = ((indices >= 0) & (indices < n_features)).all()
    ordered = starts[0] == 0 and starts[-1] == len(data) and (np.diff(starts) >= 0).all()
    require(inside and ordered, "its sparse rows contradict themselves")
    kind = sparse.csr_array if layout == "csr_array" else sparse.csr_matrix
    short = n_features < 1 << 31 and len(data) < 1 << 31
    index = np.int32 if short else np.int64
    parts = (data, indices.astype(index), starts.astype(index))
    return kind(parts, shape=(n_rows, n_features))


def _taken(
    given: dict[str, AnyArray], name: str, dtype: str, shape: tuple[int | None, ...]
) -> AnyArray:
    """Take an array out, after checking its type, its shape and that its numbers are finite."""
    require(name in given, f"it lacks the array {name}")
    array = given.pop(name)
    types = ("float32", "float64") if dtype == "floats" else (dtype,)
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    require(
        fits and array.dtype.name in types, f"{name} has type {array.dtype}, shape {array.shape}"
    )
    require(np.isfinite(array).all(), f"{name} is not finite")
    return array
