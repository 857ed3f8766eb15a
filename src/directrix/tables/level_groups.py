"""Bins of a column of texts whose levels share cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.tables.bins import MISSING, OTHER

_SEPARATOR = ", "


@dataclass(frozen=True)
class LevelGroups:
    """Bins of a column of texts: cell 0 is missing, 1 is other, then one for each group of levels.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : tuple of str
        Sorted texts that are in a group; other texts, rare or never seen, are in cell 1.
    groups : tuple of int
        Group of each level, numbered from zero in the order of their first levels.
    weights : tuple of float
        Total weight of the training rows in each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.tables import LevelGroups
    >>> bins = LevelGroups("job", ("clerk", "cook", "nurse"), (0, 1, 0), (3, 0, 20, 10))
    >>> bins.labels
    ('missing', 'other', 'clerk, nurse', 'cook')
    >>> bins.cells(np.array([0.0, 1.0, np.nan]), ["nurse", "pilot"]).tolist()
    [2, 1, 0]
    """

    name: str
    levels: tuple[str, ...]
    groups: tuple[int, ...]
    weights: tuple[float, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the column: text."""
        return "text"

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins: none."""
        return 0

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return 3 + max(self.groups, default=-1)

    def cells(self, values: FloatArray, levels: Sequence[str] = ()) -> AnyArray:
        """Return the cell of each value, as int32.

        Parameters
        ----------
        values : array of shape (n,)
            Indices into ``levels``; NaN is missing.
        levels : sequence of str
            Levels of the table that the values are from.
        """
        cell_of = self._cell_of
        # The last entry is for missing values, which have the index −1.
        cells = np.array([*(cell_of.get(level, 1) for level in levels), 0], dtype=np.int32)
        index = np.where(np.isnan(values), -1.0, values).astype(np.intp)
        found: AnyArray = cells[index]
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """Readable name of each cell: its levels; one is quoted if it could be misread."""
        members: list[list[str]] = [[] for _ in range(self.n_cells - 2)]
        for level, group in zip(self.levels, self.groups, strict=True):
            members[group].append(_quoted(level))
        return (MISSING, OTHER, *map(_SEPARATOR.join, members))

    @cached_property
    def _cell_of(self) -> dict[str, int]:
        return {level: 2 + k for level, k in zip(self.levels, self.groups, strict=True)}


def _quoted(text: str) -> str:
    misread = text in {"", MISSING, OTHER} or text.startswith('"') or _SEPARATOR in text
    return json.dumps(text) if misread else text
