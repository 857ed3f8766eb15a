"""Bins of one column: which cell a value belongs to.

Every kind of bins has the same interface. A cell is a small integer: 0 is missing; then come the
ordered bins of a number and its special values, or "other" and the levels of a text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from functools import cached_property
from itertools import compress, pairwise
from typing import Any, TypeAlias

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions.columns import BinNotFoundError, OwnBinsError
from directrix.tables.table import (
    Column,
    date_text,
    days_of,
    number_of_boolean,
    number_of_date,
    text_of,
)

# ── Cuts between bins of a numeric column, from the distribution of its values alone ──────────────

#: Shares of the rows beyond which values are moved to the nearest value inside, for means of bins.
_WINSORIZED = (0.005, 0.995)
#: Digits that tell any two float64 apart.
_MOST_DIGITS = 17
#: Larger numbers are not rounded: the next round number may be infinite.
_HUGE = 1e307
#: Share of the rows of a bin that its ends may be moved over to be round numbers.
_ROUNDED_OVER = 0.4


def distinct_values(values: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the sorted distinct values, and the total weight of each.

    The result does not depend on the order of the rows, to the last bit: weights of equal values
    are added in sorted order. Rows of weight zero are left out.

    Rows without a value are left out too; without weights every row has weight one.
    """
    present = ~np.isnan(values)
    values = values[present] + 0.0  # the negative zero is zero
    if weight is None:
        ordered = np.sort(values)
        starts = _starts(ordered)
        return ordered[starts], np.diff(starts, append=len(ordered)).astype(np.float64)
    weight = weight[present]
    values, weight = values[weight > 0], weight[weight > 0]
    order = np.argsort(values)
    ordered, weight = values[order], weight[order]
    starts = _starts(ordered)
    if len(starts) == 0:
        return ordered, weight
    repeats = np.diff(starts, append=len(ordered))
    if (weight % 1.0).any():  # sums of whole numbers are exact in any order
        repeated = np.repeat(repeats > 1, repeats)
        runs, parts = np.repeat(np.arange(len(starts)), repeats)[repeated], weight[repeated]
        weight[repeated] = parts[np.lexsort((parts, runs))]
    return ordered[starts], np.add.reduceat(weight, starts)


def cuts_between(
    distinct: FloatArray,
    weights: FloatArray,
    max_bins: int,
    min_rows: float,
    kind: str = "number",
) -> FloatArray:
    """Return the increasing cuts between the sorted distinct values of a column.

    A value is above a cut if it is greater. Cuts are quantiles of the values, where a repeated
    value counts for at most two bins: a column that is mostly zero still gets most of its cuts from
    its other values. If there are no more than ``max_bins`` distinct values, a cut is made between
    each two. A bin with less than ``min_rows`` rows is merged with a neighbour.

    A cut is then moved to the roundest number within the nearest 40 % of the rows of the bins on
    both sides, which keep ``min_rows``: zero, or the multiple of the largest power of ten, or of
    half of one. A cut between dates is moved to a midnight, or else to a full hour, minute, second,
    millisecond or microsecond. Values that only float32 rounds are not on another side of a cut.

    Infinite values count as the lowest and the highest; a row of weight k counts as k rows.

    Examples
    --------
    >>> import numpy as np
    >>> cuts_between(np.arange(1.0, 1001.0), np.ones(1000), 4, 1).tolist()
    [300.0, 500.0, 800.0]
    """
    if len(distinct) < 2:
        return np.empty(0)
    after: AnyArray = np.arange(len(distinct) - 1)  # a cut is after this value
    below = np.cumsum(weights)
    if len(distinct) > max_bins:
        capped = np.cumsum(np.minimum(weights, weight_of_two_bins(weights, max_bins)))
        targets = np.arange(1, max_bins) * (capped[-1] / max_bins)
        # Rounding must not move a cut to the next value.
        reached = np.searchsorted(capped, targets * (1.0 - 1e-12))
        after = np.unique(np.minimum(reached, len(distinct) - 2))
    kept, last = [], 0.0
    for k in after.tolist():
        if below[k] - last >= min_rows and below[-1] - below[k] >= min_rows:
            kept.append(k)
            last = below[k]
    index = np.array(kept, dtype=np.intp)
    middle = _halfway(distinct[index], distinct[index + 1])
    ends = np.concatenate([[0.0], below[index], below[-1:]])
    rows = np.diff(ends)
    moved = np.clip((rows - min_rows) / 2.0, 0.0, _ROUNDED_OVER * rows)  # at both ends of a bin
    lower = distinct[np.searchsorted(below, ends[1:-1] - moved[:-1])]
    upper = distinct[np.searchsorted(below, ends[1:-1] + moved[1:], side="right")]
    numbers = zip(middle.tolist(), lower.tolist(), upper.tolist(), strict=True)
    rounded = _full_time if kind == "date" else _roundest
    cuts = np.array([rounded(*each) for each in numbers if np.isfinite(each[0])], dtype=np.float64)
    return cuts if kind == "date" else _apart_in_float32(cuts, distinct)


