"""summarize: one pass over rows, wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from directrix.engines import memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.moments import Moments


def summarize(
    data: Any,
    *,
    target: Any,
    features: Sequence[Any] | None = None,
    weight: Any = None,
    fold: Any = None,
    classes: Any = None,
) -> Moments:
    """Summarise rows in one pass into class-wise weight, mean and scatter.

    Parameters
    ----------
    data : array, sparse matrix, data frame, or iterable of chunks
        A chunk is any of the others, or a tuple ``(X, y)``, ``(X, y, weight)`` or
        ``(X, y, weight, fold)``. Chunks are read one at a time and merged in a fixed tree; a
        chunk may be empty or hold one class.
    target : str, int, array or None
        The labels: a column's name in data frames, a column's index in arrays, or the labels
        themselves where all rows are in memory. None where the chunks bring their own.
    features : sequence, optional
        Columns to keep, by name or index; by default all that have no other role.
    weight, fold : str, int or array, optional
        Weights, and fold numbers from zero, given as the target is.
    classes : array, optional
        All labels there may be; by default those that occur.

    Returns
    -------
    Moments

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import summarize
    >>> rng = np.random.default_rng(0)
    >>> chunks = ((rng.normal(size=(100, 3)), np.arange(100) % 10 == 0) for day in range(30))
    >>> summarize(chunks, target=None)
    <Moments: 3,000 rows; 3 features; classes {False: 2,700, True: 300}>
    """
    roles = memory.Roles(target, features, weight, fold, classes)
    if memory.is_one_table(data):
        return memory.summarize_table(data, roles)
    return memory.summarize_chunks(data, roles)
