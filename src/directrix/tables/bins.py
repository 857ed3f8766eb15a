"""Bins of one column: which cell a value belongs to.

Every kind of bins has the same interface. A cell is a small integer: 0 is missing; then come the
ordered bins of a number and its special values, or "other" and the levels of a text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.tables.cuts import bin_means, cuts_between, distinct_values
from directrix.tables.reading._days import date_text

if TYPE_CHECKING:
    from directrix.tables.reading.table import Column

MISSING = "missing"
OTHER = "other"
_SEPARATOR = ", "  # of the levels of a group
_UNITS_OF_A_DAY = (1, 24, 1440, 86_400, 86_400 * 10**3, 86_400 * 10**6)
_PLAIN = 1e16  # whole numbers below are printed without an exponent


@dataclass(frozen=True)
class NumberBins:
    """Bins of a column of numbers, booleans or dates.

    Cell 0 is missing. Cells 1 to ``n_ordered`` are ordered: a value above a cut (greater, not
    equal) is in the next cell, so that bins include their upper ends. The cells after them are the
    special values, one each, in the given order.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "boolean", "date"}
    cuts : tuple of float
        Increasing, one less than there are ordered bins; of dates in days since 1970-01-01, at
        midnight where that separates the same training rows, otherwise at a full hour, minute,
        second, millisecond or microsecond.
    means : tuple of float
        Weighted mean of the winsorised training values in each ordered bin, for a straight-line
        coding; zero for a column without values.
    special_values : tuple of float
        Values with a cell of their own. A number with decimals, such as −999.9, is also known as
        the nearest float32, which a narrower column has instead (`special_forms`).
    weights : tuple of float
        Total weight of the training rows in each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.tables import NumberBins
    >>> bins = NumberBins("age", "number", (18.0, 65.0), (10.0, 40.0, 70.0), (), (1, 5, 20, 4))
    >>> bins.labels
    ('missing', '<= 18', '18 to 65', '> 65')
    >>> bins.cells(np.array([np.nan, 18.0, 18.5, 100.0])).tolist()
    [0, 1, 2, 3]
    """

    name: str
    kind: str
    cuts: tuple[float, ...]
    means: tuple[float, ...]
    special_values: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        column: Column,
        values: FloatArray,
        weight: FloatArray | None,
        *,
        max_bins: int,
        min_rows: float,
        special_values: Sequence[float] = (),
    ) -> NumberBins:
        """Return the bins of a column of training rows; see ``find_cuts``."""
        present = ~np.isnan(values)
        distinct, weights = distinct_values(
            values[present], None if weight is None else weight[present]
        )
        special = np.array(special_values, dtype=np.float64)
        forms = [_stored_forms(value, column.kind, special_values) for value in special.tolist()]
        is_ordered = ~np.isin(distinct, [form for each in forms for form in each])
        ordered, ordered_weights = distinct[is_ordered], weights[is_ordered]
        cuts = cuts_between(ordered, ordered_weights, max_bins, min_rows)
        if column.kind == "date":
            cuts = _at_full_times(cuts, ordered)
        cells = [
            _total(~present if weight is None else weight[~present]),
            *_by_bin(ordered, ordered_weights, cuts),
            *(float(weights[np.isin(distinct, each)].sum()) for each in forms),
        ]
        return cls(
            column.name,
            column.kind,
            tuple(cuts.tolist()),
            tuple(bin_means(ordered, ordered_weights, cuts).tolist()),
            tuple(special.tolist()),
            tuple(cells),
        )

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return len(self.cuts) + 1

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return 1 + self.n_ordered + len(self.special_values)

    def cells(self, values: FloatArray, levels: Sequence[str] = ()) -> AnyArray:
        """Return the cell of each value, as int32.

        Parameters
        ----------
        values : array of shape (n,)
        levels : sequence of str
            Ignored: only texts have levels.
        """
        del levels
        cells: AnyArray = np.searchsorted(self._cuts, values, side="left").astype(np.int32) + 1
        for value, cell in self.special_forms:
            cells[values == value] = cell
        cells[np.isnan(values)] = 0
        return cells

    @property
    def special_forms(self) -> tuple[tuple[float, int], ...]:
        """Numbers that stand for special values, and the cell of each.

        A column in float32 (REAL in SQL) cannot hold −999.9, but only −999.9000244140625. Both are
        in the cell. A whole number that float32 rounds has no second form: it is another whole
        number, which rows may have.
        """
        return tuple(
            (form, 1 + self.n_ordered + k)
            for k, value in enumerate(self.special_values)
            for form in _stored_forms(value, self.kind, self.special_values)
        )

    @property
    def cut_labels(self) -> tuple[str, ...]:
        """The cuts as text, which is read as the same numbers: no value is on another side."""
        return tuple(map(date_text if self.kind == "date" else number_text, self.cuts))

    @property
    def labels(self) -> tuple[str, ...]:
        """Readable name of each cell."""
        cuts = self.cut_labels
        if not cuts:
            ordered = ["any value"]
        elif self.kind == "boolean":
            ordered = ["False", "True"]
        else:
            between = [f"{low} to {high}" for low, high in pairwise(cuts)]
            ordered = [f"<= {cuts[0]}", *between, f"> {cuts[-1]}"]
        date = self.kind == "date"
        special = map(date_text if date else number_text, self.special_values)
        return (MISSING, *ordered, *special)

    @cached_property
    def _cuts(self) -> FloatArray:
        return np.array(self.cuts, dtype=np.float64)


@dataclass(frozen=True)
class LevelBins:
    """Bins of a column of texts: cell 0 is missing, 1 is other, then one for each level or group.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : tuple of str
        Sorted texts; other texts, rare or never seen, are in cell 1.
    weights : tuple of float
        Total weight of the training rows in each cell.
    groups : tuple of int
        Group of each level, numbered from zero in the order of their first levels, if some levels
        share a cell; empty if each level has a cell of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.tables import LevelBins
    >>> bins = LevelBins("smoker", ("no", "yes"), (3, 0, 20, 10))
    >>> bins.labels
    ('missing', 'other', 'no', 'yes')
    >>> bins.cells(np.array([0.0, 1.0, np.nan]), ["maybe", "yes"]).tolist()
    [1, 3, 0]
    >>> LevelBins("job", ("clerk", "cook", "nurse"), (3, 0, 20, 10), (0, 1, 0)).labels
    ('missing', 'other', 'clerk, nurse', 'cook')
    """

    name: str
    levels: tuple[str, ...]
    weights: tuple[float, ...] = ()
    groups: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, column: Column, values: FloatArray, weight: FloatArray | None, *, min_rows: float
    ) -> LevelBins:
        """Return the bins of a column of training rows."""
        present = ~np.isnan(values)
        codes, weights = distinct_values(
            values[present], None if weight is None else weight[present]
        )
        frequent = weights >= min_rows
        cells = [
            _total(~present if weight is None else weight[~present]),
            _total(weights[~frequent]),
            *weights[frequent].tolist(),
        ]
        levels = tuple(column.levels[k] for k in codes[frequent].astype(np.intp).tolist())
        return cls(column.name, levels, tuple(cells))

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
        return 3 + max(self.groups) if self.groups else 2 + len(self.levels)

    @property
    def level_cells(self) -> tuple[int, ...]:
        """The cell of each level."""
        groups = self.groups or range(len(self.levels))
        return tuple(2 + group for group in groups)

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
        """Readable name of each cell; a level is quoted if it could be misread."""
        members: list[list[str]] = [[] for _ in range(self.n_cells - 2)]
        for level, cell in zip(self.levels, self.level_cells, strict=True):
            members[cell - 2].append(_level(level, grouped=bool(self.groups)))
        return (MISSING, OTHER, *map(_SEPARATOR.join, members))

    @cached_property
    def _cell_of(self) -> dict[str, int]:
        return dict(zip(self.levels, self.level_cells, strict=True))


Bins: TypeAlias = NumberBins | LevelBins


def number_text(number: float) -> str:
    """Return the shortest text that is read as the same number, whole numbers without exponent.

    A number that is above another of 15 digits only by rounding is printed as that: half of the sum
    of 0.28 and 0.29 as 0.285. No value of 15 digits is between them.

    Examples
    --------
    >>> number_text(1234567.5), number_text(2e6), number_text(0.9999999999999999)
    ('1234567.5', '2000000', '0.9999999999999999')
    """
    number = float(number)
    rounded = float(f"{number:.15g}")
    if rounded < number <= np.nextafter(rounded, np.inf):
        number = rounded
    is_whole = number.is_integer() and abs(number) < _PLAIN
    return str(int(number)) if is_whole else repr(number)


def _stored_forms(value: float, kind: str, special: Sequence[float]) -> tuple[float, ...]:
    """Return a special value, and the nearest float32 if that can only be the same value."""
    with np.errstate(over="ignore"):
        narrow = float(np.float32(value))
    if kind != "number" or narrow in special or narrow.is_integer() or not np.isfinite(narrow):
        return (value,)
    return value, narrow


def _level(text: str, *, grouped: bool) -> str:
    misread = text in {"", MISSING, OTHER} or text.startswith('"')
    return json.dumps(text) if misread or (grouped and _SEPARATOR in text) else text


def _at_full_times(cuts: FloatArray, distinct: FloatArray) -> FloatArray:
    """Return cuts between dates at full units of time, the longest that moves no training row.

    Each is a day, hour, minute, second, millisecond or microsecond: what is printed is the cut.
    """
    below = np.searchsorted(distinct, cuts, side="right")
    made, is_open = cuts.copy(), np.ones(len(cuts), dtype=bool)
    day = np.floor(cuts)
    for per_day in _UNITS_OF_A_DAY:
        full = day + np.floor((cuts - day) * per_day) / per_day
        same = is_open & (np.searchsorted(distinct, full, side="right") == below)
        made[same] = full[same]
        is_open &= ~same
    return made


def _total(weights: AnyArray) -> float:
    """Return a sum that does not depend on the order of the rows."""
    return float(np.sort(weights).sum())


def _by_bin(distinct: FloatArray, weights: FloatArray, cuts: FloatArray) -> list[float]:
    totals = np.bincount(np.searchsorted(cuts, distinct), weights, minlength=len(cuts) + 1)
    return [float(total) for total in totals]