def bin_means(distinct: FloatArray, weights: FloatArray, cuts: FloatArray) -> FloatArray:
    """Return the weighted mean of the winsorised values in each bin.

    Values below the 0.5 % quantile or above the 99.5 % quantile of the finite values count as that
    quantile, so that a few values far out do not set the scale of a straight line. A bin without
    values, which only cuts of the user's own can make, has a mean between those of its neighbours.

    ``distinct`` are sorted.
    """
    finite = np.isfinite(distinct)
    if not finite.any():
        return np.zeros(len(cuts) + 1)
    share = np.cumsum(weights[finite])
    ends = np.searchsorted(share, np.array(_WINSORIZED) * share[-1] * (1.0 - 1e-12))
    low, high = distinct[finite][np.minimum(ends, len(share) - 1)]
    inside = np.clip(distinct, low, high)
    scale = max(abs(low), abs(high)) or 1.0  # sums of huge values would overflow
    bins = np.searchsorted(cuts, distinct, side="left")
    starts = _starts(bins)
    sums = np.add.reduceat(weights * (inside / scale), starts)
    means = scale * (sums / np.add.reduceat(weights, starts))
    # Rounding must not move a mean out of its bin.
    lowest, highest = inside[starts], inside[np.append(starts[1:], len(bins)) - 1]
    means = np.clip(means, lowest, highest)
    if len(means) == len(cuts) + 1:
        return means
    return np.interp(np.arange(len(cuts) + 1), bins[starts], means / scale) * scale


