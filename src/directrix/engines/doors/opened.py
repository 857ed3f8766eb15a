"""Opened: a source of Arrow batches that has been opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

#: Largest number of rows and of values in a batch that is read; wide rows come in smaller batches.
BATCH_ROWS = 1 << 16
READ_VALUES = 1 << 23
_FEWEST_ROWS = 1 << 12


class Opened(NamedTuple):
    """An opened source: its columns, and functions that read it.

    Parameters
    ----------
    columns : list of str
        Names of all columns.
    batches : callable
        Takes column names and a `RowFilter` or None, and returns an iterator of batches. It may
        skip rows that the filter refuses.
    n_rows : callable, optional
        Counts the rows; given only if that is cheap.
    positioned : callable, optional
        Like ``batches``, with an additional column of keys of the positions of rows in their files.
    """

    columns: list[str]
    batches: Callable[[list[str], Any], Iterator[Any]]
    n_rows: Callable[[], int] | None = None
    positioned: Callable[[list[str], Any], Iterator[Any]] | None = None


def batch_rows(n_columns: int) -> int:
    """Return the number of rows of a batch that is read."""
    return min(max(READ_VALUES // max(n_columns, 1), _FEWEST_ROWS), BATCH_ROWS)
