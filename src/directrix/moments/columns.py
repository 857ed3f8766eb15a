"""Feature names and column selection by name, index, slice or mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray


def checked_names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    """Return feature names as a tuple, after checking that they are distinct and complete."""
    checked = tuple(str(name) for name in names)
    if len(checked) != n_features or len(set(checked)) != n_features:
        msg = f"feature_names must be {n_features} different names, one for each feature"
        raise ValueError(msg)
    return checked


def column_index(columns: Any, n_features: int, names: tuple[str, ...] | None) -> AnyArray:
    """Return the indices of columns given by name, index, slice or mask; refuse repeated ones."""
    index = _index(columns, n_features, names)
    if len(set(index.tolist())) < len(index):
        msg = "a column is chosen twice"
        raise ValueError(msg)
    return index


def _index(columns: Any, n_features: int, names: tuple[str, ...] | None) -> AnyArray:
    all_columns: AnyArray = np.arange(n_features)
    if isinstance(columns, slice):
        return all_columns[columns]
    chosen = np.atleast_1d(np.asarray(columns))
    if chosen.ndim != 1:
        msg = f"the columns must be a list, not an array of shape {chosen.shape}"
        raise IndexError(msg)
    if chosen.dtype.kind in "OT" and all(isinstance(name, str) for name in chosen.tolist()):
        chosen = np.array(chosen.tolist(), dtype=str)
    if chosen.dtype.kind != "U":
        index: AnyArray = all_columns[chosen if chosen.size else chosen.astype(np.int64)]
        return index
    index_of = {name: index for index, name in enumerate(names or ())}
    missing = [name for name in chosen.tolist() if name not in index_of]
    if missing:
        raise ColumnNotFoundError(missing[0], index_of, "feature")
    return np.array([index_of[name] for name in chosen.tolist()], dtype=np.int64)
