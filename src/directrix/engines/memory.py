"""Rows in memory: arrays, sparse matrices, data frames, and chunks of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix.moments import Moments
from directrix.moments.rows import ColumnRows, FrameRows, is_frame
from directrix.moments.tree import tree_sum

_SHORTEST, _LONGEST = 2, 4  # entries of a chunk that is a tuple


class Roles(NamedTuple):
    """Which columns, or arrays, are the labels, the features, the weights and the folds."""

    target: Any
    features: Any
    weight: Any
    fold: Any
    classes: Any


def is_one_table(data: Any) -> bool:
    """Tell whether data is a table itself, not an iterable of tables."""
    return (
        is_frame(data)
        or sparse.issparse(data)
        # A list of chunks may have become an array of objects.
        or (isinstance(data, np.ndarray) and (data.dtype != object or data.ndim == 2))
    )


def summarize_table(data: Any, roles: Roles) -> Moments:
    """Summarise one table."""
    if not is_one_table(data):
        msg = (
            f"cannot read rows from {type(data).__name__}: a chunk is an array, a sparse matrix, "
            "a data frame, or a tuple of arrays (X, y)"
        )
        raise TypeError(msg)
    if len(data.shape) != 2:
        msg = f"a table must have two dimensions, rows and columns, not {len(data.shape)}"
        raise ValueError(msg)
    y, weight, fold = (_values(data, role) for role in (roles.target, roles.weight, roles.fold))
    if y is None:
        msg = "say where the labels are: target= takes a column's name or index, or the labels"
        raise ValueError(msg)
    features = _features(data, roles)
    return Moments.of(features, y, weight, classes=roles.classes, fold=fold)


def summarize_chunks(chunks: Any, roles: Roles) -> Moments:
    """Summarise chunks one at a time."""
    if not isinstance(chunks, Iterable):
        msg = (
            f"cannot read rows from {type(chunks).__name__}: give an array, a sparse matrix, a "
            "data frame, or an iterable of them"
        )
        raise TypeError(msg)
    given = (roles.target, roles.weight, roles.fold)
    if not all(role is None or _is_name_or_index(role) for role in given):
        msg = (
            "the rows come in chunks, so target=, weight= and fold= must name a column of them; "
            "or give chunks (X, y), (X, y, weight) or (X, y, weight, fold), and target=None"
        )
        raise ValueError(msg)
    summaries = (_summarize_chunk(chunk, roles) for chunk in chunks)
    first = next(summaries, None)
    if first is None:
        msg = "there are no chunks (an iterator can be read only once)"
        raise ValueError(msg)
    return tree_sum(chain([first], summaries))


def _summarize_chunk(chunk: Any, roles: Roles) -> Moments:
    if not isinstance(chunk, tuple):
        return summarize_table(chunk, roles)
    given = (roles.target, roles.features, roles.weight, roles.fold)
    if not _SHORTEST <= len(chunk) <= _LONGEST or any(role is not None for role in given):
        msg = (
            "a chunk that is a tuple must be (X, y), (X, y, weight) or (X, y, weight, fold); it "
            "brings everything itself, so only classes= can be given beside target=None"
        )
        raise ValueError(msg)
    X, y, weight, fold = (*chunk, None, None)[:_LONGEST]
    return Moments.of(X, y, weight, classes=roles.classes, fold=fold)


def _values(data: Any, role: Any) -> Any:
    """Return the labels, weights or folds that a role names or is."""
    if not _is_name_or_index(role):
        return role
    if is_frame(data):
        if role not in data.columns:
            msg = f"no column named {role!r}; the columns are {list(data.columns)}"
            raise KeyError(msg)
        return data[role].to_numpy()
    if isinstance(role, str):
        msg = f"{role!r} names a column, but arrays have none: give its index, or the values"
        raise TypeError(msg)
    if sparse.issparse(data):
        return sparse.csr_array(data)[:, [role]].toarray()[:, 0]
    return data[:, role]


def _features(data: Any, roles: Roles) -> Any:
    """Return the table without the columns that have another role, never copied whole."""
    taken = [role for role in (roles.target, roles.weight, roles.fold) if _is_name_or_index(role)]
    if is_frame(data):
        named = [name for name in data.columns if name not in taken]
        return FrameRows(data, named if roles.features is None else roles.features)
    columns = np.arange(data.shape[1])
    if taken:
        columns = np.delete(columns, taken)
    if roles.features is not None:
        columns = np.arange(data.shape[1])[np.asarray(roles.features)]
    if len(columns) == data.shape[1] and roles.features is None:
        return data
    if sparse.issparse(data):
        return sparse.csr_array(data)[:, columns]
    if data.dtype == object:  # the other columns need not be numbers
        return data[:, columns]
    return ColumnRows(data, columns)


def _is_name_or_index(role: Any) -> bool:
    return isinstance(role, str) or _is_index(role)


def _is_index(role: Any) -> bool:
    return isinstance(role, int | np.integer) and not isinstance(role, bool)
