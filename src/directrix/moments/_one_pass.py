"""Summarise rows, labels, weights and folds into one ClassMoments per fold and class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from directrix.moments import labels
from directrix.moments._dense_rows import kept_rows_of_dense, moments_of_dense
from directrix.moments._row_scatter import DENSE_FEATURES
from directrix.moments._sparse_rows import moments_of_sparse
from directrix.moments.columns import checked_names
from directrix.moments.rejection import not_finite_error
from directrix.moments.rows import Rows, SparseRows, as_rows
from directrix.moments.weights import checked_weight, require_moderate_weight

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.class_moments import ClassMoments


class Table(NamedTuple):
    """ClassMoments by fold and class, with the features and classes that they describe."""

    n_features: int
    names: tuple[str, ...] | None
    classes: AnyArray
    parts: tuple[tuple[ClassMoments, ...], ...]


def class_moments_of_rows(
    X: Any, y: Any, weight: Any, classes: Any, names: Any, fold: Any, *, keep_rows: bool
) -> Table:
    """Check the input and summarise it. The parameters are those of `Moments.of`."""
    rows = as_rows(X)
    n, d = rows.shape
    if names is not None:
        rows.names = checked_names(names, d)
    if d == 0:
        msg = "there are no features (X has no columns)"
        raise ValueError(msg)
    weight = None if weight is None else checked_weight(weight, n)
    present = slice(None) if weight is None or weight.all() else np.flatnonzero(weight)
    codes, class_labels = labels.encode_rows(y, n, present, classes)
    fold_of_row = None if fold is None else labels.fold_numbers(fold, n)[present]
    n_folds = 1 if fold_of_row is None else int(fold_of_row.max(initial=0)) + 1
    n_groups = n_folds * len(class_labels)
    code_type = labels.code_dtype(n_groups)
    groups = codes.astype(code_type, copy=False)
    if fold_of_row is not None:
        groups = groups + fold_of_row.astype(code_type) * code_type(len(class_labels))
    if not isinstance(present, slice):  # rows of weight zero belong to no group
        all_groups = np.full(n, n_groups, dtype=code_type)
        all_groups[present] = groups
        groups = all_groups
    # A NaN or an infinity shows in the sums of its group, so the rows are searched only then.
    with np.errstate(invalid="ignore", over="ignore"):
        wide = d > DENSE_FEATURES or keep_rows
        summaries = _summarize_groups(rows, groups, n_groups, weight, wide=wide)
    if weight is not None:
        for group in summaries:
            if group.count:
                require_moderate_weight(group.weight)
    if not all(_is_finite(group) for group in summaries):
        _raise_not_finite(rows, groups < n_groups)
    width = len(class_labels)
    parts = tuple(tuple(summaries[k * width : (k + 1) * width]) for k in range(n_folds))
    return Table(d, rows.names, class_labels, parts)


def _summarize_groups(
    rows: Rows, groups: AnyArray, n_groups: int, weight: FloatArray | None, *, wide: bool
) -> list[ClassMoments]:
    if isinstance(rows, SparseRows):
        return moments_of_sparse(rows.matrix, groups, n_groups, weight, implicit=wide)
    if wide:
        return kept_rows_of_dense(rows, groups, n_groups, weight)
    return moments_of_dense(rows, groups, n_groups, weight)


def _is_finite(group: ClassMoments) -> bool:
    finite = np.isfinite(group.mean).all() and np.isfinite(group.scatter.diagonal()).all()
    return bool(finite)


def _raise_not_finite(rows: Rows, present: AnyArray) -> NoReturn:
    """Find the values that made the sums NaN or infinite, and raise ValueError that names them."""
    error = not_finite_error(rows, present)
    if error is not None:
        raise error
    largest, widest = 0.0, 0
    for row, column, value in rows.stored():
        size = np.where(present[row], np.abs(value), 0.0)
        if size.max(initial=0.0) > largest:
            largest, widest = float(size.max()), int(column[size.argmax()])
    msg = (
        f"the squares of column {rows.column(widest)} overflow (its largest value is "
        f"{largest:.3g}): rescale it, or make the weights smaller"
    )
    raise ValueError(msg)
