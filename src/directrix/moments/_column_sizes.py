"""Check that the squares of a column's values do not underflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.moments.class_moments import ClassMoments

#: Scatter below which digits are lost to underflow.
_LEAST_SQUARE = 1e-290


def require_squares(
    groups: Sequence[ClassMoments], pooled: ClassMoments, names: tuple[str, ...] | None
) -> None:
    """Raise ValueError for a column whose squared deviations underflow, and name the column.

    Parameters
    ----------
    groups : sequence of ClassMoments
        The classes that have rows.
    pooled : ClassMoments
        All classes together.
    names : tuple of str or None
        Feature names for the error message; column indices without them.
    """
    scatter = pooled.scatter.diagonal()
    deviation = np.sqrt(scatter / pooled.weight)
    size = np.max([deviation, *(np.abs(group.mean) for group in groups)], axis=0)
    # A constant column has no scatter either; it is recognised by a size of zero, or a large one.
    least = _LEAST_SQUARE * max(1.0, pooled.weight)
    vanished = (scatter < least) & (size > 0) & (size < np.sqrt(least / pooled.weight))
    if vanished.any():
        column = int(vanished.argmax())
        name = column if names is None else repr(names[column])
        msg = (
            f"the squares of column {name} underflow (its values are of size {size[column]:.3g}): "
            "multiply it by a power of ten"
        )
        raise ValueError(msg)