def weight_of_two_bins(weights: FloatArray, max_bins: int) -> float:
    """Return the weight of two bins if no value has more: c = 2 Σ min(weight, c) / max_bins.

    With the j heaviest values at the limit and R the weight of the others,
    c = 2R / (max_bins − 2j). There is one such c if there are more values than bins.
    """
    heaviest = np.sort(weights)[::-1]
    others = np.cumsum(heaviest[::-1])[::-1]
    n_limited = np.arange((max_bins + 1) // 2)
    limits = 2.0 * others[n_limited] / (max_bins - 2 * n_limited)
    return float(limits[np.argmax(heaviest[n_limited] <= limits)])


def _starts(ordered: AnyArray) -> AnyArray:
    """Return where each run of equal values starts."""
    if len(ordered) == 0:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def _halfway(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a finite number from each lower (included) to its upper value (not included).

    There is none between −inf and the least finite number, which are left in one bin.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (lower + upper) / 2.0
        middle = np.where(np.isfinite(middle), middle, lower / 2.0 + upper / 2.0)
    middle = np.where((lower <= middle) & (middle < upper), middle, lower) + 0.0
    below = np.isinf(lower)  # −inf; a finite cut keeps files and SQL free of infinities
    with np.errstate(over="ignore"):
        middle = np.where(below, np.nextafter(upper, -np.inf), middle)
    return np.where(below & np.isinf(upper), 0.0, middle)


def _roundest(middle: float, lower: float, upper: float) -> float:
    """Return the roundest number from lower (included) to upper, nearest to one in the middle."""
    if lower <= 0.0 < upper:
        return 0.0
    if abs(middle) > _HUGE:
        return middle
    first = int(np.floor(np.log10(abs(middle)))) + 1
    for exponent in range(first, first - _MOST_DIGITS - 1, -1):
        for parts in (1.0, 2.0):
            half = 10.0**exponent / parts / 2.0
            near = middle, middle - half, middle + half
            for number in near[:1] if exponent == first else near:
                multiple = round(parts * number, -exponent) / parts
                if lower <= multiple < upper:
                    return multiple + 0.0  # the negative zero is zero
    return middle


def _full_time(middle: float, lower: float, upper: float) -> float:
    """Return the fullest time from lower (included) to upper, next to one in the middle."""
    day = np.floor(middle)
    for per_day in _UNITS_OF_A_DAY:
        passed = np.floor((middle - day) * per_day)
        for full in (day + passed / per_day, day + (passed + 1.0) / per_day):
            if lower <= full < upper:
                return float(full)
    return middle


def _apart_in_float32(cuts: FloatArray, distinct: FloatArray) -> FloatArray:
    """Move cuts that float32 cannot hold away from the values that it rounds to the same number.

    Otherwise 0.3 in another type of column would be on the other side of a cut at 0.3.
    """
    above = np.searchsorted(distinct, cuts, side="right")
    pairs = distinct[above - 1], distinct[above]
    with np.errstate(over="ignore"):
        same = [np.float32(each) == np.float32(cuts) for each in pairs]
    made = cuts.copy()
    for k in np.flatnonzero((same[0] ^ same[1]) & (cuts % 1.0 != 0.0)).tolist():
        low, high = float(pairs[0][k]), float(pairs[1][k])
        quarter = (high - low) / 4.0
        if float(np.float32(cuts[k])) != cuts[k] and np.isfinite(quarter):
            made[k] = _roundest(low + 2.0 * quarter, low + quarter, high - quarter)
    return made


# ── Bins of one column: which cell a value belongs to ─────────────────────────────────────────────

MISSING = "missing"
OTHER = "other"
#: Stands between the parts of a cell's name that are not neighbours, such as a bin and missing.
SEPARATOR = "; "
_LEVEL_SEPARATOR = ", "  # of the levels of a group
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
        Increasing, one less than there are ordered bins; of dates in days since 1970-01-01.
    means : tuple of float
        Weighted mean of the winsorised training values in each ordered bin, for a straight-line
        coding; zero for a column without values.
    special_values : tuple of float
        Values with a cell of their own. A number with decimals, such as −999.9, is also known as
        the nearest float32, which a narrower column has instead (`special_forms`).
    weights : tuple of float
        Total weight of the training rows in each cell.
    missing_cell : int
        The cell of missing values: 0, or that of the bin or special value that they are joined
        with. No row is in cell 0 then.
    is_stated : bool
        Whether somebody has stated the cuts: a card then has a line for each ordered bin.

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
    missing_cell: int = 0
    is_stated: bool = False

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
        cuts: Sequence[float] | None = None,
    ) -> NumberBins:
        """Return the bins of a column of training rows, with given cuts or with `cuts_between`."""
        distinct, weights = distinct_values(values, weight)
        special = np.array(special_values, dtype=np.float64)
        forms = [_stored_forms(value, column.kind, special_values) for value in special.tolist()]
        is_ordered = ~np.isin(distinct, [form for each in forms for form in each])
        ordered, ordered_weights = distinct[is_ordered], weights[is_ordered]
        if cuts is not None:
            made = np.array(cuts, dtype=np.float64)
        else:
            made = cuts_between(ordered, ordered_weights, max_bins, min_rows, column.kind)
        in_bins = np.bincount(np.searchsorted(made, ordered), ordered_weights, len(made) + 1)
        cells = [
            _weight_missing(values, weight),
            *in_bins.tolist(),
            *(float(weights[np.isin(distinct, each)].sum()) for each in forms),
        ]
        return cls(
            column.name,
            column.kind,
            tuple(made.tolist()),
            tuple(bin_means(ordered, ordered_weights, made).tolist()),
            tuple(special.tolist()),
            tuple(cells),
            is_stated=cuts is not None,
        )

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return len(self.cuts) + 1

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return 1 + self.n_ordered + len(self.special_values)

    @property
    def stated_cells(self) -> range:
        """Cells that have a line of their own on a card: special values, and stated bins."""
        return range(1 if self.is_stated else 1 + self.n_ordered, self.n_cells)

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
        cells[np.isnan(values)] = self.missing_cell
        return cells

    def cell_of(self, value: Any) -> int | None:
        """Return the cell of a value, or of a bin by its name; None if there is none."""
        if isinstance(value, str) and value in self._names[1:]:
            return self._names.index(value)
        try:
            number = number_of(value, self.kind)
        except (TypeError, ValueError, OverflowError):
            return None
        return None if np.isnan(number) else int(self.cells(np.array([number]))[0])

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

    @cached_property
    def cut_labels(self) -> tuple[str, ...]:
        """The cuts as text, which is read as the same numbers: no value is on another side."""
        return tuple(map(date_text if self.kind == "date" else number_text, self.cuts))

    @property
    def labels(self) -> tuple[str, ...]:
        """Readable name of each cell, with "missing" where missing values are joined with it."""
        return _with_missing(self._names, self.missing_cell)

    @cached_property
    def _names(self) -> tuple[str, ...]:
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
    missing_cell : int
        The cell of missing values: 0, or that of the level, group or "other" that they are joined
        with. No row is in cell 0 then.

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
    missing_cell: int = 0

    @classmethod
    def of(
        cls,
        column: Column,
        values: FloatArray,
        weight: FloatArray | None,
        *,
        min_rows: float,
        kept: Collection[str] = (),
    ) -> LevelBins:
        """Return the bins of a column of training rows; kept levels have one whatever their rows.

        Levels are kept also if no row has them.
        """
        codes, weights = distinct_values(values, weight)
        texts = [column.levels[k] for k in codes.astype(np.intp).tolist()]
        frequent = np.array([text in kept for text in texts], dtype=bool) | (weights >= min_rows)
        by_level = dict.fromkeys(kept, 0.0)
        by_level |= zip(compress(texts, frequent), weights[frequent].tolist(), strict=True)
        levels = tuple(sorted(by_level))
        cells = [
            _weight_missing(values, weight),
            float(np.sort(weights[~frequent]).sum()),
            *(by_level[level] for level in levels),
        ]
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
    def stated_cells(self) -> list[int]:
        """Cells that have a line of their own on a card: groups of several levels."""
        cells = self.level_cells
        return sorted({cell for cell in cells if cells.count(cell) > 1})

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
        by_level = *(cell_of.get(level, 1) for level in levels), self.missing_cell
        cells = np.array(by_level, dtype=np.int32)
        index = np.where(np.isnan(values), -1.0, values).astype(np.intp)
        return cells[index]

    @property
    def labels(self) -> tuple[str, ...]:
        """Readable name of each cell, with "missing" where missing values are joined with it.

        A level is quoted if it could be misread.
        """
        return _with_missing(self._names, self.missing_cell)

    def cell_of(self, value: Any) -> int | None:
        """Return the cell of a level, or of a bin by its name; None if there is none."""
        level = text_of(value, self.name)
        if level in self._cell_of:
            return self._cell_of[level]
        return self._names.index(level) if level in self._names[1:] else None

    @cached_property
    def _names(self) -> tuple[str, ...]:
        members: list[list[str]] = [[] for _ in range(self.n_cells - 2)]
        for level, cell in zip(self.levels, self.level_cells, strict=True):
            members[cell - 2].append(_level(level, grouped=bool(self.groups)))
        return (MISSING, OTHER, *map(_LEVEL_SEPARATOR.join, members))

    @cached_property
    def _cell_of(self) -> dict[str, int]:
        return dict(zip(self.levels, self.level_cells, strict=True))


Bins: TypeAlias = NumberBins | LevelBins


def join_missing(bins: Bins, where: Any) -> tuple[Bins, IntArray]:
    """Return bins whose missing values are in a bin, and the new cell of each cell.

    ``where`` is a value in that bin, a level, or the bin as it is printed.
    """
    if bins.missing_cell:
        problem = f"its missing values are in the bin {bins.labels[bins.missing_cell]!r} already"
        raise OwnBinsError(bins.name, "missing_with", where, problem)
    cell = bins.cell_of(where)
    if cell is None:
        raise BinNotFoundError(bins.name, where, bins.labels[1:])
    target = np.arange(bins.n_cells)
    target[0] = cell
    weights = np.array(bins.weights)
    if bins.weights:
        weights[cell], weights[0] = weights[cell] + weights[0], 0.0
    return replace(bins, weights=tuple(weights.tolist()), missing_cell=cell), target


def number_of(value: Any, kind: str) -> float:
    """Return a number, boolean or date, or the text of a date, as columns of its kind hold it.

    Raises TypeError or ValueError for a value of another kind.
    """
    if kind == "date":
        is_date = isinstance(value, date | np.datetime64)
        days = days_of(value) if is_date else number_of_date(value)
        return days + 0.0
    if isinstance(value, str):
        if kind != "boolean":
            msg = f"{value!r} is a text"
            raise TypeError(msg)
        return number_of_boolean(value)
    is_time = isinstance(value, timedelta | time | np.timedelta64)
    return (days_of(value) if is_time else float(value)) + 0.0


def _with_missing(names: tuple[str, ...], cell: int) -> tuple[str, ...]:
    if not cell:
        return names
    joined = f"{names[cell]}{SEPARATOR}{MISSING}"
    return (*names[:cell], joined, *names[cell + 1 :])


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
    return json.dumps(text) if misread or (grouped and _LEVEL_SEPARATOR in text) else text


def _weight_missing(values: FloatArray, weight: FloatArray | None) -> float:
    """Return the weight of the missing values, which does not depend on the order of the rows."""
    missing = np.isnan(values)
    return float(missing.sum() if weight is None else np.sort(weight[missing]).sum())
